#!/bin/sh
# Builds a server for the end-to-end tests from its Go module, unless it exists, and prints its path.
# jaeger.sh and prometheus.sh call it:
#
#	server.sh NAME VERSION MODULE MODULE-VERSION CHECKSUM PACKAGE [BUILD-FLAG...]
#
# The module is pinned by its version and by its checksum, and its own go.sum pins all the rest. It is built
# inside its downloaded folder: the go command refuses to install modules with replace directives. The result
# is kept in the user's cache, and an interrupted build continues from the go command's cache.
set -eu

server=$1 name=$2 module=$3 version=$4 sum=$5 package=$6
shift 6

cache=${XDG_CACHE_HOME:-$HOME/.cache}/cupel-e2e
binary=$cache/$server-$name
if [ -x "$binary" ]; then
	echo "$binary"
	exit 0
fi

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export GOWORK=off GOFLAGS=-mod=readonly CGO_ENABLED=0
echo "$server.sh: building $server $name; this takes five to ten minutes, once" >&2

# Outside of any module, so that nothing of this repository changes.
cd "$dir"
if ! go mod download -json "$module@$version" >download.json; then
	cat download.json >&2
	exit 1
fi
field() { sed -n "s/^[[:space:]]*\"$1\": \"\\(.*\\)\",\\{0,1\\}\$/\\1/p" download.json; }
if [ "$(field Sum)" != "$sum" ]; then
	echo "$server.sh: $module@$version has the checksum $(field Sum), want $sum" >&2
	exit 1
fi

mkdir -p "$cache"
# Under a temporary name until it is complete: others may build at the same time.
partial=$binary.$$
build=
trap 'test -z "$build" || kill "$build" 2>/dev/null; rm -rf "$dir" "$partial"' EXIT
trap 'exit 130' INT TERM
cd "$(field Dir)"
echo "$server.sh: downloading what it needs" >&2
all=$(go list -deps "$package" | wc -l)
: >"$dir/log"
go build -v -trimpath "$@" -o "$partial" "$package" 2>"$dir/log" &
build=$!
while kill -0 "$build" 2>/dev/null; do
	echo "$server.sh: compiled $(wc -l <"$dir/log") of $all packages, those of earlier builds not counted" >&2
	sleep 5
done
if ! wait "$build"; then
	cat "$dir/log" >&2
	exit 1
fi
build=
mv "$partial" "$binary"
echo "$binary"

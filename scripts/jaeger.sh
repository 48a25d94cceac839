#!/bin/sh
# Builds the Jaeger for the end-to-end tests, unless it exists, and prints its path.
#
# Jaeger is pinned by its version and by the checksum of its module, whose own go.sum pins all the rest. The
# go command refuses to install it because of its replace directives, so it is built inside its downloaded
# folder. That takes about eight minutes on two cores. The result is kept in the user's cache, and an
# interrupted build continues from the go command's cache. This build has no web pages: they are not in the
# module.
set -eu

name=2.13.0 # what Jaeger calls itself
module=github.com/jaegertracing/jaeger
version=v1.76.0 # what its Go module is called
sum=h1:sWCOOF1dr+NL0PLil7mFo3BqqQL8k4WiM7aguFbc14g=

cache=${XDG_CACHE_HOME:-$HOME/.cache}/cupel-e2e
binary=$cache/jaeger-$name
if [ -x "$binary" ]; then
	echo "$binary"
	exit 0
fi

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export GOWORK=off GOFLAGS=-mod=readonly CGO_ENABLED=0
echo "jaeger.sh: building Jaeger $name; this takes about eight minutes, once" >&2

# Outside of any module, so that nothing of this repository changes.
cd "$dir"
if ! go mod download -json "$module@$version" >download.json; then
	cat download.json >&2
	exit 1
fi
field() { sed -n "s/^[[:space:]]*\"$1\": \"\\(.*\\)\",\\{0,1\\}\$/\\1/p" download.json; }
if [ "$(field Sum)" != "$sum" ]; then
	echo "jaeger.sh: $module@$version has the checksum $(field Sum), want $sum" >&2
	exit 1
fi

mkdir -p "$cache"
# Under a temporary name until it is complete: others may build at the same time.
partial=$binary.$$
trap 'rm -rf "$dir" "$partial"' EXIT
cd "$(field Dir)"
go build -trimpath -o "$partial" ./cmd/jaeger
mv "$partial" "$binary"
echo "$binary"

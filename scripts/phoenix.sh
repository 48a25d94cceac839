#!/bin/sh
# Installs the Phoenix for the end-to-end tests in a virtual environment, unless it is there, and prints its
# path. It is pinned, and lives in the user's cache.
set -eu

version=20.26.0
folder=${XDG_CACHE_HOME:-$HOME/.cache}/cupel-e2e/phoenix-$version
if ! [ -x "$folder/bin/phoenix" ]; then
	echo "phoenix.sh: installing Phoenix $version; this takes minutes, once" >&2
	mkdir -p "$(dirname "$folder")"
	python3 -m venv "$folder"
	trap 'rm -rf "$folder"' EXIT
	"$folder/bin/python" -m pip install --quiet --disable-pip-version-check "arize-phoenix==$version" >&2
	trap - EXIT
fi
echo "$folder/bin/phoenix"

#!/bin/sh
# Measures how much of the core the core's own tests cover, lists the functions
# that they do not cover wholly, and fails below COVER_MIN percent.
set -eu
cd "$(dirname "$0")/../cupel"
min=${COVER_MIN:-95}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

go test -coverpkg=./... -coverprofile="$dir/cover.out" ./... >"$dir/log" 2>&1 || {
	cat "$dir/log" >&2
	exit 1
}
go tool cover -func="$dir/cover.out" >"$dir/func.txt"
# Fields: file:line:, function, percentage; the last line is the total.
awk -v min="$min" '
	$1 == "total:" { total = $NF + 0; next }
	$NF != "100.0%" { print }
	END {
		printf "coverage of the core: %.1f %% (at least %s %% wanted)\n", total, min
		exit !(total >= min)
	}' "$dir/func.txt"

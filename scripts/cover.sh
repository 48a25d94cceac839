#!/bin/sh
# Measures the coverage of the core by its tests, including those against the model in internal/naive, lists
# the functions that are not fully covered, and fails below COVER_MIN percent.
set -eu
cd "$(dirname "$0")/.."
core=github.com/wollax/cupel-go/cupel/...
min=${COVER_MIN:-95}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

go test -short -coverpkg="$core" -coverprofile="$dir/cover.out" "$core" ./internal/naive/... >"$dir/log" 2>&1 || {
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

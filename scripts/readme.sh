#!/bin/sh
# Puts the output of the coding-agent example into README.md, between its two
# marks. What it prints changes with the repository; run it before a release.
set -eu
cd "$(dirname "$0")/.."

sample=$(mktemp)
trap 'rm -f "$sample" "$sample.new"' EXIT
{
	echo '```'
	echo '$ go run ./examples/coding-agent -budget 3000 -n 5 -width 118'
	go run ./examples/coding-agent -budget 3000 -n 5 -width 118
	echo '```'
} >"$sample"
awk -v sample="$sample" '
	/^<!-- sample, made by make readme -->$/ { print; while ((getline line < sample) > 0) print line; skip = 1; next }
	/^<!-- end of sample -->$/ { skip = 0 }
	!skip { print }
' README.md >"$sample.new"
cat "$sample.new" >README.md

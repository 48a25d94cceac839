#!/bin/sh
# Lints every module of the workspace with the golangci-lint that tools/go.mod
# pins. The go command builds it once and keeps it in its build cache.
set -eu
cd "$(dirname "$0")/.."

limit=600
long=$(find . \( -name '*.go' -o -name '*.js' -o -name '*.css' -o -name '*.sh' \) -not -path './.git/*' -exec awk -v limit="$limit" \
	'END { if (NR > limit) print FILENAME ": " NR " lines" }' {} \;)
if [ -n "$long" ]; then
	echo "files longer than $limit lines; cut them where the subject changes:" >&2
	echo "$long" >&2
	exit 1
fi

linter=$(GOWORK=off go -C tools tool -n golangci-lint)
# depguard looks up the packages of the standard library in GOROOT.
GOROOT=$(go env GOROOT)
export GOROOT
config=$PWD/.golangci.yml
scripts/each.sh "$linter" run --config "$config" ./...
echo "== tools" >&2
cd tools
GOWORK=off "$linter" run --config "$config" ./...

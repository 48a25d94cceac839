#!/bin/sh
# Shows how the API of all modules together differs from that of a revision:
#
#	scripts/api.sh v0.1.0
set -eu
cd "$(dirname "$0")/.."
base=${1:?names the revision to compare with}
modules=github.com/wollax/cupel-go # every module's path begins with it
apidiff=$(GOWORK=off go -C tools tool -n apidiff)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work/base"
git archive "$base" | tar -x -C "$work/base"
(cd "$work/base" && GOWORK=$work/base/go.work "$apidiff" -m -w "$work/export" $modules)
# It names every internal package that it ignores.
GOWORK=$PWD/go.work "$apidiff" -m "$work/export" $modules 2>"$work/log" >"$work/report" || {
	cat "$work/log" >&2
	exit 1
}
if [ -s "$work/report" ]; then cat "$work/report"; else echo "the API is that of $base"; fi

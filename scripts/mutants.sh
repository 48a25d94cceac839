#!/bin/sh
# Puts faults into code, one at a time, with gremlins, and names those that the tests of the package do not
# notice: into the lines that changed since the revision BASE, or into all of the folders that are given.
#
#	BASE=main scripts/mutants.sh
#	scripts/mutants.sh ./cupel/slicer ./cupelotel
#
# Some of them change nothing that a test could see: look at each that lives. MUTANTS_MIN is the least percentage
# that a package's tests may notice.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
export GOWORK="$root/go.work"
gremlins=$(GOWORK=off go -C tools tool -modfile=gremlins.mod -n gremlins)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

base=
if [ $# -eq 0 ]; then
	base=${BASE:?names the revision since which code has changed}
	# gremlins knows a file by its name below the package, git by that below the root.
	export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=diff.relative GIT_CONFIG_VALUE_0=true
	files=$(git diff --merge-base --name-only --diff-filter=d "$base" -- '*.go' ':!*_test.go' ':!*/testdata/*' ':!examples' ':!tools' ':!cupelbeam' ':!cupelsummary')
	# shellcheck disable=SC2086 # one argument a file
	[ -z "$files" ] || set -- $(dirname $files | sort -u)
fi

for folder; do
	cd "$root/$folder"
	[ -n "$(go list -f '{{.TestGoFiles}}{{.XTestGoFiles}}' . | tr -d '[]')" ] || continue
	echo "== $folder"
	# gremlins copies a module and tests the copy, which is in no workspace. There the modules of this repository
	# are found by a go.mod that replaces them, and the tests are those of make test by -short.
	module=$(go list -m -f '{{.Dir}}' "$(go list -f '{{.Module.Path}}' .)")
	cp "$module/go.mod" "$work/go.mod"
	sort -u "$root"/go.sum "$root"/*/go.sum "$root"/cmd/*/go.sum "$root"/go.work.sum >"$work/go.sum"
	go list -m -f '-replace={{.Path}}={{.Dir}}' | xargs -I{} go mod edit {} "$work/go.mod"
	# Of a minus between two operands, invert-negatives makes what the arithmetic faults make.
	GOWORK=off GOFLAGS="-modfile=$work/go.mod -mod=mod -short" "$gremlins" unleash --workers 2 --timeout-coefficient 5 \
		--invert-negatives=false --invert-logical --invert-loopctrl --invert-assignments --remove-self-assignments \
		--exclude-files / --output-statuses lctv --threshold-efficacy "${MUTANTS_MIN:-0}" ${base:+--diff "$base"}
done

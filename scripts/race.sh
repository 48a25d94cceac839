#!/bin/sh
# Runs, with the race detector, what of a module starts goroutines, itself or through internal/ordered: all tests
# of a package whose code does, or a helper of whose tests; otherwise those of the test files that do. The others
# have nothing that the detector could find; make race runs them all.
#
#	scripts/race.sh [FLAG...]
set -eu

starts() { grep -lE '^[[:space:]]*go (func|[a-zA-Z_.]+\()|\.Go\(|t\.Parallel\(|/internal/ordered"' "$@" 2>/dev/null || true; }

whole= part= names=
for dir in $(go list -f '{{.Dir}}' ./...); do
	tests= all=
	for file in $(starts "$dir"/*.go); do
		of=$(case $file in *_test.go) sed -nE 's/^func ((Test|Example|Fuzz)[A-Za-z0-9_]*)\(.*/\1/p' "$file" | grep -vx TestMain ;; esac) || true
		if [ -n "$of" ]; then tests="$tests $of"; else all=yes; fi
	done
	if [ -n "$all" ]; then
		whole="$whole $dir"
	elif [ -n "$tests" ]; then
		part="$part $dir"
		names="$names $tests"
	fi
done
# shellcheck disable=SC2086 # one argument a package, one line a name
{
	[ -z "$part" ] || go test -race -short -timeout 30m "$@" -run "^($(printf '%s\n' $names | sort -u | paste -sd '|' -))\$" $part
	[ -z "$whole" ] || go test -race -short -timeout 30m "$@" $whole
}

#!/bin/sh
# Runs, with the race detector, the tests of those packages of a module that start
# goroutines, in code or in tests, themselves or through internal/ordered. The
# others have nothing that the detector could find; make race runs them all.
#
#	scripts/race.sh [FLAG...]
set -eu

packages=$(go list -f '{{.Dir}}' ./... | while read -r dir; do
	if grep -qE '^[[:space:]]*go (func|[a-zA-Z_.]+\()|\.Go\(|t\.Parallel\(|RunParallel\(|/internal/ordered"' "$dir"/*.go; then
		echo "$dir"
	fi
done)
[ -n "$packages" ] || exit 0
# shellcheck disable=SC2086 # one argument a package
exec go test -race -short -timeout 30m "$@" $packages

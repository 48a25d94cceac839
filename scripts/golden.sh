#!/bin/sh
# Writes every golden file of the repository: those of the packages whose tests have a flag named update, and the
# pages and files of cupeltest. Read the difference before you commit it.
# Tests that fail for another reason do not stop it; scripts/test.sh reports them.
set -eu
cd "$(dirname "$0")/.."

failed=
update() { # PACKAGE [ARGUMENT...]
	echo "== $1" >&2
	go test -short -count=1 "$@" >"$out" 2>&1 || {
		grep -E '^(--- FAIL|FAIL)' "$out" >&2 || cat "$out" >&2
		failed="$failed $1"
	}
}
out=$(mktemp)
trap 'rm -f "$out"' EXIT

# The tests that read the flag, and no others: a helper named golden stands for the tests that call it.
for file in $(git grep -l '= flag\.Bool("update"' -- '*_test.go'); do
	dir=$(dirname "$file")
	case $dir in cupeltest) continue ;; esac # has a test of the flag, and the variable
	tests=$(awk '/^func Test/ { name = $2; sub(/\(.*/, "", name) } /\*update|golden\(t,/ && name { print name } /^}/ { name = "" }' "$dir"/*_test.go |
		sort -u | paste -sd '|' -)
	update "./$dir" -run "^($tests)\$" -update
done
tests=$(awk '/^func Test/ { name = $2; sub(/\(.*/, "", name) } /samePage\(t,/ && name { print name } /^}/ { name = "" }' cupeltest/*_test.go |
	sort -u | paste -sd '|' -)
export CUPELTEST_UPDATE=1
update ./cupeltest -run "^($tests)\$"

if [ -n "$failed" ]; then
	echo "golden.sh: tests fail in$failed; make test says why" >&2
	exit 1
fi

#!/bin/sh
# Finds every fuzz target of the module in the current folder and runs each for FUZZTIME (default 30s). The go
# command saves a failing input under the package's testdata/fuzz, where it becomes a test.
set -eu
fuzztime=${FUZZTIME:-30s}
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# go test prints the names of a package and then one line with its path.
if ! go test -list '^Fuzz' ./... >"$log"; then
	cat "$log" >&2
	exit 1
fi
targets=$(awk '/^Fuzz/ { names[++n] = $1; next }
	{ if ($1 == "ok") for (i = 1; i <= n; i++) print $2, names[i]; n = 0 }' "$log")
[ -n "$targets" ] || exit 0

printf '%s\n' "$targets" | while read -r package name; do
	echo "fuzz $package $name for $fuzztime"
	tries=2
	while ! go test -run '^$' -fuzz "^$name\$" -fuzztime "$fuzztime" "$package" >"$log" 2>&1; do
		tries=$((tries - 1))
		# A worker that is stopped just as the time runs out can report the deadline itself as a failure. That
		# is not a finding, so in that case the target runs once more.
		if [ "$tries" -eq 0 ] || grep -q 'Failing input' "$log" ||
			! grep -q 'context deadline exceeded' "$log"; then
			cat "$log"
			exit 1
		fi
	done
	awk '/^fuzz: elapsed/ { last = $0 } /^ok/ { print last; print }' "$log"
done

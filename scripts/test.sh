#!/bin/sh
# Runs the tests of the module in the current folder with the flags given, and
# tells which tests were skipped and why, which go test alone keeps to itself.
set -eu
log=$(mktemp)
trap 'rm -f "$log"' EXIT

if ! go test -v "$@" ./... >"$log" 2>&1; then
	cat "$log"
	exit 1
fi
awk '
	/^=== (RUN|CONT|NAME)/ { name = $3 }
	/^ +[A-Za-z0-9_]+_test\.go:[0-9]+: / { reason[name] = $0; sub(/^ +[^ ]+ /, "", reason[name]) }
	/^ *--- SKIP: / { if (!times[reason[$3]]++) { order[++n] = reason[$3]; first[reason[$3]] = $3 } }
	/^(ok|\?) .*/ || /no test files/ {
		print
		for (i = 1; i <= n; i++)
			printf "    skipped %s%s: %s\n", first[order[i]], (times[order[i]] > 1 ? " and " (times[order[i]] - 1) " more" : ""), order[i]
		n = 0; split("", times); split("", reason); split("", first)
	}
' "$log"

#!/bin/sh
# Runs the tests of every module of the workspace with the given flags, in one go command, to keep all
# processors busy. It prints a line for each package, the skipped tests with their reasons, the output of
# failing tests, and the total time.
set -eu
cd "$(dirname "$0")/.."
began=$(date +%s)
status=$(mktemp)
trap 'rm -f "$status"' EXIT

{
	go test -v -timeout 30m "$@" work 2>&1 || echo failed >"$status"
} | awk '
	# Output belongs to the running test, whose name begins the names of its subtests.
	/^=== / { full = $3; test = full; sub("/.*", "", test); next }
	/^ +--- (PASS|SKIP|FAIL): / { result($2, $3); if ($2 == "FAIL:") said[test] = said[test] $0 "\n"; next }
	/^--- (PASS|SKIP|FAIL): / {
		test = $3
		result($2, test)
		said[test] = ($2 == "FAIL:") ? $0 "\n" said[test] : ""
		next
	}
	/^(ok|FAIL|\?) *\t/ {
		if ($1 == "FAIL") for (test in said) printf "%s", said[test]
		if (!/no test files/) print
		for (i = 1; i <= n; i++)
			printf "    skipped %s%s: %s\n", first[order[i]], (times[order[i]] > 1 ? " and " (times[order[i]] - 1) " more" : ""), order[i]
		n = 0; test = ""; split("", said); split("", times); split("", reason); split("", first)
		fflush()
		next
	}
	test == "" { if (!/^(PASS|FAIL)$/) print; next }
	{
		said[test] = said[test] $0 "\n"
		if (/^ +[A-Za-z0-9_]+_test\.go:[0-9]+: /) { reason[full] = $0; sub(/^ +[^ ]+ /, "", reason[full]) }
	}
	function result(how, name) {
		if (how == "SKIP:" && !times[reason[name]]++) { order[++n] = reason[name]; first[reason[name]] = name }
	}
'
result=passed
[ ! -s "$status" ] || result=FAILED
echo "$result in $(($(date +%s) - began)) s"
[ "$result" = passed ]

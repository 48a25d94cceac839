#!/bin/sh
# Runs the tests of every module of the workspace with the given flags, as many packages at a time as there are
# processors. It prints a line for each package as it ends, the skipped tests with their reasons, the output of
# failing tests, and the total time.
#
#	scripts/test.sh [FLAG...]
#
# With PROFILE=FILE it writes the coverage of the core there, by its own tests and those against the model in
# internal/naive; scripts/cover.sh reads it.
set -eu
cd "$(dirname "$0")/.."
core=github.com/wollax/cupel-go/cupel/...
model=github.com/wollax/cupel-go/internal/naive/...
# Tests live for seconds and would collect garbage for a third of their processor time.
export GOGC="${GOGC-1600}" GOMEMLIMIT="${GOMEMLIMIT-2GiB}"
began=$(date +%s)
status=$(mktemp)
trap 'rm -f "$status"' EXIT

# mawk, which is the awk of Debian and Ubuntu, reads a pipe in blocks unless it is interactive.
awk=awk
case $(awk -W version 2>&1 </dev/null | head -n 1) in mawk*) awk='awk -W interactive' ;; esac

# Without -json the go command holds the lines of a package back until all before it have ended.
run() { go test -json -timeout 30m "$@" 2>&1 || echo failed >"$status"; }
{
	if [ -n "${PROFILE-}" ]; then
		mkdir -p "$(dirname "$PROFILE")"
		run -coverpkg="$core" -coverprofile="$PROFILE" "$@" "$core" "$model"
		go list "$core" "$model" >"$status.covered"
		# shellcheck disable=SC2046 # one argument a package
		run "$@" $(go list work | grep -vxFf "$status.covered")
		rm -f "$status.covered"
	else
		run "$@" work
	fi
} | $awk '
	# What is no event comes from the go command itself.
	!/^{/ { print; fflush(); next }
	{ action = field("Action"); package = field("Package"); test = field("Test") }
	action == "build-output" { printf "%s", field("Output"); fflush(); next }
	action == "output" && test == "" {
		line = field("Output")
		sub(/\tcoverage: .*/, "\n", line)
		if (line ~ /^(ok|FAIL)[ \t]/) last[package] = line
		else if (line !~ /^(PASS|FAIL|\?.*|coverage: .*|testing: warning: no tests to run)\n$/) rest[package] = rest[package] line
		next
	}
	action == "output" {
		line = field("Output")
		if (line ~ /^ *=== /) next
		# The output of a subtest is that of the test whose name begins its name.
		top = test; sub("/.*", "", top)
		said[package, top] = said[package, top] line
		if (line ~ /^ +[A-Za-z0-9_]+_test\.go:[0-9]+: /) { reason[package, test] = line; sub(/^ +[^ ]+ /, "", reason[package, test]) }
		next
	}
	action == "skip" && test != "" {
		why = reason[package, test]
		if (!times[package, why]++) { skips[package] = skips[package] "\n" why; first[package, why] = test }
		next
	}
	action == "fail" && test != "" {
		if (test !~ /\//) failed[package] = failed[package] said[package, test]
		next
	}
	action ~ /^(pass|fail|skip)$/ && test == "" {
		if (action == "fail") printf "%s%s", failed[package], rest[package]
		printf "%s", last[package]
		n = split(skips[package], reasons, "\n")
		for (i = 1; i <= n; i++) {
			if (reasons[i] == "") continue
			why = reasons[i] "\n"
			more = times[package, why] - 1
			printf "    skipped %s%s: %s", first[package, why], (more > 0 ? " and " more " more" : ""), why
		}
		fflush()
	}
	function field(name,    text) {
		if (!match($0, "\"" name "\":\"([^\"\\\\]|\\\\.)*\"")) return ""
		text = substr($0, RSTART + length(name) + 4, RLENGTH - length(name) - 5)
		gsub(/\\\\/, "\001", text)
		gsub(/\\n/, "\n", text); gsub(/\\t/, "\t", text); gsub(/\\"/, "\"", text)
		gsub(/\\u003c/, "<", text); gsub(/\\u003e/, ">", text); gsub(/\\u0026/, "\\&", text)
		gsub("\001", "\\\\", text)
		return text
	}
'
result=passed
[ ! -s "$status" ] || result=FAILED
echo "$result in $(($(date +%s) - began)) s"
[ "$result" = passed ]

#!/bin/sh
# Finds every fuzz target of the module in the current folder and runs each for FUZZTIME (default 30s). A
# failing input is saved under the package's testdata/fuzz, where it becomes a test.
set -eu
fuzztime=${FUZZTIME:-30s}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cache=$(go env GOCACHE)/fuzz

# Only the folders with targets: go test -list would build every test of the module.
folders=$(grep -rl --include='*_test.go' '^func Fuzz' . | sed 's|/[^/]*$||' | sort -u)
for folder in $folders; do
	# Folders of nested modules are left to those.
	package=$(go list -f "{{if eq .Module.Dir \"$PWD\"}}{{.ImportPath}}{{end}}" "$folder" 2>/dev/null) || continue
	[ -n "$package" ] || continue
	(
		# One build for all targets of a package. go test -fuzz would link it for each.
		cd "$folder"
		go test -c -fuzz=. -o "$work/test" .
		targets=$("$work/test" -test.list '^Fuzz')
		for name in $targets; do
			echo "fuzz $package $name for $fuzztime"
			tries=2
			while ! "$work/test" -test.run '^$' -test.fuzz "^$name\$" -test.fuzztime "$fuzztime" \
				-test.fuzzcachedir "$cache/$package" -test.timeout 0 >"$work/log" 2>&1; do
				tries=$((tries - 1))
				# A worker that is stopped just as the time runs out can report the deadline itself as a failure.
				# That is not a finding, so in that case the target runs once more.
				if [ "$tries" -eq 0 ] || grep -q 'Failing input' "$work/log" ||
					! grep -q 'context deadline exceeded' "$work/log"; then
					cat "$work/log"
					exit 1
				fi
			done
			grep '^fuzz: elapsed' "$work/log" | tail -n 1
		done
	)
done

#!/bin/sh
# Puts the output of the coding-agent example into README.md, between pairs of
# marks. What it prints changes with the repository; run it before a release.
set -eu
cd "$(dirname "$0")/.."
export LC_ALL=C

sample=$(mktemp)
trap 'rm -f "$sample" "$sample.new"' EXIT

# Runs each command line of standard input, and puts the lines with what they
# print between the marks with a name. Lines share their variables.
put() {
	{
		echo '```'
		while read -r line; do
			echo "\$ $line"
			eval "$line" </dev/null
		done
		echo '```'
	} >"$sample"
	awk -v name="$1" -v sample="$sample" '
		$0 == "<!-- " name ", made by make readme -->" { print; while ((getline line < sample) > 0) print line; skip = 1; found = 1; next }
		$0 == "<!-- end of " name " -->" { skip = 0 }
		!skip { print }
		END { if (!found || skip) exit 1 }
	' README.md >"$sample.new" || { echo "README.md has no marks of the $1" >&2; exit 1; }
	cat "$sample.new" >README.md
}

put sample <<'END'
go run ./examples/coding-agent -budget 3000 -n 5 -width 118
END

put question <<'END'
Q='What becomes of a strategy that panics?'
go run ./examples/coding-agent -vet 0 -budget 4000 -width 118 -question "$Q" | grep 'Scored.*\.go:' | sort -rk4,4 | head -6
go run ./examples/coding-agent -vet 0 -budget 4000 -width 118 -question "$Q" -relevance=false | grep 'Scored.*\.go:' | sort -rk4,4 | head -6
END

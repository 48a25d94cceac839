#!/bin/sh
# Fails when package cupel, the first that a reader opens, exports too many identifiers,
# or go doc lists too much of it:
#
#	scripts/root.sh IDENTIFIERS LINES
set -eu
cd "$(dirname "$0")/.."

# Methods and fields are left out. A constant or variable of a list has a line of its own.
names=$(go doc -all ./cupel | awk '
	/^(const|var) \(/ { list = 1 }
	/^\)/ { list = 0 }
	list && /^\t[A-Z]/ || /^(const|var|type|func) [A-Z]/ { n++ }
	END { print n + 0 }')
lines=$(go doc ./cupel | wc -l)
echo "package cupel: $names exported identifiers, $lines lines of go doc"
[ "$names" -gt 0 ] || { echo "found no identifiers: go doc has another format" >&2; exit 1; }
[ "$names" -le "$1" ] && [ "$lines" -le "$2" ] || {
	echo "at most $1 identifiers and $2 lines: move what only strategies or observers need to their packages" >&2
	exit 1
}

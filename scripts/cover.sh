#!/bin/sh
# Lists the functions of the core that are not fully covered by the profile PROFILE, and fails below COVER_MIN
# percent. It runs the tests that write the profile, see scripts/test.sh, when PROFILE is not set.
set -eu
cd "$(dirname "$0")/.."
min=${COVER_MIN:-95}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

if [ -z "${PROFILE-}" ]; then
	PROFILE=$dir/cover.out
	go test -short -coverpkg=github.com/wollax/cupel-go/cupel/... -coverprofile="$PROFILE" \
		github.com/wollax/cupel-go/cupel/... ./internal/naive/... >"$dir/log" 2>&1 || {
		cat "$dir/log" >&2
		exit 1
	}
fi
go tool cover -func="$PROFILE" >"$dir/func.txt"
# Fields: file:line:, function, percentage; the last line is the total.
awk -v min="$min" '
	$1 == "total:" { total = $NF + 0; next }
	$NF != "100.0%" { print }
	END {
		printf "coverage of the core: %.1f %% (at least %s %% wanted)\n", total, min
		exit !(total >= min)
	}' "$dir/func.txt"

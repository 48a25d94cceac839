#!/bin/sh
# Checks that the compiler fuses no floating-point multiplication with an addition in the core, in the
# scorers of other modules, in forms of conversations and in sessions. Go may do so if the processor can,
# rounding once instead of twice: the same input would then score differently on different machines, or
# break a window at another place. An explicit conversion, float64(a*b) + c, forbids it.
# The check compiles for arm64, where the compiler fuses whenever it is allowed to.
set -eu
cd "$(dirname "$0")/.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT

for folder in cupel cupelchat cupelreduce cupelrelevance cupelsession; do
	packages=github.com/wollax/cupel-go/$folder/...
	(cd "$folder" && GOARCH=arm64 CGO_ENABLED=0 go build -gcflags="$packages=-S" ./...) >"$log" 2>&1 || {
		grep -v '^[[:space:]]' "$log" >&2
		exit 1
	}
	if ! grep -q 'STEXT' "$log"; then
		echo "fma-check: the compiler printed no code of $folder, so nothing was checked" >&2
		exit 1
	fi
	if grep -E '[[:space:]]FN?M(ADD|SUB)[SD][[:space:]]' "$log" >&2; then
		echo "fused multiply-add: write float64(a*b) + c in the lines above" >&2
		exit 1
	fi
done

#!/bin/sh
# Runs a command in the directory of every module of the workspace, and stops at the first failure with the
# module's name.
#
#	scripts/each.sh COMMAND [ARGUMENT...]
#
# Headings go to standard error, to keep the commands' output clean.
set -eu
cd "$(dirname "$0")/.."

# Only the list is always read from the workspace: a caller that wants its
# command to run outside of it gives `env GOWORK=off COMMAND`.
modules=$(GOWORK=$PWD/go.work go list -m -f '{{.Path}}	{{.Dir}}')
if [ -z "$modules" ]; then
	echo "each.sh: go.work lists no module" >&2
	exit 1
fi

tab=$(printf '\t')
printf '%s\n' "$modules" | while IFS=$tab read -r module dir; do
	echo "== $module" >&2
	status=0
	(cd "$dir" && "$@") </dev/null || status=$?
	if [ "$status" -ne 0 ]; then
		echo "FAILED in $module: $* (exit status $status)" >&2
		exit 1
	fi
done

#!/bin/sh
# Checks that every go.mod and go.sum is tidy by itself, outside the workspace,
# and that the modules agree with one another. Changes nothing.
set -eu
cd "$(dirname "$0")/.."
scripts/each.sh env GOWORK=off go mod tidy -diff
echo "== tools" >&2
GOWORK=off go -C tools mod tidy -diff
GOWORK=off go -C tools test -count=1 -run '^TestModules' ./repo

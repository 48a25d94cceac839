#!/bin/sh
# Lints every module of the workspace with the golangci-lint that tools/go.mod
# pins. The go command builds it once and keeps it in its build cache.
set -eu
cd "$(dirname "$0")/.."

limit=600
long=$(find . \( -name '*.go' -o -name '*.js' -o -name '*.css' -o -name '*.sh' \) -not -path './.git/*' -not -path '*/node_modules/*' -exec awk -v limit="$limit" \
	'END { if (NR > limit) print FILENAME ": " NR " lines" }' {} \;)
if [ -n "$long" ]; then
	echo "files longer than $limit lines; cut them where the subject changes:" >&2
	echo "$long" >&2
	exit 1
fi

# Words that usually mark a sentence to rewrite. Counts every use, since a few are right.
most=20
stiff=$(git grep -wiohE 'nobody|whatever|beside|anew|is told|are told|of which|whoever' -- \
	'*.md' '*.go' '*.js' '*.html' '*.toml' '*.sh' Makefile ':!scripts/lint.sh' | wc -l)
if [ "$stiff" -gt "$most" ]; then
	echo "stiff English $stiff times, at most $most: rewrite sentences with nobody, whatever, beside, anew, is told, of which" >&2
	exit 1
fi

for script in scripts/*.sh; do
	sh -n "$script"
done

linter=$(GOWORK=off go -C tools tool -n golangci-lint)
# depguard looks up the packages of the standard library in GOROOT.
GOROOT=$(go env GOROOT)
export GOROOT
config=$PWD/.golangci.yml
scripts/each.sh "$linter" run --config "$config" ./...
echo "== tools" >&2
cd tools
GOWORK=off "$linter" run --config "$config" ./...

cd ..
echo "== cupelchat/sdks" >&2
cd cupelchat/sdks
GOWORK=off "$linter" run --config "$config" ./...

cd ../..
echo "== cupelinspect/page" >&2
if command -v npm >/dev/null; then
	[ -x tools/eslint/node_modules/.bin/eslint ] || npm --prefix tools/eslint ci --silent
	node tools/eslint/lint.mjs cupelinspect/page
elif [ -n "${CI:-}" ]; then
	echo "lint: the page's scripts need Node and npm" >&2
	exit 1
else
	echo "NOT LINTED: the page's scripts, since there is no npm" >&2
fi

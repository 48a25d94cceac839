#!/bin/sh
# Bundles the inspector's page with the esbuild that tools/go.mod pins, which
# needs no Node, and writes it to a file or to standard output.
set -eu
[ $# -eq 0 ] || set -- "$(realpath "$1")"
cd "$(dirname "$0")/.."
page=$PWD/cupelinspect/page
GOWORK=off go -C tools tool esbuild "$page/src/main.tsx" --log-level=warning --bundle --minify --format=iife --target=es2022 --charset=utf8 --legal-comments=none \
	--banner:js='/* With Preact 11.2.0, MIT License, Copyright (c) 2015-present Jason Miller */' \
	--tsconfig-raw={} --jsx=automatic --jsx-import-source=preact \
	--alias:preact="$page/preact/preact.mjs" --alias:preact/hooks="$page/preact/hooks.mjs" --alias:preact/jsx-runtime="$page/preact/jsxRuntime.mjs" \
	${1:+--outfile="$1"}

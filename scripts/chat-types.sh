#!/bin/sh
# Checks the conversations that cupelchat takes and writes against the types of OpenAI's and Anthropic's
# packages for Python, and runs agents with these packages through cupel proxy. The packages are pinned in scripts/chat-types.txt and live in build/chat-types.
set -eu
cd "$(dirname "$0")/.."
folder=build/chat-types
mkdir -p build

if ! command -v python3 >/dev/null || ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
	echo "chat-types: needs python3 with its venv module (Debian: python3-venv)" >&2
	exit 1
fi
if ! cmp -s scripts/chat-types.txt "$folder/installed.txt"; then
	rm -rf "$folder"
	python3 -m venv "$folder"
	"$folder/bin/python" -m pip install --quiet --disable-pip-version-check -r scripts/chat-types.txt
	cp scripts/chat-types.txt "$folder/installed.txt"
fi

bodies=$PWD/build/chat-bodies.jsonl
CUPEL_CHAT_BODIES=$bodies go test -count=1 -run '^TestWrittenBodiesPass$' ./cupelchat
"$folder/bin/python" scripts/chat-types.py "$bodies"
GOWORK=off CUPEL_E2E_PYTHON=$PWD/$folder/bin/python go -C cupelchat/sdks test -mod=mod -count=1 -run "^TestAgents\$/^(chat|responses|messages),"

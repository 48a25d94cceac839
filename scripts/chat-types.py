"""Validates conversations against the types of OpenAI's and Anthropic's packages.

The bodies are those of cupelchat/testdata/check and of the file that is given: one
JSON object with format, name and body per line. All must be valid; of the bodies that
an API refuses, the types must refuse some, or the check checks nothing.
"""

import json
import pathlib
import sys
import typing

# pydantic looks at the elements of an Iterable only when they are asked for.
real = typing.Iterable
typing.Iterable = typing.List
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming

typing.Iterable = real

from pydantic import TypeAdapter, ValidationError

TYPES = {
    "openai": TypeAdapter(CompletionCreateParamsNonStreaming),
    "responses": TypeAdapter(ResponseCreateParamsNonStreaming),
    "anthropic": TypeAdapter(MessageCreateParamsNonStreaming),
}

# What an API takes although the types of its package do not.
STRICTER = {
    ("responses", "reasoning without an id"): "the types ask for an id",
}


def rows(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def refused(kind, body):
    """Returns why the types refuse a body, or None."""
    try:
        kind.validate_python(body)
        return None
    except ValidationError as e:
        # Of a union every member says what it wants; the deepest says most.
        first = max(e.errors(), key=lambda error: len(error["loc"]))
        return f"{'.'.join(map(str, first['loc']))[-200:]}: {first['msg']}"


def main():
    cases = pathlib.Path(__file__).parent.parent / "cupelchat" / "testdata" / "check"
    written = rows(pathlib.Path(sys.argv[1]))
    failures = 0
    for name, kind in TYPES.items():
        good = rows(cases / f"{name}-good.jsonl") + [r for r in written if r["format"] == name]
        for row in good:
            why = refused(kind, row["body"])
            if (why is not None) != ((name, row["name"]) in STRICTER):
                failures += 1
                print(f"{name}, {row['name']}: {why or 'valid, and listed as not'}\n  {json.dumps(row['body'])[:2000]}", file=sys.stderr)
        bad = [r for r in rows(cases / f"{name}-bad.jsonl") if "body" in r]
        caught = sum(refused(kind, r["body"]) is not None for r in bad)
        print(f"{name}: {len(good)} bodies; of {len(bad)} that the API refuses, the types refuse {caught}")
        if len(good) < 50 or caught < 10:
            failures += 1
            print(f"{name}: too few bodies to tell anything", file=sys.stderr)
    return failures > 0


sys.exit(main())

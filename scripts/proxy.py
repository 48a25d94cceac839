"""Runs an agent with OpenAI's or Anthropic's package, and prints the last words of the model.

The arguments are the agent's name, the base URL of the API, and whether to stream. The
agent reads files until the model, which the test plays, says that it is done.
"""

import json
import sys

import anthropic
import openai

LINES = "func example() error { return nil }\n" * 80
TURNS = 100
TASK = "Find the panic in pkg."


def read_file(path):
    return f"{LINES}// the middle of {path}\n{LINES}"


def messages(url, stream):
    client = anthropic.Anthropic(base_url=url, api_key="key")
    history = [{"role": "user", "content": TASK}]
    tools = [{"name": "read_file", "input_schema": {"type": "object"}}]
    for _ in range(TURNS):
        call = dict(model="claude-sonnet-5", max_tokens=1000, messages=history, system="You fix bugs.", tools=tools)
        if stream:
            with client.messages.stream(**call) as events:
                answer = events.get_final_message()
        else:
            answer = client.messages.create(**call)
        history.append({"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in answer.content]})
        calls = [block for block in answer.content if block.type == "tool_use"]
        if not calls:
            return answer.content[-1].text
        history.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": c.id, "content": read_file(c.input["path"])} for c in calls]})


def chat(url, stream):
    client = openai.OpenAI(base_url=url, api_key="key")
    history = [{"role": "system", "content": "You fix bugs."}, {"role": "user", "content": TASK}]
    call = dict(model="gpt-5", messages=history, tools=[{"type": "function", "function": {"name": "read_file"}}])
    for _ in range(TURNS):
        if stream:
            text, calls = "", {}
            for chunk in client.chat.completions.create(**call, stream=True, stream_options={"include_usage": True}):
                for choice in chunk.choices:
                    text += choice.delta.content or ""
                    for c in choice.delta.tool_calls or []:
                        if c.id:
                            calls[c.index] = {"id": c.id, "type": "function", "function": {"name": c.function.name, "arguments": ""}}
                        calls[c.index]["function"]["arguments"] += c.function.arguments
            message = {"role": "assistant", "content": text or None}
            if calls:
                message["tool_calls"] = list(calls.values())
        else:
            message = client.chat.completions.create(**call).choices[0].message.model_dump(exclude_none=True)
        history.append(message)
        if not message.get("tool_calls"):
            return message["content"]
        history += [{"role": "tool", "tool_call_id": c["id"], "content": read_file(json.loads(c["function"]["arguments"])["path"])} for c in message["tool_calls"]]


def responses(url, stream):
    client = openai.OpenAI(base_url=url, api_key="key")
    history = [{"role": "user", "content": TASK}]
    call = dict(model="gpt-5", input=history, instructions="You fix bugs.", tools=[{"type": "function", "name": "read_file", "parameters": {}, "strict": False}])
    for _ in range(TURNS):
        if stream:
            with client.responses.stream(**call) as events:
                answer = events.get_final_response()
        else:
            answer = client.responses.create(**call)
        history += [item.model_dump(exclude_none=True) for item in answer.output]
        calls = [item for item in answer.output if item.type == "function_call"]
        if not calls:
            return answer.output_text
        history += [{"type": "function_call_output", "call_id": c.call_id, "output": read_file(json.loads(c.arguments)["path"])} for c in calls]


name, url, stream = sys.argv[1:]
print({"messages": messages, "chat": chat, "responses": responses}[name](url, stream == "true"))

"""Runs agents with OpenAI's and Anthropic's packages through cupel proxy.

The argument is the proxy's address. Each agent calls a tool until the model, which the
test plays, says that it is done. It prints a line for each agent: its name, its turns,
and the last words of the model.
"""

import sys

import anthropic
import openai

RESULT = "a line of the log, and what it says\n" * 40
TURNS = 12
TASK = "Find the valve that did not close."


def messages(url, stream):
    client = anthropic.Anthropic(base_url=url, api_key="key")
    history = [{"role": "user", "content": TASK}]
    for turn in range(1, TURNS + 1):
        call = dict(model="m", max_tokens=100, messages=history, system="Be brief.")
        if stream:
            with client.messages.stream(**call) as events:
                answer = events.get_final_message()
        else:
            answer = client.messages.create(**call)
        history.append({"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in answer.content]})
        calls = [block for block in answer.content if block.type == "tool_use"]
        if not calls:
            return turn, answer.content[-1].text
        history.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": c.id, "content": f"{turn}: {RESULT}"} for c in calls]})
    return turn, "not done"


def chat(url, stream):
    client = openai.OpenAI(base_url=url + "/v1", api_key="key")
    history = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": TASK}]
    for turn in range(1, TURNS + 1):
        if stream:
            text, calls = "", {}
            for chunk in client.chat.completions.create(model="m", messages=history, stream=True, stream_options={"include_usage": True}):
                for choice in chunk.choices:
                    text += choice.delta.content or ""
                    for c in choice.delta.tool_calls or []:
                        calls[c.index] = {"id": c.id, "type": "function", "function": {"name": c.function.name, "arguments": c.function.arguments}}
            message = {"role": "assistant", "content": text or None}
            if calls:
                message["tool_calls"] = list(calls.values())
        else:
            message = client.chat.completions.create(model="m", messages=history).choices[0].message.model_dump(exclude_none=True)
        history.append(message)
        if not message.get("tool_calls"):
            return turn, message["content"]
        history += [{"role": "tool", "tool_call_id": c["id"], "content": f"{turn}: {RESULT}"} for c in message["tool_calls"]]
    return turn, "not done"


def responses(url, stream):
    client = openai.OpenAI(base_url=url + "/v1", api_key="key")
    history = [{"role": "user", "content": TASK}]
    for turn in range(1, TURNS + 1):
        if stream:
            with client.responses.stream(model="m", input=history) as events:
                answer = events.get_final_response()
        else:
            answer = client.responses.create(model="m", input=history)
        history += [item.model_dump(exclude_none=True) for item in answer.output]
        calls = [item for item in answer.output if item.type == "function_call"]
        if not calls:
            return turn, answer.output_text
        history += [{"type": "function_call_output", "call_id": c.call_id, "output": f"{turn}: {RESULT}"} for c in calls]
    return turn, "not done"


for agent in messages, chat, responses:
    for stream in False, True:
        turns, said = agent(sys.argv[1], stream)
        print(agent.__name__, "streamed" if stream else "whole", turns, said)

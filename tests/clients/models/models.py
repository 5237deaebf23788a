"""The official clients of the APIs of models, against a server of this machine.

Reads a file of exchanges, makes each of them with the client of its API, and writes what it saw of
each to standard output as one JSON array; the test that runs it decides what is right.
"""

import json
import pathlib
import sys

import anthropic
import ollama
import openai

# Longest wait for any answer, in seconds.
BOUND = 30
MODEL = "m"
ASKED = [{"role": "user", "content": "go"}]
TOOLS = ["create_file", "delete_file", "read_file", "run_tests"]
SCHEMA = {"type": "object", "properties": {}}


def parsed(arguments):
    """The arguments of a call, or their text where they are no JSON."""
    try:
        return json.loads(arguments)
    except ValueError:
        return {"unparsed": arguments}


# Copies of a client share its connections: each would read the machine's certificates by itself.
OPENAI = openai.OpenAI(api_key="x", timeout=BOUND, max_retries=1)
ANTHROPIC = anthropic.Anthropic(api_key="x", timeout=BOUND, max_retries=1)


def given(call):
    if call.type == "custom":
        return {"name": call.custom.name, "arguments": {"input": call.custom.input}}
    return {"name": call.function.name, "arguments": parsed(call.function.arguments)}


def openai_client(exchange):
    return OPENAI.with_options(base_url=exchange["url"] + "/v1")


def joined(chunks, seen):
    """A streamed completion as a whole: what the helper makes, but also of one that was cut off."""
    completion = {"choices": [{"message": {"content": "", "tool_calls": []}}]}
    message = completion["choices"][0]["message"]
    for chunk in chunks:
        completion.update(id=chunk.id, usage=chunk.usage)
        for choice in chunk.choices:
            completion["choices"][0]["finish_reason"] = choice.finish_reason
            message["role"] = choice.delta.role or message["role"]
            message["content"] += choice.delta.content or ""
            for call in choice.delta.tool_calls or []:
                call, calls = call.to_dict(), message["tool_calls"]
                if call["index"] == len(calls):
                    calls.append(call)
                elif "custom" in call:
                    calls[call["index"]]["custom"]["input"] += call["custom"]["input"]
                else:
                    arguments = call["function"]["arguments"]
                    calls[call["index"]]["function"]["arguments"] += arguments
    seen["text"] = message["content"]
    return openai.types.chat.ChatCompletion.construct(**completion)


def openai_chat(exchange, seen):
    """Streams by the helper, which raises where a reply was cut off, if tools are given."""
    request = {"model": MODEL, "messages": ASKED}
    if exchange["tools"]:
        function = {"strict": True, "parameters": SCHEMA}
        functions = [{"name": name, **function} for name in TOOLS]
        request["tools"] = [{"type": "function", "function": function} for function in functions]
    completions = openai_client(exchange).chat.completions
    options = {"stream_options": {"include_usage": True}}
    if exchange["stream"] and not exchange["tools"]:
        completion = joined(completions.create(**request, **options, stream=True), seen)
    elif exchange["stream"]:
        with completions.stream(**request, **options) as stream:
            for event in stream:
                if event.type == "content.delta":
                    seen["text"] += event.delta
                    seen["deltas"] += 1
                elif event.type == "tool_calls.function.arguments.delta":
                    seen["deltas"] += 1
            completion = stream.get_final_completion()
        assert seen["text"] == (completion.choices[0].message.content or ""), seen
    else:
        completion = completions.create(**request)
    choice = completion.choices[0]
    assert choice.message.role == "assistant", choice
    calls = choice.message.tool_calls or []
    return {
        "id": completion.id,
        "text": choice.message.content or "",
        "calls": [{"id": call.id, **given(call)} for call in calls],
        "end": choice.finish_reason,
        "tokens": [completion.usage.prompt_tokens, completion.usage.completion_tokens],
    }


def openai_responses(exchange, seen):
    request = {"model": MODEL, "input": "go"}
    if exchange["tools"]:
        function = {"type": "function", "strict": True, "parameters": SCHEMA}
        request["tools"] = [{"name": name, **function} for name in TOOLS]
    responses = openai_client(exchange).responses
    if exchange["stream"]:
        done, numbers = [], []
        with responses.stream(**request) as stream:
            for event in stream:
                numbers.append(event.sequence_number)
                if event.type == "response.output_text.delta":
                    seen["text"] += event.delta
                    seen["deltas"] += 1
                elif event.type == "response.function_call_arguments.delta":
                    seen["deltas"] += 1
                elif event.type == "response.output_item.done":
                    done.append(bare(event.item))
                elif event.type in ("response.completed", "response.incomplete", "response.failed"):
                    response = event.response
            if response.status == "completed":
                response = stream.get_final_response()
        assert numbers == list(range(len(numbers))), numbers
        if response.status == "failed":
            raise RuntimeError(f"{response.error.code}: {response.error.message}")
        # What is read item by item is what the whole has in the end.
        assert done == [bare(item) for item in response.output], done
        assert seen["text"] == response.output_text, seen
    else:
        response = responses.create(**request)
    calls = [item for item in response.output if item.type.endswith("_call")]
    reason = response.incomplete_details.reason if response.incomplete_details else None
    return {
        "id": response.id,
        "text": response.output_text,
        "calls": [
            {
                "id": call.call_id,
                "name": "__".join(filter(None, [call.namespace, call.name])),
                "arguments": {"input": call.input}
                if call.type == "custom_tool_call"
                else parsed(call.arguments),
            }
            for call in calls
        ],
        "end": reason or response.status,
        "tokens": [response.usage.input_tokens, response.usage.output_tokens],
    }


def bare(item):
    """An item without what the client adds to it."""
    item = item.to_dict()
    item.pop("parsed_arguments", None)
    for part in item.get("content") or []:
        part.pop("parsed", None)
    return item


def anthropic_messages(exchange, seen):
    client = ANTHROPIC.with_options(base_url=exchange["url"])
    request = {"model": MODEL, "max_tokens": 100, "messages": ASKED}
    if exchange["tools"]:
        request["tools"] = [{"name": name, "input_schema": SCHEMA} for name in TOOLS]
    if exchange["stream"]:
        with client.messages.stream(**request) as stream:
            for event in stream:
                if event.type == "text":
                    seen["text"] += event.text
                    seen["deltas"] += 1
                elif event.type == "input_json":
                    seen["deltas"] += 1
            message = stream.get_final_message()
    else:
        message = client.messages.create(**request)
    texts = [block.text for block in message.content if block.type == "text"]
    calls = [block for block in message.content if block.type == "tool_use"]
    return {
        "id": message.id,
        "text": "".join(texts),
        "calls": [{"id": call.id, "name": call.name, "arguments": call.input} for call in calls],
        "end": message.stop_reason,
        "tokens": [message.usage.input_tokens, message.usage.output_tokens],
    }


def ollama_chat(exchange, seen):
    client = ollama.Client(host=exchange["url"], timeout=BOUND, verify=False)
    calls = []
    if exchange["stream"]:
        for part in client.chat(model=MODEL, messages=ASKED, stream=True):
            seen["text"] += part.message.content or ""
            seen["deltas"] += 1
            calls += part.message.tool_calls or []
        text = seen["text"]
    else:
        part = client.chat(model=MODEL, messages=ASKED)
        text, calls = part.message.content, part.message.tool_calls or []
    assert part.done, part
    return {
        "text": text,
        "calls": [
            {"name": call.function.name, "arguments": dict(call.function.arguments)}
            for call in calls
        ],
        "end": part.done_reason,
        "tokens": [part.prompt_eval_count, part.eval_count],
    }


CLIENTS = {
    "openai_chat": openai_chat,
    "openai_responses": openai_responses,
    "anthropic_messages": anthropic_messages,
    "ollama": ollama_chat,
}


def exchanged(exchange):
    seen = {"text": "", "deltas": 0}
    try:
        report = CLIENTS[exchange["api"]](exchange, seen)
        return {**report, "deltas": seen["deltas"]}
    except Exception as error:  # Whether it should have been raised is for the test to say.
        status = getattr(error, "status_code", None)
        return {
            "raised": type(error).__name__,
            "status": status,
            "message": str(error),
            "text": seen["text"],
        }


def main():
    exchanges = json.loads(pathlib.Path(sys.argv[1]).read_text())
    print(json.dumps([exchanged(exchange) for exchange in exchanges]))


main()

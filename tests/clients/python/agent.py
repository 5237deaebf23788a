"""Drives the agent of docs/editors.md with a model that says what it was told to say.

The agent is the code block of the document, written into the directory of the generated stubs by the
test that runs this. The chat and what was shown go to standard output as one JSON object.
"""

import argparse
import json
import pathlib
import sys

import grpc
from grpc_tools import protoc

PROTOS = ["bridge", "confirmations", "tools"]
BLOCK = "```json action\n{}\n```\n"
# What the model says, one turn after the other; its JSON has to be repaired.
REPLIES = [
    "I look.\n" + BLOCK.format('{"tool": "read_file", "parameters": {"path": "a.txt",}}'),
    BLOCK.format(
        '{"tool": "create_file", "parameters": {"path": "b.txt", "content": "new\\n"}}'
    )
    + BLOCK.format('{"tool": "read_file", "parameters": {"path": "none.txt"}}'),
    BLOCK.format('{"tool": "read_fil", "arguments": {"path": "a.txt"}}'),
    "It is done. 完成。",
]


def model(chat, _settings):
    """A model of four turns, whose bytes come in pieces that cut characters."""
    turns = sum(turn["role"] == "assistant" for turn in chat)
    reply = REPLIES[turns].encode()
    for at in range(0, len(reply), 7):
        yield reply[at : at + 7]


def main():
    parser = argparse.ArgumentParser()
    for name in ["socket", "state", "protos", "generated"]:
        parser.add_argument(f"--{name}", required=True, type=pathlib.Path)
    options = parser.parse_args()
    bundled = pathlib.Path(protoc.__file__).parent / "_proto"
    arguments = ["protoc", f"-I{options.protos}", f"-I{bundled}"]
    arguments += [f"--python_out={options.generated}", f"--grpc_python_out={options.generated}"]
    if protoc.main(arguments + [f"moss/v1/{name}.proto" for name in PROTOS]) != 0:
        raise RuntimeError("the .proto files do not compile")
    sys.path.insert(0, str(options.generated))
    from example_agent import Agent

    token = (options.state / "caller.token").read_text().strip()
    authority = [("grpc.default_authority", "localhost")]
    shown = []
    with grpc.insecure_channel(f"unix:{options.socket}", authority) as channel:
        chat = Agent(channel, token, model, shown.append).run("Look at a.txt, then write b.txt.")
    json.dump({"chat": chat, "shown": "".join(shown)}, sys.stdout)


if __name__ == "__main__":
    main()

"""Drives the editor of docs/editors.md: attaches it, has tools called, and reports what it saw.

The editor is the code block of the document, written into the directory of the generated stubs by
the test that runs this. What was seen goes to standard output as one JSON object.
"""

import argparse
import json
import pathlib
import sys

import grpc
from grpc_tools import protoc

PROTOS = ["confirmations", "editor", "history", "tools"]
TEXT = "unsaved 𝄞\nlast"


class Person:
    """Says yes, and remembers what was asked."""

    def __init__(self):
        self.asked = []

    def clarify(self, question, choices):
        self.asked.append([question, choices])
        return choices[1]

    def confirm(self, diff):
        self.asked.append(diff)
        return True

    def over(self, question_id):
        pass


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
    from moss.v1 import tools_pb2, tools_pb2_grpc

    from example_editor import Editor

    token = lambda role: (options.state / f"{role}.token").read_text().strip()
    authority = [("grpc.default_authority", "localhost")]
    with grpc.insecure_channel(f"unix:{options.socket}", authority) as channel:
        tools = tools_pb2_grpc.ToolServiceStub(channel)
        metadata = [("authorization", f"Bearer {token('caller')}")]

        def call(tool, **arguments):
            call = tools_pb2.Call(tool=tool, arguments_json=json.dumps(arguments))
            request = tools_pb2.CallToolRequest(call=call)
            result = tools.CallTool(request, timeout=60, metadata=metadata).result
            return json.loads(result.output_json)

        person = Person()
        editor = Editor(channel, token("approver"), person)
        editor.type("a.txt", TEXT)
        editor.look("a.txt", 1, 2)
        editor.sync()
        report = {
            "read": call("read_file", path="a.txt")["content"],
            "cursor": call("get_cursor_context")["focus"]["line"],
            "clarified": call("clarify", question="Which?", choices=["one", "two"]),
            "created": call("create_file", path="b.txt", content="new\n")["path"],
            "edited": call("replace_text", path="a.txt", oldText="last", newText="line\nend"),
            "buffer": editor.buffers["a.txt"][1],
            "asked": person.asked,
        }
        editor.close()
    json.dump(report, sys.stdout)


if __name__ == "__main__":
    main()

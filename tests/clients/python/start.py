"""Runs the start code of docs/editors.md: the editor starts a daemon, holds a text, and ends.

The code is a block of the document, written into the directory of the generated stubs by the test that
runs this. What was seen goes to standard output as one JSON object.
"""

import argparse
import json
import pathlib
import subprocess
import sys

import grpc
from grpc_tools import protoc

PROTOS = ["confirmations", "editor", "history", "tools"]


def main():
    parser = argparse.ArgumentParser()
    for name in ["moss", "workspace", "protos", "generated"]:
        parser.add_argument(f"--{name}", required=True, type=pathlib.Path)
    options = parser.parse_args()
    bundled = pathlib.Path(protoc.__file__).parent / "_proto"
    arguments = ["protoc", f"-I{options.protos}", f"-I{bundled}"]
    arguments += [f"--python_out={options.generated}", f"--grpc_python_out={options.generated}"]
    if protoc.main(arguments + [f"moss/v1/{name}.proto" for name in PROTOS]) != 0:
        raise RuntimeError("the .proto files do not compile")
    sys.path.insert(0, str(options.generated))
    import example_editor
    from moss.v1 import tools_pb2, tools_pb2_grpc

    started = []

    class Recorded(subprocess.Popen):
        """Remembers the daemon, so that its end can be seen."""

        def __init__(self, command, **rest):
            super().__init__(command, **rest)
            started.append((self, command))

    example_editor.subprocess.Popen = Recorded
    with example_editor.attached(str(options.moss), str(options.workspace), None) as editor:
        editor.type("a.txt", "unsaved")
        editor.sync()
        [(daemon, command)] = started
        socket = command[command.index("--listen") + 1]
        token = example_editor.approver_token()
        with grpc.insecure_channel(socket, [("grpc.default_authority", "localhost")]) as channel:
            call = tools_pb2.Call(tool="read_file", arguments_json=json.dumps({"path": "a.txt"}))
            result = tools_pb2_grpc.ToolServiceStub(channel).CallTool(
                tools_pb2.CallToolRequest(call=call),
                timeout=60,
                metadata=[("authorization", f"Bearer {token}")],
            )
            read = json.loads(result.result.output_json)["content"]
        editor.close()
    json.dump({"read": read, "exit_code": daemon.returncode}, sys.stdout)


main()

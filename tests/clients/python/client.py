"""An editor's client in another language.

Generates its stubs from the .proto files, finds the services by reflection, calls tools, receives
a confirmation and answers it, and undoes the change. What it saw goes to standard output as
one JSON object; the test that runs it decides what is right.
"""

import argparse
import json
import pathlib
import sys
import threading

import grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)
from grpc_tools import protoc

# Longest wait for any answer, in seconds.
BOUND = 60
PROTOS = ["bridge", "confirmations", "editor", "history", "plugins", "policy", "status", "tools"]
PROTOS += ["index", "jobs", "user_prompt"]
FILE = "greeting.txt"


class Role:
    """The stubs of one credential."""

    def __init__(self, channel, stubs, token):
        self.metadata = [("authorization", f"Bearer {token}")] if token else []
        self.tools = stubs["tools"].ToolServiceStub(channel)
        self.confirmations = stubs["confirmations"].ConfirmationServiceStub(channel)
        self.history = stubs["history"].HistoryServiceStub(channel)

    def ask(self, method, request, timeout=BOUND):
        return method(request, timeout=timeout, metadata=self.metadata)


class Background(threading.Thread):
    """A call that waits for a person, on a thread of its own."""

    def __init__(self, work):
        super().__init__(daemon=True)
        self.work, self.value, self.error = work, None, None
        self.start()

    def run(self):
        try:
            self.value = self.work()
        except Exception as error:  # Told to whoever takes the result.
            self.error = error

    def result(self):
        self.join(BOUND)
        if self.is_alive():
            raise TimeoutError("the call does not end")
        if self.error is not None:
            raise self.error
        return self.value


def generate(protos, directory):
    """Generates messages and stubs, and returns their modules by name."""
    files = [f"moss/v1/{name}.proto" for name in PROTOS]
    bundled = pathlib.Path(protoc.__file__).parent / "_proto"
    arguments = ["protoc", f"-I{protos}", f"-I{bundled}"]
    arguments += [f"--python_out={directory}", f"--grpc_python_out={directory}"]
    if protoc.main(arguments + files) != 0:
        raise RuntimeError("the .proto files do not compile")
    sys.path.insert(0, str(directory))
    modules = {}
    for name in PROTOS:
        modules[name] = __import__(f"moss.v1.{name}_pb2", fromlist=["_"])
        modules[name + "_stubs"] = __import__(f"moss.v1.{name}_pb2_grpc", fromlist=["_"])
    return modules


def reflected(channel, modules):
    """Finds services and their methods by asking the daemon; it must know what the files say."""
    database = ProtoReflectionDescriptorDatabase(channel)
    services = sorted(database.get_services())
    methods = {}
    for name in services:
        if name.startswith("moss.v1."):
            file = database.FindFileContainingSymbol(name)
            service = next(s for s in file.service if f"{file.package}.{s.name}" == name)
            methods[name] = [method.name for method in service.method]
    known = {}
    for name in PROTOS:
        for service in modules[name].DESCRIPTOR.services_by_name.values():
            known[service.full_name] = [method.name for method in service.methods]
    return {"services": services, "methods_match": methods == known}


def code_of(work):
    """Returns the status of a request that must fail."""
    try:
        work()
    except grpc.RpcError as error:
        return error.code().name
    return "OK"


def edited(modules, caller, approver, workspace):
    """Edits a file: the question is seen and answered by the approver only."""
    tools, confirmations = modules["tools"], modules["confirmations"]
    watch = approver.ask(
        approver.confirmations.WatchConfirmations,
        confirmations.WatchConfirmationsRequest(workspace=str(workspace)),
    )
    # The stream is open when its header is here: from now on no question is missed.
    watch.initial_metadata()
    arguments = {"path": FILE, "oldText": "hello", "newText": "good morning"}
    call = tools.Call(
        workspace=str(workspace),
        tool="replace_text",
        arguments_json=json.dumps(arguments),
        confirm=tools.CONFIRM_MODE_WAIT,
    )
    events = caller.ask(caller.tools.StreamCallTool, tools.StreamCallToolRequest(call=call))
    waiting = Background(lambda: list(events))
    question = next(watch).confirmation
    answer = confirmations.ResolveConfirmationRequest(
        id=question.id, verdict=confirmations.VERDICT_APPROVE, digest=question.digest
    )
    report = {
        "question": {
            "state": confirmations.ConfirmationState.Name(question.state),
            "tool": question.tool,
            "paths": [change.path for change in question.changes],
            "diff": question.changes[0].diff,
        },
        "caller_resolves": code_of(
            lambda: caller.ask(caller.confirmations.ResolveConfirmation, answer)
        ),
        "caller_watches": code_of(
            lambda: next(
                caller.ask(
                    caller.confirmations.WatchConfirmations,
                    confirmations.WatchConfirmationsRequest(),
                )
            )
        ),
        "before": (workspace / FILE).read_text(),
    }
    resolved = approver.ask(approver.confirmations.ResolveConfirmation, answer).confirmation
    report["resolved"] = confirmations.ConfirmationState.Name(resolved.state)
    report["events"] = [event.WhichOneof("event") for event in waiting.result()]
    report["resolved_again"] = code_of(
        lambda: approver.ask(approver.confirmations.ResolveConfirmation, answer)
    )
    report["after"] = (workspace / FILE).read_text()
    watch.cancel()
    return report


def undone(modules, caller, approver, workspace):
    """Undoes the newest entry of the history: a change that is asked about, too."""
    history, confirmations = modules["history"], modules["confirmations"]
    tools = modules["tools"]
    listed = caller.ask(
        caller.history.ListHistory, history.ListHistoryRequest(workspace=str(workspace))
    )
    newest = listed.entries[0]
    request = history.UndoHistoryEntryRequest(
        workspace=str(workspace), number=newest.number, confirm=tools.CONFIRM_MODE_WAIT
    )
    watch = approver.ask(
        approver.confirmations.WatchConfirmations, confirmations.WatchConfirmationsRequest()
    )
    watch.initial_metadata()
    waiting = Background(lambda: caller.ask(caller.history.UndoHistoryEntry, request))
    question = next(watch).confirmation
    answer = confirmations.ResolveConfirmationRequest(
        id=question.id, verdict=confirmations.VERDICT_APPROVE, digest=question.digest
    )
    approver.ask(approver.confirmations.ResolveConfirmation, answer)
    result = waiting.result().result
    watch.cancel()
    return {
        "entry": {"tool": newest.tool, "paths": [change.path for change in newest.changes]},
        "outcome": tools.Outcome.Name(result.outcome),
        "text": (workspace / FILE).read_text(),
    }


def late(modules, caller, workspace):
    """Waits for an answer that nobody gives, up to a deadline."""
    tools = modules["tools"]
    call = tools.Call(
        workspace=str(workspace),
        tool="delete_file",
        arguments_json=json.dumps({"path": FILE}),
        confirm=tools.CONFIRM_MODE_WAIT,
    )
    request = tools.CallToolRequest(call=call)
    code = code_of(lambda: caller.ask(caller.tools.CallTool, request, timeout=0.5))
    return {"code": code, "exists": (workspace / FILE).exists()}


def main():
    parser = argparse.ArgumentParser()
    for name in ["socket", "state", "workspace", "protos", "generated"]:
        parser.add_argument(f"--{name}", required=True, type=pathlib.Path)
    options = parser.parse_args()
    modules = generate(options.protos, options.generated)
    stubs = {name: modules[name + "_stubs"] for name in PROTOS}
    tools = modules["tools"]
    # By default the authority is the path of the socket, percent-encoded: no HTTP/2 server of
    # Rust's takes that for a host.
    authority = [("grpc.default_authority", "localhost")]
    with grpc.insecure_channel(f"unix:{options.socket}", authority) as channel:
        token = lambda role: (options.state / f"{role}.token").read_text().strip()
        caller = Role(channel, stubs, token("caller"))
        approver = Role(channel, stubs, token("approver"))
        nobody = Role(channel, stubs, None)
        report = {"reflection": reflected(channel, modules)}
        everything = tools.ListToolsRequest()
        report["without_credential"] = code_of(
            lambda: nobody.ask(nobody.tools.ListTools, everything)
        )
        listed = caller.ask(caller.tools.ListTools, everything)
        report["tools"] = [tool.name for tool in listed.tools]
        read = tools.Call(tool="read_file", arguments_json=json.dumps({"path": FILE}))
        result = caller.ask(caller.tools.CallTool, tools.CallToolRequest(call=read)).result
        report["read"] = json.loads(result.output_json)
        report["edit"] = edited(modules, caller, approver, options.workspace)
        report["undo"] = undone(modules, caller, approver, options.workspace)
        report["late"] = late(modules, caller, options.workspace)
    json.dump(report, sys.stdout)


if __name__ == "__main__":
    main()

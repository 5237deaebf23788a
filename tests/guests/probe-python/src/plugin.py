"""Does what a test tells it, through everything that a plugin in Python may ask of moss."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import moss


@dataclass
class Settings:
    """What the user may set."""

    name: str
    greeting: str = "hello"


@moss.tool
def probe_python(steps: list[dict], fail: bool = False) -> list:
    """Does one thing after the other and returns what came of each.

    Args:
        steps: Objects with `do` and what that needs.
        fail: Whether the first error is the tool's own.
    """
    came = []
    for step in steps:
        try:
            came.append(take(step))
        except moss.ToolError as error:
            if fail:
                raise
            came.append({"error": error.code, "message": error.message, "hint": error.hint})
    return came


def take(step: dict) -> Any:
    """Does one thing."""
    match step:
        case {"do": "get", "url": url}:
            response = moss.http.fetch(url)
            return {"status": response.status, "body": response.text()}
        case {"do": "post", "url": url, "body": body}:
            response = moss.http.fetch(
                url, method="POST", body=body.encode(), headers={"x-probe": "python"}
            )
            return {"status": response.status, "body": response.check().json()}
        case {"do": "env", "name": name}:
            return os.environ.get(name)
        case {"do": "set", "key": key, "value": value}:
            return moss.store.set_text(key, value)
        case {"do": "load", "key": key}:
            return moss.store.get_text(key)
        case {"do": "delete", "key": key}:
            return moss.store.delete(key)
        case {"do": "keys", "prefix": prefix}:
            return moss.store.keys(prefix)
        case {"do": "call", "tool": tool, "arguments": arguments}:
            return moss.toolbox.call(tool, **arguments)
        case {"do": "symbols", "path": path}:
            symbols = moss.editor.symbols(path)
            return symbols and [symbol.name for symbol in symbols]
        case {"do": "definitions", "path": path}:
            found = moss.editor.definitions(path, 0, 0)
            return found and [location.path for location in found]
        case {"do": "search", "pattern": pattern}:
            found = moss.index.search(pattern)
            lines = [f"{one.path}:{one.number}:{one.column}:{one.text}" for one in found.lines]
            return [*lines, found.total]
        case {"do": "declared", "names": names}:
            return [f"{one.path}:{one.line} {one.kind} {one.name}" for one in moss.index.symbols(*names)]
        case {"do": "run", "words": words}:
            ended = moss.commands.run(*words)
            return [ended.exit_code, ended.stdout]
        case {"do": "show", "text": text}:
            moss.content.text(text)
            moss.content.json({"shown": text})
            return moss.content.link("https://a.example/", text)
        case {"do": "show", "image": data}:
            return moss.content.image(bytes(data))
        case {"do": "settings"}:
            return moss.context.settings(Settings)
        case {"do": "read", "path": path}:
            with open(path, encoding="utf-8") as file:
                return file.read()
        case {"do": "list", "path": path}:
            entries = sorted(os.scandir(path), key=lambda entry: entry.name)
            return [f"{'directory' if entry.is_dir() else 'file'} {entry.name}" for entry in entries]
        case {"do": "find", "path": path}:
            return sorted(str(found) for found in Path(path).rglob("*.txt"))
        case {"do": "log", "message": message}:
            moss.context.progress("logging", 1, 2)
            return moss.context.log(message, moss.context.WARN)
        case {"do": "cancelled"}:
            return moss.context.cancelled()
        case {"do": "throw"}:
            raise TypeError("as told")
    raise moss.ToolError("invalid-arguments", f"no step `{step.get('do')}`", "see the source")


@dataclass
class Edited:
    """What was proposed."""

    edits: int


@moss.tool(name="edit_python")
def edit(before: str, after: str) -> moss.Proposed[Edited]:
    """Proposes one edit of each kind.

    Args:
        before: The text to replace.
        after: What replaces it.
    """
    whole = Path("whole.txt").read_text(encoding="utf-8") + f"{after}\n"
    edits = [
        moss.replace_text("part.txt", before, after),
        moss.write("whole.txt", whole),
        moss.create("made/new.txt", after),
        moss.delete("gone.txt"),
    ]
    return moss.Proposed(Edited(len(edits)), edits)


moss.plugin(
    tools=[probe_python, edit],
    requests=[
        moss.request.files(".", "to be tested"),
        moss.request.http("*", "to be tested"),
        moss.request.env("GREETING", "to be tested"),
        moss.request.store("1MiB", "to be tested"),
        moss.request.tool("read_file", "to be tested"),
        moss.request.editor("to be tested"),
        moss.request.index("to be tested"),
        moss.request.command("cat *", "to be tested"),
    ],
    settings=Settings,
)

"""Tools, and the plugin that is made of them."""

import inspect
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, get_args, get_origin, get_type_hints

from wit_world.exports import tools as wire

from . import schema
from .edits import Edit
from .errors import ToolError, to_wire

T = TypeVar("T")


@dataclass
class Proposed(Generic[T]):
    """Edits that a tool proposes, and what the model reads once they are done.

    A tool that returns it is one that writes: `def fix(path: str) -> moss.Proposed[Report]`.
    """

    output: T
    edits: list[Edit]


@dataclass
class Example:
    """A call that shows what a tool does. `moss plugin test` runs it.

    `files` is the workspace in which it runs, `changed` the files that it changes or makes, as they
    are afterwards: paths and texts. Leave `output` out where it is not always the same.
    """

    title: str
    arguments: dict[str, Any]
    files: dict[str, str] = field(default_factory=dict)
    output: Any = ...
    changed: dict[str, str] = field(default_factory=dict)


@dataclass
class Tool:
    """A function under `@moss.tool`."""

    function: Callable
    wire: wire.Tool
    hints: dict[str, Any]

    def __call__(self, *positional, **named):
        return self.function(*positional, **named)

    def run(self, arguments: dict) -> wire.Outcome:
        """Runs it on arguments that fit its schema."""
        given = {
            name: schema.from_json(self.hints[name], value)
            for name, value in arguments.items()
            if value is not None
        }
        returned = self.function(**given)
        if self.wire.effect is wire.Effect.WRITE:
            return wire.Outcome(_text(returned.output), returned.edits)
        return wire.Outcome(_text(returned), [])


def tool(
    function: Callable | None = None,
    *,
    name: str | None = None,
    title: str | None = None,
    destructive: bool | None = None,
    idempotent: bool | None = None,
    open_world: bool | None = None,
    examples: list[Example] | None = None,
) -> Any:
    """Makes a tool of a function.

    Its name is the tool's, its documentation the description that models read. Every parameter has a
    type; its description is in `Annotated[T, "…"]` or under `Args:` in the documentation. The type of
    what it returns is its output, or `Proposed[T]` for a tool that proposes edits.
    """
    if function is None:
        options = locals() | {}
        del options["function"]
        return lambda function: tool(function, **options)
    own_name = name or function.__name__
    description, texts = _documentation(function)
    if not description:
        raise TypeError(f"`{own_name}` needs documentation: it is the description that models read")
    hints = get_type_hints(function, include_extras=True)
    if "return" not in hints:
        raise TypeError(f"`{own_name}` needs the type of what it returns")
    output, effect = hints.pop("return"), wire.Effect.READ
    if get_origin(output) is Proposed:
        output, effect = get_args(output)[0], wire.Effect.WRITE
    parameters = schema.of_parameters(function)
    for parameter, text in texts.items():
        if parameter not in parameters["properties"]:
            raise TypeError(f"`{own_name}` documents `{parameter}`, which it does not take")
        parameters["properties"][parameter].setdefault("description", text)
    told = wire.Tool(
        name=own_name,
        title=title or own_name.replace("_", " ").replace("-", " ").capitalize(),
        description=description,
        effect=effect,
        parameters=json.dumps(parameters),
        output=json.dumps(schema.of(output)),
        annotations=wire.Annotations(destructive, idempotent, open_world),
        examples=[_example(example) for example in examples or []],
    )
    return Tool(function, told, hints)


def plugin(
    *,
    tools: list[Tool],
    requests: list[wire.Capability] | None = None,
    settings: type | None = None,
) -> None:
    """Makes a plugin of tools. Its name and version are those in pyproject.toml.

    `settings` is a dataclass of what the user may set in `config` of its entry in moss-tools.json.
    """
    _Plugin.tools = {tool.wire.name: tool for tool in tools}
    _Plugin.requests = requests or []
    _Plugin.settings = settings


class _Plugin:
    """What was defined. The build says what it is called."""

    name: str = ""
    version: str = ""
    tools: dict[str, Tool] = {}
    requests: list[wire.Capability] = []
    settings: type | None = None


class Exported:
    """The contract's interface."""

    def describe(self) -> wire.Description:
        settings = _Plugin.settings and json.dumps(schema.of(_Plugin.settings))
        told = [tool.wire for tool in _Plugin.tools.values()]
        return wire.Description(
            _Plugin.name, _Plugin.version, _Plugin.requests, settings, told
        )

    def call(self, name: str, arguments: str) -> wire.Outcome:
        try:
            if name not in _Plugin.tools:
                raise ToolError("failed", f"the plugin has no tool `{name}`")
            return _Plugin.tools[name].run(json.loads(arguments))
        except Exception as error:
            raise to_wire(error) from None


def named(name: str, version: str) -> type[Exported]:
    """Says what the plugin is called. Called by the build."""
    _Plugin.name, _Plugin.version = name, version
    return Exported


def _text(output: Any) -> str:
    return json.dumps(schema.to_json(output), ensure_ascii=False, allow_nan=False)


def _example(example: Example) -> wire.Example:
    def files(of: dict[str, str]) -> list[wire.ExampleFile]:
        return [wire.ExampleFile(path, content) for path, content in of.items()]

    return wire.Example(
        title=example.title,
        arguments=json.dumps(schema.to_json(example.arguments)),
        files=files(example.files),
        output=None if example.output is ... else _text(example.output),
        changed=files(example.changed),
    )


def _documentation(function: Callable) -> tuple[str, dict[str, str]]:
    """Returns the description, and what is said of each parameter under `Args:`."""
    text = inspect.getdoc(function) or ""
    description, _, rest = text.partition("\nArgs:\n")
    texts: dict[str, str] = {}
    current = None
    for line in rest.splitlines():
        if line and not line.startswith(" "):
            raise TypeError(f"`Args:` of `{function.__name__}` must come last")
        named = re.match(r" {2,4}(\w+): (.+)$", line)
        if named:
            current = named[1]
            texts[current] = named[2]
        elif current and line.strip():
            texts[current] += " " + line.strip()
    paragraphs = re.split(r"\n\s*\n", description.strip())
    return "\n\n".join(" ".join(part.split()) for part in paragraphs), texts

"""Tools for moss in Python.

A tool is a function under `@moss.tool`: its name, documentation and type hints are what models and
people read, its parameters and what it returns become JSON schemas. It writes nothing: it returns
the edits that it proposes. Files are read with `open()`, by their paths in the workspace.

    @moss.tool(idempotent=True)
    def shout(text: Annotated[str, "What to shout."]) -> str:
        '''Returns a text in capitals.'''
        return text.upper()

    moss.plugin(name="shout", version="0.1.0", tools=[shout])
"""

from . import commands, content, context, editor, http, index, request, store, toolbox
from .errors import ToolError
from .plugin import Example, Proposed, Tool, plugin, tool
from .edits import Edit, create, delete, replace_text, write

__all__ = [
    "Edit",
    "Example",
    "Proposed",
    "Tool",
    "ToolError",
    "commands",
    "content",
    "context",
    "create",
    "delete",
    "editor",
    "http",
    "index",
    "plugin",
    "replace_text",
    "request",
    "store",
    "tool",
    "toolbox",
    "write",
]

"""What a tool may ask of moss while it runs."""

import json
from typing import Any, TypeVar, overload

from wit_world.imports import context as host

from . import schema

T = TypeVar("T")

DEBUG, INFO, WARN, ERROR = "debug", "info", "warn", "error"


def log(message: object, level: str = INFO) -> None:
    """Writes a message to the log of the call, as `print` does."""
    host.log(host.Level[level.upper()], str(message))


def progress(message: str, done: int, total: int | None = None) -> None:
    """Reports progress to watchers: what is being done, steps done, and steps in all where it is known."""
    host.progress(message, done, total)


def cancelled() -> bool:
    """Returns whether the call is no longer wanted; a long loop asks this to stop early."""
    return host.cancelled()


@overload
def settings() -> dict: ...
@overload
def settings(kind: type[T]) -> T: ...
def settings(kind: Any = dict) -> Any:
    """Returns the settings that the user gave the plugin: `config` of its entry in the list.

    With the dataclass that `moss.plugin` was given, it is one of those, with its defaults.
    """
    return schema.from_json(kind, json.loads(host.settings()))

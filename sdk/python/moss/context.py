"""What a tool may ask of moss while it runs."""

import json

from wit_world.imports import context as host

DEBUG, INFO, WARN, ERROR = "debug", "info", "warn", "error"


def log(message: object, level: str = INFO) -> None:
    """Writes a message to the log of the call, as `print` does."""
    host.log(host.Level[level.upper()], str(message))


def progress(message: str, done: int, total: int | None = None) -> None:
    """Tells whoever watches what is being done, steps done, and steps in all where it is known."""
    host.progress(message, done, total)


def cancelled() -> bool:
    """Returns whether the call is no longer wanted; a long loop asks this to stop early."""
    return host.cancelled()


def settings() -> dict:
    """Returns the settings that the user gave the plugin: `config` of its entry in the list."""
    return json.loads(host.settings())

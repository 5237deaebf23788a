"""Commands of the machine, in the sandbox of moss."""

from wit_world.imports import commands as host
from wit_world.imports.commands import Ended

from .errors import from_host


def run(*words: str, directory: str | None = None) -> Ended:
    """Runs a command and waits for its end."""
    with from_host():
        return host.run(host.Command(list(words), directory))

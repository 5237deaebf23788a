"""Other tools of moss, as far as they only read."""

import json

from wit_world.imports import toolbox as host

from .errors import from_host


def call(name: str, **arguments: object) -> dict:
    """Runs a tool and returns its output."""
    with from_host():
        return json.loads(host.call(name, json.dumps(arguments)))

"""What the result of a call shows beside its output, to whoever called. Needs no capability."""

import json as _json
from typing import Any

from wit_world.imports import content as host

from . import schema
from .errors import from_host


def text(text: str) -> None:
    """Shows a text for models and people."""
    _add(host.Part_Text(text))


def json(value: Any) -> None:
    """Shows a value for programs, which models read as text."""
    _add(host.Part_Json(_json.dumps(schema.to_json(value), ensure_ascii=False, allow_nan=False)))


def image(data: bytes) -> None:
    """Shows an image: the bytes of a PNG, JPEG, GIF or WebP file, at most 3 MiB."""
    _add(host.Part_Image(data))


def link(uri: str, name: str) -> None:
    """Shows a link: an address (`https://`, `http://`, `moss://`) and what it leads to in a few words."""
    _add(host.Part_Link(host.Link(uri, name)))


def _add(part: host.Part) -> None:
    with from_host():
        host.add(part)

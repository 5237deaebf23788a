"""The texts of the workspace and what they declare, searched through the index of moss."""

from wit_world.imports import index as host
from wit_world.imports.index import Declaration, Found, Line

from .errors import from_host


def search(
    pattern: str,
    case_sensitive: bool = False,
    file_types: str | None = None,
    lines_max: int = 100,
) -> Found:
    """Returns the lines that match a regular expression, of the files that may be read."""
    with from_host():
        return host.search(host.Query(pattern, case_sensitive, file_types, lines_max))


def symbols(*names: str) -> list[Declaration]:
    """Returns what declares one of the names, exactly, of the files that may be read."""
    with from_host():
        return host.symbols(list(names))

"""What the person's editor knows; None where there is none. Positions count from 0, in UTF-16."""

from wit_world.imports import editor as host
from wit_world.imports.editor import Location, Position, Symbol

from .errors import from_host


def symbols(path: str) -> list[Symbol] | None:
    """Returns the symbols of a file, each followed by those inside of it."""
    with from_host():
        return host.symbols(path)


def definitions(path: str, line: int, character: int, of_type: bool = False) -> list[Location] | None:
    """Returns where the symbol at a position, or its type, is defined."""
    kind = host.DefinitionKind.TYPE_DEFINITION if of_type else host.DefinitionKind.DEFINITION
    with from_host():
        return host.definitions(path, Position(line, character), kind)

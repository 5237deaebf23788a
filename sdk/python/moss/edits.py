"""Edits that a tool proposes. Paths are relative to the workspace."""

from wit_world.exports import tools as wire

Edit = wire.Edit


def create(path: str, content: str) -> Edit:
    """Makes a new file and its missing parent directories. The path must not exist."""
    return wire.Edit_Create(wire.CreateFile(path, content))


def write(path: str, content: str, expected_hash: str | None = None) -> Edit:
    """Replaces the whole text of a file; with a BLAKE3 hash, only if that is what it holds."""
    return wire.Edit_Write(wire.WriteFile(path, expected_hash, content))


def replace_text(path: str, old_text: str, new_text: str) -> Edit:
    """Replaces a text that occurs exactly once in a file."""
    return wire.Edit_ReplaceText(wire.ReplaceText(path, old_text, new_text))


def delete(path: str, expected_hash: str | None = None) -> Edit:
    """Removes a file; with a BLAKE3 hash, only if that is what it holds."""
    return wire.Edit_Delete(wire.DeleteFile(path, expected_hash))

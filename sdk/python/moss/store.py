"""A few values that outlive the call: the plugin's own, apart for every workspace."""

from wit_world.imports import store as host

from .errors import from_host


def get(key: str) -> bytes | None:
    """Returns the value of a key."""
    with from_host():
        return host.get(key)


def set(key: str, value: bytes) -> None:
    """Keeps a value. A key has 1 to 256 bytes."""
    with from_host():
        host.set(key, value)


def get_text(key: str) -> str | None:
    """Returns the value of a key that is a text."""
    value = get(key)
    return None if value is None else value.decode("utf-8")


def set_text(key: str, text: str) -> None:
    """Keeps a text."""
    set(key, text.encode("utf-8"))


def delete(key: str) -> bool:
    """Forgets a key. Returns whether there was one."""
    with from_host():
        return host.delete(key)


def keys(prefix: str = "") -> list[str]:
    """Returns the keys that start with a text, in bytewise order."""
    with from_host():
        return host.keys(prefix)

"""What a plugin asks to be allowed. The reason is shown to the person who grants it."""

from wit_world.exports.tools import Capability


def files(path: str, reason: str) -> Capability:
    """To read a file or a directory; `.` asks for whatever the user grants."""
    return Capability("fs", path, reason)


def http(host: str, reason: str) -> Capability:
    """To reach a host, such as `api.example.com`; `*` asks for whatever is granted."""
    return Capability("http", host, reason)


def env(name: str, reason: str) -> Capability:
    """To see a variable of the environment, with `os.environ`."""
    return Capability("env", name, reason)


def store(size: str, reason: str) -> Capability:
    """To keep values; the most bytes of all keys and values together, such as `1MiB`."""
    return Capability("store", size, reason)


def tool(name: str, reason: str) -> Capability:
    """To call a tool of moss that only reads."""
    return Capability("tool", name, reason)


def editor(reason: str) -> Capability:
    """To ask the person's editor for symbols and definitions."""
    return Capability("editor", "symbols", reason)


def index(reason: str) -> Capability:
    """To search the texts of the workspace."""
    return Capability("index", "search", reason)


def command(words: str, reason: str) -> Capability:
    """To run a command with exactly these words, such as `git rev-parse HEAD`; `*` is one word."""
    return Capability("command", words, reason)

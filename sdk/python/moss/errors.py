"""How a tool says what went wrong, and how it hears it from moss."""

import errno
import sys
import traceback
from contextlib import contextmanager

from componentize_py_types import Err
from wit_world.imports import types as wire


class ToolError(Exception):
    """Why a tool failed, written so that a model can correct itself.

    The code is one of the contract, such as `not-found` or `invalid-arguments`.
    """

    def __init__(self, code: str, message: str, hint: str | None = None):
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        if _name(code) not in wire.ErrorCode.__members__:
            known = ", ".join(name.lower().replace("_", "-") for name in wire.ErrorCode.__members__)
            raise ValueError(f"`{code}` is no code of an error; there are {known}")


_OF_FILES = {
    errno.ENOENT: "not-found",
    errno.EEXIST: "already-exists",
    errno.EISDIR: "not-a-file",
    errno.ENOTDIR: "not-a-directory",
    errno.EACCES: "denied",
    errno.EPERM: "denied",
}


def to_wire(error: Exception) -> Err:
    """Makes an error of the contract of whatever a tool raised."""
    if isinstance(error, ToolError):
        told = error
    elif isinstance(error, OSError) and error.filename is not None:
        code = _OF_FILES.get(error.errno, "io")
        # moss says to the caller who withholds what.
        told = ToolError(code, f"{error.filename}: {error.strerror}")
    elif isinstance(error, UnicodeDecodeError):
        told = ToolError("encoding", f"not {error.encoding} text: {error.reason}")
    else:
        # What an author needs and a model does not.
        traceback.print_exception(error, file=sys.stderr)
        told = ToolError("failed", f"{type(error).__name__}: {error}")
    return Err(wire.Error(wire.ErrorCode[_name(told.code)], told.message, told.hint))


@contextmanager
def from_host():
    """Makes the errors of functions of moss a `ToolError`."""
    try:
        yield
    except Err as error:
        value = error.value
        code = value.code.name.lower().replace("_", "-")
        raise ToolError(code, value.message, value.hint) from None


def _name(code: str) -> str:
    return code.upper().replace("-", "_")

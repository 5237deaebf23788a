"""HTTP to hosts that the plugin requests and the user grants. `urllib` and `socket` do not work."""

import json as _json
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from componentize_py_types import Err, Ok

from .errors import ToolError

try:
    # While it is built: nothing can be imported later.
    from wit_world.imports import http_types as wire, outgoing_handler
except ImportError:
    wire = outgoing_handler = None

_BODY_BYTES_MAX = 16 << 20
_REDIRECTS_MAX = 5
_CHUNK = 4096
_METHODS = ("Get", "Head", "Post", "Put", "Delete", "Options", "Patch")


@dataclass
class Response:
    """A response of a server. An error status is a response, too: see `check`."""

    url: str
    status: int
    headers: dict[str, str]
    body: bytes

    def text(self) -> str:
        """Returns the body as text in UTF-8."""
        return self.body.decode("utf-8", errors="replace")

    def json(self) -> object:
        """Returns the value that the body is the JSON of."""
        try:
            return _json.loads(self.body)
        except ValueError as error:
            raise ToolError("failed", f"{self.url}: the response is not JSON: {error}") from None

    def check(self) -> "Response":
        """Raises a `ToolError` for a status of 400 or more."""
        if self.status >= 400:
            code = "not-found" if self.status == 404 else "failed"
            raise ToolError(code, f"{self.url}: the server responded with {self.status}")
        return self


def fetch(
    url: str,
    *,
    method: str = "GET",
    headers: dict[str, str] | None = None,
    body: bytes | None = None,
    bytes_max: int = _BODY_BYTES_MAX,
) -> Response:
    """Sends a request and returns the response. Redirects of `GET` and `HEAD` are followed."""
    for _ in range(_REDIRECTS_MAX + 1):
        response = _exchange(url, method, headers or {}, body, bytes_max)
        location = response.headers.get("location")
        is_redirect = response.status in (301, 302, 303, 307, 308) and location
        if not is_redirect or method not in ("GET", "HEAD"):
            return response
        target = urljoin(url, location)
        if headers and urlsplit(target)[:2] != urlsplit(url)[:2]:
            # What was meant for one host is not reported to another.
            private = ("authorization", "cookie")
            headers = {name: text for name, text in headers.items() if name.lower() not in private}
        url = target
    raise ToolError("failed", f"{url}: more than {_REDIRECTS_MAX} redirects")


def _exchange(url: str, method: str, headers: dict, body: bytes | None, bytes_max: int) -> Response:
    if wire is None:
        raise ToolError("denied", "the plugin does not request any host: `moss.request.http`")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ToolError("invalid-arguments", f"`{url}` is not the address of a web page")
    entries = [(name.lower(), text.encode("utf-8")) for name, text in headers.items()]
    if body is not None and "content-length" not in (name for name, _ in entries):
        entries.append(("content-length", str(len(body)).encode("ascii")))
    try:
        request = wire.OutgoingRequest(wire.Fields.from_list(entries))
    except Err:
        raise ToolError("invalid-arguments", f"{url}: a header is not valid") from None
    request.set_method(_method(wire, method))
    request.set_scheme(wire.Scheme_Https() if parts.scheme == "https" else wire.Scheme_Http())
    request.set_authority(parts.netloc)
    request.set_path_with_query((parts.path or "/") + (f"?{parts.query}" if parts.query else ""))
    try:
        outgoing = request.body()
        coming = outgoing_handler.handle(request, None)
        if body is not None:
            with outgoing.write() as stream:
                for start in range(0, len(body), _CHUNK):
                    stream.blocking_write_and_flush(body[start : start + _CHUNK])
        wire.OutgoingBody.finish(outgoing, None)
        with coming.subscribe() as ready:
            ready.block()
        answered = coming.get()
        while isinstance(answered, Ok):
            answered = answered.value
        if isinstance(answered, Err):
            raise answered
        return _response(url, answered, bytes_max)
    except Err as error:
        raise _error(url, error.value) from None


def _response(url: str, answered, bytes_max: int) -> Response:
    with answered.headers() as fields:
        headers: dict[str, str] = {}
        for name, value in fields.entries():
            text = value.decode("latin-1")
            key = name.lower()
            headers[key] = f"{headers[key]}, {text}" if key in headers else text
    received = bytearray()
    with answered.consume() as incoming, incoming.stream() as stream:
        while True:
            try:
                received += stream.blocking_read(_CHUNK * 16)
            except Err as error:
                if type(error.value).__name__ == "StreamError_Closed":
                    break
                raise
            if len(received) > bytes_max:
                raise ToolError("too-large", f"{url}: the response has more than {bytes_max} bytes")
    return Response(url, answered.status(), headers, bytes(received))


def _method(wire, method: str):
    name = method.capitalize()
    return getattr(wire, f"Method_{name}")() if name in _METHODS else wire.Method_Other(method)


def _error(url: str, value: object) -> ToolError:
    name = type(value).__name__.removeprefix("ErrorCode_")
    inside = getattr(value, "value", None)
    if name == "HttpRequestDenied":
        # moss says to the caller who withholds what.
        return ToolError("denied", f"{url}: not permitted")
    words = "".join(f" {char.lower()}" if char.isupper() else char for char in name).strip()
    return ToolError("unavailable", f"{url}: {words}" + (f": {inside}" if inside else ""))

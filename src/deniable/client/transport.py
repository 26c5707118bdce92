"""How bytes reach a collector: HTTP with the standard library, or a stand-in for tests."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from typing import IO, Any, Protocol

from deniable.errors import InvalidParameter, NotDelivered

MOST_BYTES = 1 << 24


class Transport(Protocol):
    """Anything that can fetch and post."""

    def get(self, url: str) -> tuple[int, bytes]:
        """Status and body; raises NotDelivered when nobody answered."""
        ...

    def post(self, url: str, body: bytes, content_type: str) -> tuple[int, bytes]:
        """Status and body; raises NotDelivered when nobody answered."""
        ...


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A report goes to the address it was meant for, or nowhere."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        """Never."""
        return


def checked_url(url: str, *, allow_http: bool = False) -> str:
    """The address, if what is sent there cannot be read on the way: HTTPS, or this machine."""
    try:
        parts = urllib.parse.urlsplit(url)
        host = parts.hostname
    except ValueError:
        raise InvalidParameter("url must be an address such as https://survey.example.org") from None
    local = host in ("localhost", "127.0.0.1", "::1")
    if host and (parts.scheme == "https" or (parts.scheme == "http" and (local or allow_http))):
        return url
    raise InvalidParameter("url must begin with https:// (http:// is for this machine only, unless allow_http is set)")


def open_request(request: urllib.request.Request, timeout: float) -> Any:
    """Send a request to the address it names and to no other; the answer is read by the caller."""
    # One name for every device: the version of its software is nobody's business.
    request.add_header("User-Agent", "deniable")
    return urllib.request.build_opener(_NoRedirects).open(request, timeout=timeout)


@dataclass(frozen=True)
class HttpTransport:
    """HTTPS; plain HTTP only to this machine, or when the caller insists."""

    timeout: float = 10.0
    allow_http: bool = False

    def get(self, url: str) -> tuple[int, bytes]:
        """Fetch."""
        return self._open(urllib.request.Request(checked_url(url, allow_http=self.allow_http)))  # noqa: S310 - the scheme is checked

    def post(self, url: str, body: bytes, content_type: str) -> tuple[int, bytes]:
        """Send."""
        headers = {"Content-Type": content_type}
        url = checked_url(url, allow_http=self.allow_http)
        return self._open(urllib.request.Request(url, data=body, headers=headers))  # noqa: S310 - the scheme is checked

    def _open(self, request: urllib.request.Request) -> tuple[int, bytes]:
        try:
            with open_request(request, self.timeout) as answer:
                return int(answer.status), _body(answer)
        except urllib.error.HTTPError as answer:
            with answer:
                return int(answer.code), _body(answer)
        except (OSError, http.client.HTTPException):
            where = urllib.parse.urlsplit(request.full_url)
            raise NotDelivered(f"the collector at {where.scheme}://{where.netloc} cannot be reached; is it running?") from None


def _body(answer: IO[bytes]) -> bytes:
    try:
        data = answer.read(MOST_BYTES + 1)
    except (OSError, http.client.HTTPException):
        raise NotDelivered("the collector's answer was cut off") from None
    if len(data) > MOST_BYTES:
        raise NotDelivered("the collector's answer is too long")
    return data


@dataclass
class MockTransport:
    """Answers from a script and remembers what was posted: for tests of programs that use a session.

    `answers` are given out in turn: a status, or an exception to raise; after the last one, 200.
    """

    document: bytes = b""
    answers: list[int | Exception] = field(default_factory=list)
    posted: list[tuple[str, bytes, str]] = field(default_factory=list)

    def get(self, url: str) -> tuple[int, bytes]:
        """The document."""
        return 200, self.document

    def post(self, url: str, body: bytes, content_type: str) -> tuple[int, bytes]:
        """The next answer."""
        self.posted.append((url, body, content_type))
        answer = self.answers.pop(0) if self.answers else 200
        if isinstance(answer, Exception):
            raise answer
        return answer, b'{"accepted":1,"known":0}'

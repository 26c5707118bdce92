"""How bytes reach a collector: HTTP with the standard library, or a stand-in for tests."""

from __future__ import annotations

import http.client
import io
import ipaddress
import os
import socket
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass, field, replace
from typing import IO, Any, Protocol

from deniable.errors import InvalidParameter, NotDelivered

MOST_BYTES = 1 << 24
ONE_TIME = "PrivateToken token="
"""How a header begins that carries a one-time token (RFC 9577)."""
WHOLE = 6
"""How long a whole answer may take, as a multiple of how long the next piece of it may."""


class Transport(Protocol):
    """Anything that can fetch and post."""

    def get(self, url: str) -> tuple[int, bytes]:
        """Status and body; raises NotDelivered when nobody answered."""
        ...

    def post(self, url: str, body: bytes, content_type: str) -> tuple[int, bytes]:
        """Status and body; raises NotDelivered when nobody answered."""
        ...


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A report or a token goes to the address it was meant for, or nowhere."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        """No request follows: the redirect itself becomes the answer."""
        return


def is_loopback(host: str) -> bool:
    """Is this a name or an address of this machine, so that nobody on a network sees what is sent there?

    >>> [is_loopback(host) for host in ("localhost", "127.3.2.1", "::1", "0.0.0.0", "192.0.2.1", "example.org")]
    [True, True, True, False, False, False]
    """
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


def checked_url(url: str, *, allow_http: bool = False) -> str:
    """The address, if what is sent there cannot be read on the way: HTTPS, or this machine."""
    parts = _parts(url)
    if parts.scheme == "https" or (parts.scheme == "http" and (allow_http or is_loopback(str(parts.hostname)))):
        return url
    raise InvalidParameter(
        "url must begin with https:// (http:// is for this machine only; a Python program can insist with allow_http)"
    )


def _parts(url: str) -> urllib.parse.SplitResult:
    try:
        parts = urllib.parse.urlsplit(url)
        valid = bool(parts.hostname) and (parts.port is None or parts.port >= 0)
    except ValueError:
        valid = False
    if not valid:
        raise InvalidParameter("url must be an address such as https://survey.example.org")
    if "@" in parts.netloc:
        # It would be asked of name servers, and told to proxies in clear.
        raise InvalidParameter("url must not hold a name or a password before an @; a token goes in a file or in token=…")
    return parts


def checked_token(token: str) -> str:
    """A token as `deniable token` prints it; it is never shown, whatever is wrong with it."""
    if not isinstance(token, str) or not token.isascii() or not token.isprintable() or not token or " " in token:
        raise InvalidParameter("the token must be one word, as `deniable token` printed it")
    return token


def _check_way(url: str) -> None:
    parts = _parts(url)
    if parts.scheme != "https" and not is_loopback(str(parts.hostname)):
        raise InvalidParameter("a token is only sent over https:// or to this machine: on the way to others it could be read")


def trusting(ca: str | os.PathLike[str] | None) -> ssl.SSLContext:
    """Whose certificates are believed: the system's authorities, or those in the file `ca` alone."""
    if ca is None:
        return ssl.create_default_context()
    try:
        return ssl.create_default_context(cafile=ca)
    except (OSError, ValueError):  # an SSLError is an OSError
        raise InvalidParameter(
            "ca must be a file with certificates in PEM form, which begin with -----BEGIN CERTIFICATE-----"
        ) from None


class _Reader(io.RawIOBase):
    """Reads from a socket until a moment, however little comes at a time."""

    def __init__(self, line: socket.socket, until: float) -> None:
        self._line, self._until = line, until
        self._raw = line.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._line.settimeout(min(left, self._line.gettimeout() or left))
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Answer(http.client.HTTPResponse):
    """An answer that has to be here, all of it, in time: a byte now and then buys no time."""

    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp.close()
        self.fp = io.BufferedReader(_Reader(sock, time.monotonic() + WHOLE * (sock.gettimeout() or 10.0)))


class _Plain(http.client.HTTPConnection):
    response_class = _Answer


class _Secret(http.client.HTTPSConnection):
    response_class = _Answer


class _HttpInTime(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(_Plain, req)


class _HttpsInTime(urllib.request.HTTPSHandler):
    def __init__(self, context: ssl.SSLContext) -> None:
        super().__init__(context=context)
        self._trusted = context

    def https_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(_Secret, req, context=self._trusted)


def open_request(
    request: urllib.request.Request,
    timeout: float,
    *,
    token: str | None = None,
    ca: str | os.PathLike[str] | None = None,
    endless: bool = False,
) -> Any:
    """Send a request to the address it names and to no other; the answer is read by the caller.

    The next piece of the answer is waited for no longer than the timeout, and all of it no longer than six times that, unless
    it may be `endless`.

    Plain HTTP never goes through a proxy, whatever the environment says: the proxy would read it. HTTPS may, since a proxy
    sees only a tunnel. A token is sent over HTTPS or to this machine, or not at all.
    """
    parts = _parts(request.full_url)
    local = is_loopback(str(parts.hostname))
    if token is not None:
        _check_way(request.full_url)
        header = token if token.startswith(ONE_TIME) else f"Bearer {checked_token(token)}"
        request.add_unredirected_header("Authorization", header)
    # One name for every device: the version of its software is nobody's business.
    request.add_header("User-Agent", "deniable")
    proxies = {} if local else {scheme: proxy for scheme, proxy in urllib.request.getproxies().items() if scheme == "https"}
    handlers: list[urllib.request.BaseHandler] = [urllib.request.ProxyHandler(proxies), _NoRedirects()]
    if not endless:
        handlers.append(_HttpInTime())
    if parts.scheme == "https":
        handlers.append(urllib.request.HTTPSHandler(context=trusting(ca)) if endless else _HttpsInTime(trusting(ca)))
    return urllib.request.build_opener(*handlers).open(request, timeout=timeout)


def not_reached(url: str, error: Exception) -> NotDelivered:
    """Why nobody answered, as far as that is known, and the next step."""
    parts = _parts(url)
    where = f"{parts.scheme}://{parts.netloc}"
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(reason, ssl.SSLCertVerificationError):
        why, step = _distrusted(reason)
        return NotDelivered(f"the certificate of {where} {why}; nothing was sent. {step}")
    if isinstance(reason, ssl.SSLError):
        return NotDelivered(f"{where} answers, but does not speak TLS as expected ({reason.reason}); is it an http:// address?")
    return NotDelivered(f"the collector at {where} cannot be reached; is it running?")


def _distrusted(error: ssl.SSLCertVerificationError) -> tuple[str, str]:
    own = "If it is the one you expect, give it as a PEM file: --ca FILE, or ca=FILE in Python."
    if error.verify_code == 18:
        return "is self-signed, so no authority vouches for it", own
    if error.verify_code in (2, 19, 20, 21):
        return "is signed by an authority that this machine does not know", own.replace(
            "it is the one", "that authority is the one"
        )
    if error.verify_code in (9, 10):
        return "is not valid today", "Look at its dates and at this machine's clock."
    if error.verify_code in (62, 64):
        return "is one for another name", "Use the name that it was made for."
    return f"cannot be believed ({error.verify_message})", own


@dataclass(frozen=True)
class HttpTransport:
    """HTTPS; plain HTTP only to this machine, or when the caller insists.

    `token` goes with what is posted, for collectors that take reports only with one. `ca` is a file with the certificates to
    believe instead of the system's.
    """

    timeout: float = 10.0
    allow_http: bool = False
    token: str | None = field(default=None, repr=False)
    ca: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        if self.token is not None and not self.token.startswith(ONE_TIME):
            checked_token(self.token)

    def with_token(self, token: str) -> HttpTransport:
        """The same with another token."""
        return replace(self, token=token)

    def check(self, url: str) -> None:
        """Refuse, before anything is drawn, an address that reports or this token may not go to."""
        checked_url(url, allow_http=self.allow_http)
        if self.token is not None:
            _check_way(url)

    def get(self, url: str) -> tuple[int, bytes]:
        """Status and body of a page, asked for without a token."""
        return self._open(urllib.request.Request(checked_url(url, allow_http=self.allow_http)))  # noqa: S310 - the scheme is checked

    def post(self, url: str, body: bytes, content_type: str) -> tuple[int, bytes]:
        """Status and body of the answer; the token goes along, if there is one."""
        headers = {"Content-Type": content_type}
        url = checked_url(url, allow_http=self.allow_http)
        return self._open(urllib.request.Request(url, data=body, headers=headers), self.token)  # noqa: S310 - the scheme is checked

    def _open(self, request: urllib.request.Request, token: str | None = None) -> tuple[int, bytes]:
        try:
            with open_request(request, self.timeout, token=token, ca=self.ca) as answer:
                return int(answer.status), _body(answer)
        except urllib.error.HTTPError as answer:
            with answer:
                return int(answer.code), _body(answer)
        except (OSError, http.client.HTTPException) as error:
            raise not_reached(request.full_url, error) from None


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
        """Always the document, whatever the address."""
        return 200, self.document

    def post(self, url: str, body: bytes, content_type: str) -> tuple[int, bytes]:
        """The next answer of the script; what was sent is remembered."""
        self.posted.append((url, body, content_type))
        answer = self.answers.pop(0) if self.answers else 200
        if isinstance(answer, Exception):
            raise answer
        return answer, b'{"accepted":1,"known":0}'

"""The issuer: admits a person once and gives out tokens it cannot recognise later (RFC 9578).

Which requests a person made is on disk before any is signed. A request that was signed before is signed again, to the same answer,
so a lost answer costs no token and buys none.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import os
import sqlite3
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key
from starlette.types import Receive, Scope, Send

from deniable.collector.gateway import answer, problem, whole_body
from deniable.collector.origins import for_any_page, preflight
from deniable.errors import BadMessage, InvalidParameter
from deniable.privacy import PUBLIC, REQUEST_MEDIA, REQUEST_PATH, RESPONSE_MEDIA, BlindPrivateKey, PublicTokenIssuer
from deniable.surveys import PrivateDatabase

DIRECTORY_PATH = "/.well-known/private-token-issuer-directory"
REQUEST_BYTES = 259
"""Two bytes of type, one of the key's name, 256 of a blinded message."""
MOST_REQUESTS = 1000
ATTEST_SECONDS = 10.0
SIGNING = 4
"""People whose tokens are signed at the same time."""


class Attestation(Protocol):
    """Decides whose credential it is."""

    def person(self, credential: str) -> str | None:
        """A name that is the same whenever this person comes; None for who is not admitted."""
        ...


class Invitations:
    """A file of one-time codes, one in a line; lines may be added while it is used."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path, self._read, self._codes = Path(path), 0, frozenset[bytes]()
        if not self._fresh():
            raise InvalidParameter(f"{self._path.name} has no invitation codes; `deniable issuer --new-codes 100` prints some")

    def _fresh(self) -> frozenset[bytes]:
        changed = self._path.stat().st_mtime_ns
        if changed != self._read:
            lines = (line.strip() for line in self._path.read_text(encoding="ascii").splitlines())
            self._codes, self._read = frozenset(_digest(line) for line in lines if line), changed
        return self._codes

    def person(self, credential: str) -> str | None:
        """The code itself, if it is in the file."""
        return credential if _digest(credential) in self._fresh() else None


@dataclass(frozen=True)
class AttestationCommand:
    """A program that gets the credential on its standard input; exit code 0 admits, and its first line names the person."""

    command: tuple[str, ...]

    def person(self, credential: str) -> str | None:
        """Whom the program names."""
        try:
            done = subprocess.run(  # noqa: S603 - the operator's own program, without a shell
                self.command, input=credential.encode(), capture_output=True, timeout=ATTEST_SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            raise BadMessage("the check of credentials cannot be run now; come back later") from None
        name = done.stdout.decode(errors="replace").partition("\n")[0].strip()
        return (name or credential) if done.returncode == 0 else None


class Issued:
    """Which requests every person made, by hashes alone: no name, no credential, no time, no order."""

    def __init__(self, path: str | os.PathLike[str], secret: bytes) -> None:
        self._secret = secret
        self._file = PrivateDatabase(path)
        self._file.identify("book of an issuer", _prepare)

    def admit(self, person: str, key_id: bytes, requests: Sequence[bytes], most: int) -> bool:
        """Write down the requests of a person under one key; False, and nothing, when that would be more than `most`."""
        name = hmac.new(self._secret, person.encode(), hashlib.sha256).digest()
        digests = sorted({hashlib.sha256(request).digest() for request in requests})
        with self._file.writing() as connection:
            for digest in digests:
                connection.execute("INSERT OR IGNORE INTO issued VALUES (?, ?, ?)", (name, key_id, digest))
            query = "SELECT count(*) FROM issued WHERE person = ? AND key = ?"
            total = int(connection.execute(query, (name, key_id)).fetchone()[0])
            if total > most:
                connection.execute("ROLLBACK")
                connection.execute("BEGIN IMMEDIATE")
        return total <= most


class Issuer:
    """An ASGI application: the directory of keys, and POST /token-request with one or several requests after each other."""

    def __init__(self, keys: Sequence[PublicTokenIssuer], attestation: Attestation, issued: Issued, *, tokens: int = 1) -> None:
        self._by_name = {hashlib.sha256(key.public_bytes).digest()[-1]: key for key in keys}
        if len(self._by_name) != len(keys) or not keys:
            raise InvalidParameter("an issuer needs keys whose short names differ; make another one with --new-key")
        self._keys, self._attestation, self._issued, self._tokens = list(keys), attestation, issued, tokens
        self._signing = asyncio.Semaphore(SIGNING)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] == "lifespan":
            await no_lifespan(receive, send)
            return
        if scope["type"] != "http":
            return
        to_page = for_any_page(send)
        if scope["method"] == "GET" and scope["path"] == DIRECTORY_PATH:
            await answer(to_page, 200, self.directory(), "application/private-token-issuer-directory")
        elif scope["method"] == "POST" and scope["path"] == REQUEST_PATH:
            await self._requested(dict(scope["headers"]), receive, to_page)
        elif scope["method"] == "OPTIONS" and scope["path"] in (DIRECTORY_PATH, REQUEST_PATH):
            await preflight(send, b"authorization, content-type")
        else:
            await problem(to_page, 404, f"an issuer publishes its keys at {DIRECTORY_PATH} and takes requests at {REQUEST_PATH}")

    def directory(self) -> bytes:
        """The published keys (RFC 9578, section 4)."""
        keys = [{"token-type": PUBLIC, "token-key": base64.urlsafe_b64encode(key.public_bytes).decode()} for key in self._keys]
        return json.dumps({"issuer-request-uri": REQUEST_PATH, "token-keys": keys}).encode()

    async def _requested(self, headers: dict[bytes, bytes], receive: Receive, send: Send) -> None:
        if headers.get(b"content-type") != REQUEST_MEDIA.encode():
            await problem(send, 415, f"content-type must be {REQUEST_MEDIA}")
            return
        body = await whole_body(receive)
        if body is None or not body or len(body) % REQUEST_BYTES or len(body) > MOST_REQUESTS * REQUEST_BYTES:
            await problem(send, 400, f"1 to {MOST_REQUESTS} token requests of {REQUEST_BYTES} bytes were expected")
            return
        credential = headers.get(b"authorization", b"").decode("latin-1")
        if not credential.startswith("Bearer "):
            await problem(send, 401, "a credential is needed: Authorization: Bearer …")
            return
        async with self._signing:
            status, reply = await asyncio.to_thread(self.issue, credential.removeprefix("Bearer "), body)
        if status == 200:
            await answer(send, 200, reply, RESPONSE_MEDIA)
        else:
            await problem(send, status, reply.decode())

    def issue(self, credential: str, body: bytes) -> tuple[int, bytes]:
        """Status and answer: the signatures one after the other, or why there are none."""
        requests = [body[at : at + REQUEST_BYTES] for at in range(0, len(body), REQUEST_BYTES)]
        key = self._by_name.get(requests[0][2])
        if key is None or any(request[2] != requests[0][2] for request in requests):
            return 422, b"the requests are not for one key of this issuer; fetch its directory again"
        if any(request[:2] != PUBLIC.to_bytes(2, "big") or not key.key.public.takes(request[3:]) for request in requests):
            # Before anything is written down: what cannot be signed must not cost a token.
            return 422, b"a request has another type than 2, or its blinded message is not a number below the modulus"
        try:
            person = self._attestation.person(credential)
        except BadMessage as error:
            return 503, str(error).encode()
        if person is None:
            return 403, b"this credential admits nobody"
        if not self._issued.admit(person, hashlib.sha256(key.public_bytes).digest(), requests, self._tokens):
            return 409, f"this credential was used before; a person gets {self._tokens} in all".encode()
        try:
            return 200, b"".join(map(key.issue, requests))
        except BadMessage as error:
            return 422, str(error).encode()


async def no_lifespan(receive: Receive, send: Send) -> None:
    """Nothing to begin and nothing to end."""
    while True:
        message = await receive()
        kind = message["type"].removeprefix("lifespan.")
        await send({"type": f"lifespan.{kind}.complete"})
        if kind == "shutdown":
            return


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _prepare(connection: sqlite3.Connection) -> None:
    table = (
        "CREATE TABLE IF NOT EXISTS issued (person BLOB, key BLOB, request BLOB, PRIMARY KEY (person, key, request)) WITHOUT ROWID"
    )
    connection.execute(table)


@dataclass(frozen=True)
class IssuerKeyFile:
    """A private key in a file that only its owner can read."""

    issuer: PublicTokenIssuer
    secret: bytes = field(repr=False)
    """What people's names are hashed with."""

    @property
    def text(self) -> str:
        """The public key as a survey file has it."""
        return base64.urlsafe_b64encode(self.issuer.public_bytes).decode().rstrip("=")


def issuer_key(path: str | os.PathLike[str], *, new: bool = False) -> IssuerKeyFile:
    """The key in a PEM file; with `new` it is made, and must not be there yet."""
    file = Path(path)
    if new:
        key = rsa.generate_private_key(65537, 2048)
        data = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
    if file.stat().st_mode & 0o077:
        raise InvalidParameter(f"{file.name} holds a private key and others may read it; chmod 600 {file.name}")
    loaded = None
    data = file.read_bytes()
    with suppress(ValueError, TypeError):
        loaded = load_pem_private_key(data, None)
    if not isinstance(loaded, rsa.RSAPrivateKey) or loaded.key_size != 2048:
        raise InvalidParameter(f"{file.name} is not an issuer's key; `deniable issuer --new-key {file.name}` makes one")
    return IssuerKeyFile(PublicTokenIssuer(BlindPrivateKey.of(loaded)), hashlib.sha256(b"attestation\0" + data).digest())

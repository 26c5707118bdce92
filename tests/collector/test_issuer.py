"""The issuer: every person once, nothing that names anyone on disk, and no token lost to a crash."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.collector.anonymous import StraightToIssuer, issuer_with, key_text, signer, survey_with, toml_with

from deniable.collector import AttestationCommand, Invitations, Issued, Issuer, issuer_key
from deniable.errors import InvalidParameter, NotAdmitted, NotDelivered
from deniable.privacy import REQUEST_MEDIA, REQUEST_PATH, Wallet
from deniable.surveys import survey_from_toml


def test_a_code_gives_its_tokens_once(tmp_path: Path) -> None:
    survey = survey_with()
    issuer = issuer_with(tmp_path, ["alpha", "beta"])
    mine, copy = Wallet(tmp_path / "mine.db"), Wallet(tmp_path / "copy.db")
    assert mine.fetch(survey, "alpha", StraightToIssuer(issuer)) == 1
    assert mine.fetch(survey, "alpha", StraightToIssuer(issuer)) == 1  # there is nothing more to ask for
    with pytest.raises(NotAdmitted, match="used before"):
        copy.fetch(survey, "alpha", StraightToIssuer(issuer))
    with pytest.raises(NotAdmitted, match="unknown"):
        Wallet(tmp_path / "third.db").fetch(survey, "gamma", StraightToIssuer(issuer))
    # What was refused is still asked for, with a code that is good.
    assert copy.fetch(survey, "beta", StraightToIssuer(issuer)) == 1


def test_an_answer_that_was_lost_costs_no_token(tmp_path: Path) -> None:
    survey = survey_with(tokens=3)
    issuer = issuer_with(tmp_path, ["alpha"], tokens=3)
    wallet, line = Wallet(tmp_path / "wallet.db"), StraightToIssuer(issuer)
    line.cut = True
    with pytest.raises(NotDelivered, match="kept"):
        wallet.fetch(survey, "alpha", line)
    line.cut = False
    again = Wallet(tmp_path / "wallet.db")
    assert again.fetch(survey, "alpha", line) == 3
    assert line.bodies[0] == line.bodies[1]


def test_tokens_are_bound_to_windows_ahead(tmp_path: Path) -> None:
    from datetime import date

    survey = survey_from_toml('repeat = "each-window"\nwindow = "month"\nbudget = 3\n' + toml_with(tokens=3))
    wallet = Wallet(tmp_path / "wallet.db")
    assert (
        wallet.fetch(survey, "alpha", StraightToIssuer(issuer_with(tmp_path, ["alpha"], tokens=3)), today=date(2026, 11, 30)) == 3
    )
    for period in ("2026-11", "2026-12", "2027-01"):
        token = wallet.token(survey.hash, period, period.encode())
        assert wallet.token(survey.hash, period, period.encode()) == token  # a retry spends no second one
        with pytest.raises(NotAdmitted, match="no token is left"):
            wallet.token(survey.hash, period, b"another report")
    assert wallet.left(survey.hash) == 0


def test_the_issuers_files_hold_no_code_and_no_token(tmp_path: Path) -> None:
    survey, code = survey_with(), "planted-invitation-code"
    issuer = issuer_with(tmp_path, [code])
    wallet = Wallet(tmp_path / "wallet.db")
    wallet.fetch(survey, code, StraightToIssuer(issuer))
    token = wallet.token(survey.hash, "", bytes(16))
    raw = (tmp_path / "issuer.db").read_bytes()
    assert code.encode() not in raw
    for part in (token.nonce, token.authenticator[:32], token.challenge_digest):
        assert part not in raw


def test_a_command_decides_who_is_admitted(tmp_path: Path) -> None:
    script = "import sys; name = sys.stdin.read(); print(name.split(':')[0]); sys.exit(not name.endswith(':right'))"
    attest = AttestationCommand((sys.executable, "-c", script))
    assert attest.person("ann:right") == "ann"
    assert attest.person("ann:wrong") is None
    issuer = Issuer([signer()], attest, Issued(tmp_path / "issuer.db", b"secret"))
    survey = survey_with()
    assert Wallet(tmp_path / "one.db").fetch(survey, "ann:right", StraightToIssuer(issuer)) == 1
    with pytest.raises(NotAdmitted):  # the same person with another credential
        Wallet(tmp_path / "two.db").fetch(survey, "ann:also:right", StraightToIssuer(issuer))
    gone = Issuer([signer()], AttestationCommand(("/nowhere/at/all",)), Issued(tmp_path / "issuer.db", b"secret"))
    with pytest.raises(NotDelivered, match="503"):
        Wallet(tmp_path / "three.db").fetch(survey, "ann:right", StraightToIssuer(gone))


def _asked(issuer: Issuer, path: str, *, method: str = "POST", body: bytes = b"", **headers: str) -> tuple[int, bytes]:
    said: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": body}

    async def send(message: Any) -> None:
        said.append(message)

    named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    asyncio.run(issuer({"type": "http", "method": method, "path": path, "headers": named}, receive, send))
    return said[0]["status"], said[1]["body"]


def test_bad_requests_get_a_reason(tmp_path: Path) -> None:
    issuer = issuer_with(tmp_path, ["alpha"])
    good = signer().public.ask(__import__("deniable.privacy", fromlist=["x"]).survey_challenge(survey_with(), "")).request
    bearer = "Bearer alpha"
    for body, headers, status in (
        (good, {"content_type": "text/plain", "authorization": bearer}, 415),
        (good[:-1], {"content_type": REQUEST_MEDIA, "authorization": bearer}, 400),
        (b"", {"content_type": REQUEST_MEDIA, "authorization": bearer}, 400),
        (good, {"content_type": REQUEST_MEDIA}, 401),
        (good, {"content_type": REQUEST_MEDIA, "authorization": "Bearer nobody"}, 403),
        (good[:2] + bytes([good[2] ^ 1]) + good[3:], {"content_type": REQUEST_MEDIA, "authorization": bearer}, 422),
        (good[:3] + b"\xff" * 256, {"content_type": REQUEST_MEDIA, "authorization": "Bearer alpha"}, 422),
    ):
        answer, data = _asked(issuer, REQUEST_PATH, body=body, **headers)
        assert answer == status
        assert json.loads(data)["title"]
        assert b"alpha" not in data
    status, data = _asked(issuer, "/.well-known/private-token-issuer-directory", method="GET")
    assert status == 200
    (key,) = json.loads(data)["token-keys"]
    assert key["token-type"] == 2
    assert key["token-key"].rstrip("=") == key_text()
    assert _asked(issuer, "/other", method="GET")[0] == 404
    # None of these cost a token: the code is still good for one.
    assert _asked(issuer, REQUEST_PATH, body=good, content_type=REQUEST_MEDIA, authorization=bearer)[0] == 200


def test_pages_of_other_sites_may_ask(tmp_path: Path) -> None:
    issuer = issuer_with(tmp_path, ["alpha"])
    assert _asked(issuer, REQUEST_PATH, method="OPTIONS") == (204, b"")
    assert _asked(issuer, "/other", method="OPTIONS")[0] == 404
    headers: list[list[tuple[bytes, bytes]]] = []

    async def send(message: Any) -> None:
        headers.append(message.get("headers", []))

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    for method in ("OPTIONS", "POST"):
        asyncio.run(issuer({"type": "http", "method": method, "path": REQUEST_PATH, "headers": []}, receive, send))
    allowed, refused = dict(headers[0]), dict(headers[2])
    assert allowed[b"access-control-allow-headers"] == b"authorization, content-type"
    assert allowed[b"access-control-allow-origin"] == refused[b"access-control-allow-origin"] == b"*"


def test_key_files_are_private(tmp_path: Path) -> None:
    made = issuer_key(tmp_path / "issuer.pem", new=True)
    assert issuer_key(tmp_path / "issuer.pem").text == made.text
    assert "secret" not in repr(made)
    with pytest.raises(FileExistsError):
        issuer_key(tmp_path / "issuer.pem", new=True)
    (tmp_path / "issuer.pem").chmod(0o644)
    with pytest.raises(InvalidParameter, match="chmod 600"):
        issuer_key(tmp_path / "issuer.pem")
    (tmp_path / "other.pem").write_text("no key")
    (tmp_path / "other.pem").chmod(0o600)
    with pytest.raises(InvalidParameter, match="--new-key"):
        issuer_key(tmp_path / "other.pem")
    (tmp_path / "none.txt").write_text("\n\n")
    with pytest.raises(InvalidParameter, match="no invitation codes"):
        Invitations(tmp_path / "none.txt")


@contextmanager
def running_issuer(folder: Path, *options: str) -> Iterator[dict[str, Any]]:
    command = [
        sys.executable,
        "-m",
        "deniable.cli",
        "issuer",
        "--port",
        "0",
        "--json",
        "--database",
        str(folder / "issuer.db"),
        *options,
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())
    finally:
        process.terminate()
        process.wait(30)
        assert process.stdout is not None
        process.stdout.close()


def test_the_command_issues_to_a_real_wallet(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from deniable.cli.app import main
    from deniable.surveys import HttpTransport

    run = CliRunner()
    key = run.invoke(main, ["issuer", "--new-key", str(tmp_path / "issuer.pem")]).output.strip()
    codes = run.invoke(main, ["issuer", "--new-codes", "3"]).output.split()
    assert len(set(codes)) == 3
    (tmp_path / "codes.txt").write_text("\n".join(codes))
    with running_issuer(tmp_path, "--key", str(tmp_path / "issuer.pem"), "--invitations", str(tmp_path / "codes.txt")) as said:
        assert said["keys"] == [key]
        survey = survey_from_toml(toml_with(issuer=said["address"], key=key))
        assert Wallet(tmp_path / "wallet.db").fetch(survey, codes[0], HttpTransport()) == 1
        with pytest.raises(NotAdmitted):
            Wallet(tmp_path / "second.db").fetch(survey, codes[0], HttpTransport())
    shown = run.invoke(main, ["wallet", "show", survey.hash, "--wallet", str(tmp_path / "wallet.db"), "--json"])
    assert json.loads(shown.output)["tokens"] == 1
    wrong = run.invoke(main, ["issuer", "--key", str(tmp_path / "issuer.pem")])
    assert wrong.exit_code == 2
    assert "--invitations" in wrong.output

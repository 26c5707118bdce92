"""`deniable serve` and `deniable token` when something is wrong: one line, the rule, the next step, and no traceback."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from deniable.cli.app import main

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")

from deniable.cli.serve import _announce, _open_surveys
from deniable.cli.survey_address import SurveyAddress, find_survey
from deniable.collector import Serving, Store
from deniable.errors import InvalidParameter

TOML = 'title="t"\npurpose="p"\nepsilon=1\n[attributes.x]\nquestion="q"\ndomain="categories:a,b,c"\n'


@pytest.fixture
def survey(tmp_path: Path) -> Path:
    path = tmp_path / "survey.toml"
    path.write_text(TOML)
    return path


def refused(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(main, [str(part) for part in arguments])
    assert result.exit_code in (1, 2), result.output
    assert len(result.stderr.strip().splitlines()) == 1, result.stderr
    return result


def test_a_port_in_use_names_the_way_out_and_makes_no_database(survey: Path, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        said = refused("serve", survey, "--port", port, "--database", f"sqlite:///{tmp_path / 'x.db'}").stderr
    assert f"port {port} of 127.0.0.1 cannot be used" in said
    assert "--port 0 any free one" in said
    assert not (tmp_path / "x.db").exists()


@pytest.mark.parametrize("database", ["nonsense", "mysql://x", "postgresql://x@y/z"])
def test_another_kind_of_database_is_refused(survey: Path, database: str) -> None:
    assert "must be a URL that begins with" in refused("serve", survey, "--port", "0", "--database", database).stderr


def test_a_file_that_is_no_database_is_refused(survey: Path) -> None:
    said = refused("serve", survey, "--port", "0", "--database", f"sqlite:///{survey}").stderr
    assert "database cannot be used: file is not a database" in said
    assert survey.read_text() == TOML


def test_a_database_that_cannot_be_reached_never_shows_its_password(survey: Path) -> None:
    database = "postgresql+psycopg://x:hunter2@127.0.0.1:1/x"
    said = CliRunner().invoke(main, ["serve", str(survey), "--port", "0", "--wait", "0", "--database", database])
    assert said.exit_code == 2
    assert "database cannot be used" in said.stderr.splitlines()[-1]
    assert "others on this machine can see the password" in said.stderr
    assert "hunter2" not in said.output


@pytest.mark.parametrize(
    ("data", "message"), [(b"\xff\xfe\x00", "not a text file"), (b"title = ", "survey.toml: the survey is not TOML")]
)
def test_a_file_that_is_no_survey_is_named(survey: Path, tmp_path: Path, data: bytes, message: str) -> None:
    survey.write_bytes(data)
    assert message in refused("serve", survey, "--port", "0", "--database", f"sqlite:///{tmp_path / 'x.db'}").stderr


def test_a_token_needs_a_name_and_tells_of_a_new_database(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path / 'x.db'}"
    made = CliRunner().invoke(main, ["token", "alice", "--database", database])
    assert len(made.stdout.strip()) == 43
    assert "is a new database" in made.stderr
    assert CliRunner().invoke(main, ["token", "bob", "--database", database]).stderr == ""
    assert "name must be" in refused("token", " ", "--database", database).stderr
    assert "already a token" in refused("token", "alice", "--database", database).stderr


def test_what_was_planned_and_what_is_closed_is_announced(survey: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import deniable.collector as collector

    database = f"sqlite:///{tmp_path / 'x.db'}"
    (found,) = _open_surveys(collector, database, (str(survey),))
    _announce("http://here", [found], as_json=False, dashboard=True)
    said = capsys.readouterr().out
    assert f"  t: http://here/v1/surveys/{found.survey.hash}\n" in said
    assert "    x: k-rr: the best of 9 mechanisms for 10,000 answers at epsilon 1" in said
    store = Store(database)
    store.close_survey(found.survey.hash)
    store.close()
    _announce("http://here", _open_surveys(collector, database, (str(survey),)), as_json=False, dashboard=True)
    assert "(closed)" in capsys.readouterr().out
    _announce("http://here", _open_surveys(collector, database, ()), as_json=False, dashboard=True)
    assert "No survey is open yet" in capsys.readouterr().out


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "survey.example.org", ""])
def test_other_machines_are_served_only_over_tls_or_behind_a_proxy(survey: Path, tmp_path: Path, host: str) -> None:
    database = f"sqlite:///{tmp_path / 'x.db'}"
    said = refused("serve", survey, "--port", "0", "--database", database, "--host", host).stderr
    assert "--tls-certificate" in said
    assert "--trusted-proxy" in said
    assert not (tmp_path / "x.db").exists()


@pytest.mark.parametrize(
    ("options", "warned"),
    [
        (("--host", "0.0.0.0", "--allow-plain-http"), True),
        (("--host", "0.0.0.0", "--trusted-proxy", "10.0.0.0/8"), False),
        (("--host", "127.0.0.2"), False),
    ],
)
def test_whoever_serves_in_the_clear_is_warned(
    survey: Path, tmp_path: Path, options: tuple[str, ...], warned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    import deniable.collector as collector

    served = []

    def stand_in(serving: Serving, listening: socket.socket, **_: object) -> None:
        listening.close()
        served.append(serving)

    monkeypatch.setattr(collector, "serve", stand_in)
    more = ["--connections", "50", "--connections-per-address", "5"]
    command = ["serve", str(survey), "--port", "0", "--database", f"sqlite:///{tmp_path / 'x.db'}", *options, *more]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 0, result.output
    assert ("WARNING" in result.stderr) == warned
    assert (served[0].limits.connections, served[0].limits.connections_per_address) == (50, 5)
    assert bool(served[0].proxies.networks) == ("--trusted-proxy" in options)


def test_a_proxy_is_declared_by_its_address(survey: Path) -> None:
    assert "--trusted-proxy must be" in refused("serve", survey, "--port", "0", "--trusted-proxy", "proxy.example.org").stderr


HASH = "0123456789abcdef" * 4
ADDRESSES = [
    f"https://x.org/v1/surveys/{HASH}",
    f"https://x.org/v1/surveys/{HASH}/",
    f"https://x.org/v1/surveys/{HASH}/estimates",
    f"https://x.org/results?survey={HASH}",
]


@pytest.mark.parametrize("url", ADDRESSES)
def test_a_survey_is_found_by_any_address_one_may_copy(url: str) -> None:
    assert find_survey(url) == SurveyAddress("https://x.org", HASH)
    assert find_survey(url.replace("x.org", "x.org/deep")) == SurveyAddress("https://x.org/deep", HASH)


@pytest.mark.parametrize(
    "url", ["", "nonsense", "ftp://x.org", "http://", "127.0.0.1:8000", f"https://x.org/v1/surveys/{HASH[:-1]}"]
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(InvalidParameter, match="URL"):
        find_survey(url)

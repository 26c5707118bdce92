"""A database of an earlier release is brought forward; one that is not ours, or of a later release, is left alone."""

from __future__ import annotations

import secrets
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="the collector's packages are not installed")

from sqlalchemy import create_engine, text

from deniable.batch import accumulator_for
from deniable.collector import Arrival, Store, schema, transactions
from deniable.collector.registry import digest
from deniable.collector.schema import APPLICATION, VERSION
from deniable.core import Report
from deniable.errors import InvalidParameter
from deniable.surveys import Survey, survey_from_toml

from .postgresql import postgresql
from .running import TOML, receipts

HERE = Path(__file__).parent
OLD_KEY = bytes(range(16))


def statements(name: str, version: int) -> list[str]:
    return [part for part in (HERE / f"version{version}.{name}.sql").read_text().split(";") if part.strip()]


def old_rows(survey: Survey) -> list[tuple[str, dict[str, object]]]:
    """A survey with one report, and a token."""
    sums = accumulator_for(survey.mechanism)
    sums.add([Report(survey.mechanism.fingerprint, 1)])
    return [
        (
            "INSERT INTO surveys (hash, document, open, stepped) VALUES (:hash, :document, true, 1)",
            {"hash": survey.hash, "document": survey.to_json()},
        ),
        ("INSERT INTO receipts VALUES (:hash, :key)", {"hash": survey.hash, "key": OLD_KEY}),
        ("INSERT INTO sums VALUES (:hash, '', 3, 1, :data)", {"hash": survey.hash, "data": sums.to_bytes()}),
        ("INSERT INTO tokens (digest, name, role) VALUES (:digest, 'alice', 'admin')", {"digest": digest("secret")}),
    ]


def old_database(url: str, dialect: str, version: int = 1) -> Survey:
    """A database as a release of that version made it, with a report."""
    survey = survey_from_toml(TOML)
    engine = create_engine(url)
    with engine.begin() as connection:
        for statement in statements(dialect, version):
            connection.execute(text(statement))
        for statement, values in old_rows(survey):
            connection.execute(text(statement), values)
    engine.dispose()
    return survey


def check_brought_forward(url: str, survey: Survey) -> None:
    """What was counted is counted, what was known is known, and the next report is counted too."""
    for _ in range(2):
        store = Store(url)
        try:
            assert store.sums(survey)[""].n >= 1
            assert store.tokens()[digest("secret")].name == "alice"
            old = Arrival(survey, "", OLD_KEY, [Report(survey.mechanism.fingerprint, 1)], 1)
            new = Arrival(survey, "", secrets.token_bytes(16), [Report(survey.mechanism.fingerprint, 2)], 1)
            assert store.count([old, new]) == [False, True]
        finally:
            store.close()


def test_sqlite_is_brought_forward_from_version_1(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'collector.db'}"
    check_brought_forward(url, old_database(url, "sqlite"))
    file = sqlite3.connect(tmp_path / "collector.db")
    marks = [file.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
    assert marks == [APPLICATION, VERSION]


def test_sqlite_is_brought_forward_from_version_2(tmp_path: Path) -> None:
    """Version 2 had no table for what waits beside large sums."""
    url = f"sqlite:///{tmp_path / 'collector.db'}"
    survey = old_database(url, "sqlite", 3)
    file = sqlite3.connect(tmp_path / "collector.db")
    file.executescript("DROP TABLE recent; PRAGMA user_version = 2")
    file.close()
    check_brought_forward(url, survey)


def test_sqlite_is_brought_forward_from_version_3(tmp_path: Path) -> None:
    """Up to version 3 the receipts of all surveys lay in one table."""
    url = f"sqlite:///{tmp_path / 'collector.db'}"
    survey = old_database(url, "sqlite", 3)
    check_brought_forward(url, survey)
    assert OLD_KEY in receipts(tmp_path / "collector.db")
    file = sqlite3.connect(tmp_path / "collector.db")
    assert [row[0] for row in file.execute("SELECT name FROM sqlite_master WHERE name LIKE 'receipts%'")] == ["receipts_1"]


@pytest.mark.heavy
def test_postgresql_is_brought_forward_from_version_3() -> None:
    with postgresql() as server:
        check_brought_forward(server.url, old_database(server.url, "postgresql", 3))


@pytest.mark.heavy
def test_postgresql_is_brought_forward_from_version_1_and_a_later_one_is_refused() -> None:
    with postgresql() as server:
        check_brought_forward(server.url, old_database(server.url, "postgresql"))
        engine = create_engine(server.url)
        with engine.begin() as connection:
            connection.execute(text("UPDATE deniable_schema SET version = 99"))
        with pytest.raises(InvalidParameter, match="tables of version 99"):
            Store(server.url)
        with engine.begin() as connection:
            connection.execute(text(f"UPDATE deniable_schema SET version = {VERSION}"))
            connection.execute(text("ALTER TABLE receipt_parts ADD COLUMN extra INTEGER"))
        engine.dispose()
        with pytest.raises(InvalidParameter, match="receipt_parts has a column extra"):
            Store(server.url)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (f"PRAGMA user_version = {VERSION + 97}", f"tables of version {VERSION + 97}"),
        ("PRAGMA application_id = 1", "another program"),
        ("ALTER TABLE sums ADD COLUMN extra INTEGER NOT NULL DEFAULT 1", "sums has a column extra"),
        ("ALTER TABLE tokens DROP COLUMN expires", "tokens lacks the column expires"),
        ("DROP TABLE steps", "lacks the table steps"),
    ],
)
def test_what_this_release_did_not_make_is_refused_and_left_alone(tmp_path: Path, statement: str, message: str) -> None:
    path = tmp_path / "collector.db"
    Store(f"sqlite:///{path}").close()
    file = sqlite3.connect(path)
    file.execute(statement)
    file.commit()
    file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file.close()
    before = path.read_bytes()
    with pytest.raises(InvalidParameter, match=message):
        Store(f"sqlite:///{path}")
    assert path.read_bytes() == before


def test_the_database_of_another_program_is_not_written_to(tmp_path: Path) -> None:
    path = tmp_path / "photos.db"
    file = sqlite3.connect(path)
    file.execute("CREATE TABLE photos (name)")
    file.commit()
    file.close()
    with pytest.raises(InvalidParameter, match="another program"):
        Store(f"sqlite:///{path}")


def test_a_version_1_marked_99_is_refused(tmp_path: Path) -> None:
    """Such a file was written to before versions were looked at."""
    url = f"sqlite:///{tmp_path / 'collector.db'}"
    old_database(url, "sqlite")
    file = sqlite3.connect(tmp_path / "collector.db")
    file.execute("PRAGMA user_version = 99")
    file.commit()
    file.close()
    with pytest.raises(InvalidParameter, match="another program"):
        Store(url)


def test_an_upgrade_from_the_present_version_can_be_rolled_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the operator's guide says: back up, start the next release, and go back by restoring the backup."""
    path, backup = tmp_path / "collector.db", tmp_path / "backup.db"
    url, survey = f"sqlite:///{path}", survey_from_toml(TOML)

    def count(store: Store) -> int:
        report = Report(survey.mechanism.fingerprint, 1)
        store.count([Arrival(survey, "", secrets.token_bytes(16), [report], 1)])
        return store.counted()[survey.hash]

    store = Store(url)
    store.add_survey(survey)
    assert [count(store) for _ in range(3)] == [1, 2, 3]
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(backup)) as copy:
        source.backup(copy)
    store.close()
    with monkeypatch.context() as following:
        following.setattr(schema, "VERSION", VERSION + 1)
        following.setattr(transactions, "VERSION", VERSION + 1)
        following.setattr(schema, "MIGRATIONS", {**schema.MIGRATIONS, VERSION: ("CREATE TABLE later (number INTEGER)",)})
        store = Store(url)
        assert count(store) == 4
        store.close()
    with pytest.raises(InvalidParameter, match=f"tables of version {VERSION + 1}"):
        Store(url)
    backup.replace(path)
    store = Store(url)
    assert count(store) == 4
    store.close()

"""The collector's tables: surveys, receipts, sums, steps, tokens, and reports where a survey allows keeping them."""

from __future__ import annotations

from sqlalchemy import (
    DDL,
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    event,
    select,
    union_all,
)

METADATA = MetaData()

SURVEYS = Table(
    "surveys",
    METADATA,
    Column("hash", String(64), primary_key=True),
    Column("document", LargeBinary, nullable=False),
    Column("open", Boolean, nullable=False),
    Column("stepped", BigInteger, nullable=False),
    Column("closed", BigInteger, nullable=True),
    Column("successor", String(64), nullable=True),
    Column("reports_days", Integer, nullable=True),
    Column("receipts_days", Integer, nullable=True),
    Column("receipt_windows", Integer, nullable=True),
)
"""`stepped` is when the survey was opened or its public numbers last moved, `closed` when it was closed, in seconds since 1970.

`successor` is the next round. Kept reports and receipts are deleted so many days after the survey was closed. Receipts of so many
windows before the present one are remembered; all of them where nothing is said."""
CHANGES = Table(
    "changes",
    METADATA,
    Column("name", String(16), primary_key=True),
    Column("number", BigInteger, nullable=False),
)
"""`catalog` moves when surveys or tokens change, so that every worker looks again; `write` is what `/readyz` writes."""
PLANS = Table(
    "plans",
    METADATA,
    Column("source", LargeBinary(32), primary_key=True),
    Column("survey", String(64), ForeignKey("surveys.hash"), nullable=False, index=True),
    Column("reasons", Text, nullable=False),
)
"""SHA-256 of a survey file, what it was compiled to, and why: the same file stays the same survey, whatever is planned later."""
COMPARED = Table(
    "compared",
    METADATA,
    Column("survey", String(64), ForeignKey("surveys.hash"), primary_key=True),
    Column("family", LargeBinary(32), nullable=False, index=True),
    Column("name", Text, nullable=False),
    Column("place", Integer, nullable=False),
)
"""Surveys of one family ask different groups the same; the name is the group's, the place its place in the file."""
PARTS = Table(
    "receipt_parts",
    METADATA,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("survey", String(64), ForeignKey("surveys.hash"), nullable=False, index=True),
    Column("period", String(16), nullable=False),
    sqlite_autoincrement=True,
)
"""The tables of keys that were counted, `receipts_7` and so on; keys, no time, no address. A number is never used again.

The period is empty where a part is not of one window."""
SPENT = Table(
    "spent_tokens",
    METADATA,
    Column("survey", String(64), ForeignKey("surveys.hash"), primary_key=True),
    Column("nonce", LargeBinary(16), primary_key=True),
    Column("key", LargeBinary(16), nullable=False),
    sqlite_with_rowid=False,
)
"""Which one-time tokens were spent, each with the key of its report: who comes again with the same report is not refused."""
SUMS = Table(
    "sums",
    METADATA,
    Column("survey", String(64), ForeignKey("surveys.hash"), primary_key=True),
    Column("period", String(16), primary_key=True),
    Column("shard", Integer, primary_key=True),
    Column("n", BigInteger, nullable=False),
    Column("data", LargeBinary, nullable=False),
)
"""One accumulator per survey, window and shard; writers use different shards so that they do not wait for each other."""
RECENT = Table(
    "recent",
    METADATA,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("survey", String(64), ForeignKey("surveys.hash"), nullable=False, index=True),
    Column("period", String(16), nullable=False),
    Column("n", BigInteger, nullable=False),
    Column("data", LargeBinary, nullable=False),
)
"""What was counted in one transaction, in random order, of surveys whose sums are too large to be written for a few reports.

They are added to the sums, and deleted, whenever somebody reads the sums or the files are tidied up."""
COUNTS = union_all(select(SUMS.c.survey, SUMS.c.period, SUMS.c.n), select(RECENT.c.survey, RECENT.c.period, RECENT.c.n)).subquery(
    "counts"
)
"""Numbers of reports, by survey and window."""
STEPS = Table(
    "steps",
    METADATA,
    Column("survey", String(64), ForeignKey("surveys.hash"), primary_key=True),
    Column("period", String(16), primary_key=True),
    Column("shown_n", BigInteger, nullable=False),
    Column("shown", LargeBinary, nullable=False),
    Column("taken_n", BigInteger, nullable=False),
    Column("taken", LargeBinary, nullable=False),
)
"""What is public of every window: the sums shown under its name, and those that also count in the survey's total."""
INCOMING = Table(
    "incoming",
    METADATA,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("survey", String(64), ForeignKey("surveys.hash"), nullable=False, index=True),
    Column("period", String(16), nullable=False),
    Column("mixed", Boolean, nullable=False),
    Column("data", LargeBinary, nullable=False),
)
"""The latest reports of surveys that keep them, until enough are together to be mixed for good."""
REPORTS = Table(
    "reports",
    METADATA,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("survey", String(64), ForeignKey("surveys.hash"), nullable=False, index=True),
    Column("period", String(16), nullable=False),
    Column("data", LargeBinary, nullable=False),
)
"""Batches in wire form, in random order, only for surveys whose document says keep_reports. Rows are never changed."""
REWRITTEN = [SUMS, INCOMING, RECENT]
"""Tables whose rows are replaced all the time: their old versions would give away single reports."""
for _table in REWRITTEN:
    # PostgreSQL's statistics would keep copies of old values.
    _no_statistics = DDL(f"ALTER TABLE {_table.name} ALTER COLUMN data SET STATISTICS 0")  # type: ignore[no-untyped-call]
    event.listen(_table, "after_create", _no_statistics.execute_if(dialect="postgresql"))
TOKENS = Table(
    "tokens",
    METADATA,
    Column("digest", LargeBinary(32), primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("role", String(16), nullable=False),
    Column("expires", BigInteger, nullable=True),
)
"""SHA-256 of the tokens; a token has 256 random bits, so a plain hash cannot be guessed."""

"""The collector's tables: surveys, receipts, sums, tokens, and reports where a survey allows keeping them."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Integer, LargeBinary, MetaData, String, Table, Text

METADATA = MetaData()

SURVEYS = Table(
    "surveys",
    METADATA,
    Column("hash", String(64), primary_key=True),
    Column("document", LargeBinary, nullable=False),
    Column("open", Boolean, nullable=False),
)
PLANS = Table(
    "plans",
    METADATA,
    Column("source", LargeBinary(32), primary_key=True),
    Column("survey", String(64), ForeignKey("surveys.hash"), nullable=False, index=True),
    Column("reasons", Text, nullable=False),
)
"""SHA-256 of a survey file, what it was compiled to, and why: the same file stays the same survey, whatever is planned later."""
RECEIPTS = Table(
    "receipts",
    METADATA,
    Column("survey", String(64), ForeignKey("surveys.hash"), primary_key=True),
    Column("key", LargeBinary(16), primary_key=True),
    sqlite_with_rowid=False,
)
"""The keys that were counted. No time, no address, no order."""
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
REPORTS = Table(
    "reports",
    METADATA,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True),
    Column("survey", String(64), ForeignKey("surveys.hash"), nullable=False, index=True),
    Column("period", String(16), nullable=False),
    Column("data", LargeBinary, nullable=False),
)
"""Batches in wire form, only for surveys whose document says keep_reports."""
TOKENS = Table(
    "tokens",
    METADATA,
    Column("digest", LargeBinary(32), primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("role", String(16), nullable=False),
)
"""SHA-256 of the tokens; a token has 256 random bits, so a plain hash cannot be guessed."""

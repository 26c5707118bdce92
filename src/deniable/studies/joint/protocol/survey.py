"""The public document two users must agree on: the round, the law, who takes part, and the joint bytes that pair them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from deniable.errors import InvalidParameter
from deniable.studies.joint.protocol.hashing import tagged_hash
from deniable.studies.joint.protocol.joint_randomness import JointRandomness
from deniable.studies.joint.protocol.pairing import Pairing, pair_users
from deniable.studies.joint.protocol.thresholds import Thresholds

NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}")
VERSION = 2


@dataclass(frozen=True)
class JointSurvey:
    """One yes-or-no question, answered in pairs. Experimental: both partners must follow the protocol."""

    round_name: str
    thresholds: Thresholds
    """The law in integers; everyone can check what it protects."""
    users: Mapping[str, bytes] = field(default_factory=dict)
    """Public keys by name."""
    joint: bytes | None = None
    """The result of joint randomness; two users need none, for they can be paired in one way only."""
    committee: tuple[bytes, ...] = ()
    """Public keys of the members who keep shares of everybody's contribution; member 1 first."""
    board: bytes | None = None
    """The public key of whoever keeps the public record."""
    excluded: frozenset[str] = frozenset()
    """Users who revealed something false: their contribution counted, but nobody answers with them."""

    def __post_init__(self) -> None:
        for name in (self.round_name, *self.users):
            if not NAME.fullmatch(name):
                raise InvalidParameter("names must have 1 to 64 letters, digits, dots, hyphens or underscores")
        keys = [*self.users.values(), *self.committee, *([] if self.board is None else [self.board])]
        if any(len(key) != 32 for key in keys):
            raise InvalidParameter("public keys must be 32 bytes")
        if len(set(keys)) != len(keys):
            raise InvalidParameter("public keys must differ: everyone makes their own key pair")
        if not self.excluded <= set(self.users):
            raise InvalidParameter("excluded must name users of the survey")
        if self.joint is not None and len(self.joint) != 32:
            raise InvalidParameter("joint must be 32 bytes")
        _ = self.thresholds.table

    @property
    def context(self) -> bytes:
        """32 bytes that differ when anything in the document differs."""
        return tagged_hash("survey", self.to_json().encode())

    def with_user(self, name: str, public: bytes) -> JointSurvey:
        """The same survey with one more user."""
        if name in self.users and self.users[name] != public:
            raise InvalidParameter(f"{name!r} takes part already, with another key")
        return replace(self, users={**self.users, name: public})

    def pairing(self) -> Pairing:
        """Who answers with whom."""
        if self.joint is None:
            if len(self.users) > 2:
                raise InvalidParameter(
                    "joint is needed to pair more than two users; see deniable.studies.joint.protocol.joint_randomness"
                )
            return pair_users(bytes(32), list(self.users))
        return pair_users(self.joint, list(self.users)).without(self.excluded)

    @property
    def pairing_round(self) -> str:
        """The name of the round of joint randomness: it binds the law, the users, the committee and the board."""
        return f"{self.round_name} {replace(self, joint=None, excluded=frozenset()).context.hex()}"

    def paired(self, randomness: JointRandomness) -> JointSurvey:
        """The survey of those who took part in a finished round, with its joint bytes."""
        if randomness.round_name != self.pairing_round:
            raise InvalidParameter("this record belongs to another survey, or to another version of it")
        taking_part = {name: self.users[name] for name in randomness.participants if name in self.users}
        if len(taking_part) != len(randomness.participants):
            raise InvalidParameter("the record names users who are not in the survey")
        return replace(self, users=taking_part, joint=randomness.result(), excluded=frozenset(randomness.false_reveals))

    def to_json(self) -> str:
        """The document, always written the same way."""
        document: dict[str, Any] = {
            "deniable joint survey": VERSION,
            "round": self.round_name,
            "thresholds": [str(bound) for bound in (self.thresholds.first, self.thresholds.second, self.thresholds.third)],
            "users": {name: key.hex() for name, key in sorted(self.users.items())},
            "joint": None if self.joint is None else self.joint.hex(),
            "committee": [key.hex() for key in self.committee],
            "board": None if self.board is None else self.board.hex(),
            "excluded": sorted(self.excluded),
        }
        return json.dumps(document, indent=1)

    @classmethod
    def from_json(cls, text: str) -> JointSurvey:
        """Read a document; anything unusual is refused."""
        try:
            document = json.loads(text)
            if document.pop("deniable joint survey") != VERSION:
                raise InvalidParameter("the survey is of a version this release does not read")
            first, second, third = (_whole(bound) for bound in document.pop("thresholds"))
            users = {str(name): bytes.fromhex(key) for name, key in document.pop("users").items()}
            joint, board = _optional(document.pop("joint")), _optional(document.pop("board"))
            committee = tuple(bytes.fromhex(key) for key in document.pop("committee"))
            excluded = frozenset(map(str, document.pop("excluded")))
            law = Thresholds(first, second, third)
            survey = cls(document.pop("round"), law, users, joint, committee, board, excluded)
        except InvalidParameter:
            raise
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as broken:
            raise InvalidParameter("the survey is not a well-formed joint survey document") from broken
        if document:
            raise InvalidParameter("the survey holds fields this release does not know")
        return survey

    @classmethod
    def load(cls, path: Path) -> JointSurvey:
        """Read a document from a file."""
        try:
            return cls.from_json(path.read_text(encoding="utf-8"))
        except OSError as missing:
            raise InvalidParameter("the survey file cannot be read; make it with: deniable joint survey") from missing


def _optional(text: str | None) -> bytes | None:
    return None if text is None else bytes.fromhex(text)


def _whole(text: str) -> int:
    if not re.fullmatch(r"0|[1-9][0-9]{0,19}", text):
        raise ValueError
    return int(text)

"""One recipe, one name: SHA-256 by whichever code this Python has."""

from __future__ import annotations

import hashlib
import importlib
from types import ModuleType
from typing import Any

import pytest

from deniable.errors import NotSupported

names: Any = importlib.import_module("deniable.core.reports.fingerprint")  # the function of that name hides its module


def only(*homes: str) -> object:
    def import_module(home: str) -> ModuleType:
        if home in homes:
            return importlib.import_module(home)
        raise ImportError(home)

    return import_module


@pytest.mark.parametrize("data", [b"", b"abc", bytes(range(256)) * 5])
def test_every_home_of_sha256_gives_the_same(data: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = hashlib.sha256(data).hexdigest()
    assert names.sha256(data) == expected
    monkeypatch.setattr(names, "import_module", only("hashlib"))
    assert names.sha256(data) == expected


def test_a_python_without_sha256_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names, "import_module", only())
    with pytest.raises(NotSupported, match="SHA-256"):
        names.fingerprint({}, {})

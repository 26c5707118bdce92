"""A service under audit is asked directly, whatever proxy the environment names."""

from __future__ import annotations

import numpy as np
import pytest
from tests.surveys.test_transport import noting

from deniable.privacy import HttpClient


def test_a_service_over_plain_http_is_not_asked_through_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    with noting() as service, noting() as proxy:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.address)
        monkeypatch.delenv("no_proxy", raising=False)
        HttpClient(f"{service.address}/").draw([1], np.zeros(2, np.intp))
        assert len(service.seen) == 2
        assert proxy.seen == []

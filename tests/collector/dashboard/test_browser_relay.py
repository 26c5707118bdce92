"""A page of another site sends through a real relay, from a real browser. Needs Debian's chromium and playwright."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.collector.running import collector, counted
from tests.collector.test_relay import relaying

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"]
SDK = Path(__file__).parents[3] / "sdk" / "js" / "src"
SEND = """async ([relay, collector, hash]) => {
  const { Ledger, MemoryStore, Session, throughRelay } = await import("/index.js");
  const session = await Session.open(collector, hash, new Ledger(new MemoryStore()), { fetch: await throughRelay(relay) });
  return (await session.answer({ commute: "bus" })).delivered;
}"""
WITHOUT = """async (relay) => {
  const { throughRelay } = await import("/index.js");
  SubtleCrypto.prototype.generateKey = async () => { throw new DOMException("", "NotSupportedError"); };
  try { await throughRelay(relay); } catch (error) { return error.message; }
}"""

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: the pages are not tested in a browser")
pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(not CHROMIUM.exists(), reason="/usr/bin/chromium is not there: apt-get install chromium"),
]


class _Quiet(SimpleHTTPRequestHandler):
    extensions_map = {".js": "text/javascript", "": "application/octet-stream"}  # noqa: RUF012 - as in the standard library

    def log_message(self, *words: object) -> None:
        """Say nothing."""


@contextmanager
def other_site() -> Iterator[str]:
    """The client's files at an origin of their own."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(SDK))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_browser_sends_through_the_relay_and_never_to_the_collector(tmp_path: Path) -> None:
    options = ("--gateway-keys", str(tmp_path / "keys"))
    with (
        collector(tmp_path, options=options) as running,
        relaying(running.address) as relay,
        other_site() as site,
        sync_api.sync_playwright() as playwright,
        tempfile.TemporaryDirectory() as profile,
    ):
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS, env={**os.environ, "HOME": profile})
        page = browser.new_page()
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{site}/errors.js")  # any page of that site
        before = counted(running)
        assert page.evaluate(SEND, [relay, running.address, running.hash]) is True
        assert counted(running) == before + 1
        assert {urlsplit(url).netloc for url in asked} == {urlsplit(site).netloc, urlsplit(relay).netloc}
        assert "no X25519" in page.evaluate(WITHOUT, relay)
        browser.close()

"""The application in this process, without a socket: for tests that ask it many times."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from deniable.collector import Store, make_app, routes


class Inside:
    """An application over a store, and requests to it."""

    def __init__(self, store: Store, **how: Any) -> None:
        self.store = store
        self.app = make_app(store, pages=routes(), **how)
        self._loop = asyncio.new_event_loop()

    def get(self, path: str, token: str | None = None) -> tuple[int, bytes]:
        return self._loop.run_until_complete(self._ask("GET", path, b"", None if token is None else f"Bearer {token}"))

    def post(
        self, path: str, body: bytes, kind: str = "application/json", *, authorization: str | None = None
    ) -> tuple[int, bytes]:
        return self._loop.run_until_complete(self._ask("POST", path, body, authorization, kind))

    def json(self, path: str, token: str | None = None) -> Any:
        status, body = self.get(path, token)
        assert status == 200, body
        return json.loads(body)

    def close(self) -> None:
        self.app.state.collector.writer.close()
        self.store.close()
        self._loop.close()

    async def _ask(self, method: str, path: str, body: bytes, authorization: str | None, kind: str = "") -> tuple[int, bytes]:
        path, _, query = path.partition("?")
        headers = [(b"authorization", authorization.encode())] if authorization else []
        headers += [(b"content-type", kind.encode())] if kind else []
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": headers,
            "client": None,
            "server": ("127.0.0.1", 80),
        }
        waiting = [{"type": "http.request", "body": body, "more_body": False}]
        said: list[Any] = []

        async def receive() -> Any:
            if not waiting:
                await asyncio.sleep(3600)
            return waiting.pop()

        async def send(message: Any) -> None:
            said.append(message)

        await self.app(scope, receive, send)
        return said[0]["status"], b"".join(message.get("body", b"") for message in said[1:])

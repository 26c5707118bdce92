"""Which address gives which file or handler; all files are read once, and nothing else of the disk can be asked for."""

from __future__ import annotations

import hashlib
import html
import json
import re
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from deniable.collector.dashboard.bundle import bundled
from deniable.collector.dashboard.handlers import explorer, map_of_places, privacy
from deniable.collector.state import State

HERE = Path(__file__).parent
STATIC = HERE / "static"
SDK_PLACES = (HERE / "sdk", HERE.parents[3] / "sdk" / "js" / "src")
"""The JavaScript client: inside an installed package, or in a checkout, where sdk/js is its only home."""
PAGES = {"/": "surveys", "/results": "results", "/privacy": "privacy", "/explore": "explore", "/answer": "answer"}
"""Every page's script, which is also the name of its title in words.js; the rest is page.html, the same for all."""
_FRAME = re.compile(r"^export const FRAME = (\{.*?^\});", re.MULTILINE | re.DOTALL)
KINDS = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml", ".json": "application/json"}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Nothing may be loaded from anywhere else, and no script may be written into a page."""
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


def routes() -> list[Route]:
    """The pages, their files, the JavaScript client, and the few answers the API does not give."""
    page_routes = [_route(address, _page(script), ".html") for address, script in PAGES.items()]
    files = {f"/static/{path.name}": path for path in sorted(STATIC.iterdir()) if path.suffix != ".html"}
    sdk = sdk_folder()
    files |= {f"/sdk/{path.relative_to(sdk).as_posix()}": path for path in sorted(sdk.rglob("*.js"))}
    page_routes += [_route(address, path.read_bytes(), path.suffix) for address, path in files.items()]
    page_routes += [_route(f"/sdk/{name}", data, Path(name).suffix) for name, data in bundled(sdk).items()]
    return [
        *page_routes,
        Route("/dashboard/surveys/{hash}/privacy", privacy),
        Route("/dashboard/surveys/{hash}/explorer", explorer),
        Route("/dashboard/surveys/{hash}/map", map_of_places),
    ]


def frame_words() -> dict[str, str]:
    """The words that stand in a page before its script runs."""
    written = _FRAME.search((STATIC / "words.js").read_text(encoding="utf-8"))
    assert written is not None
    frame: dict[str, str] = json.loads(written[1])
    return frame


def _page(script: str) -> bytes:
    words = frame_words()
    text = (STATIC / "page.html").read_text(encoding="utf-8")
    for mark, word in {
        "SCRIPT": script,
        "TITLE": words[script],
        **{name.upper(): words[name] for name in ("language", "skip", "loading", "noscript")},
    }.items():
        text = text.replace(f"PAGE_{mark}", html.escape(word))
    return text.encode()


def sdk_folder() -> Path:
    """Where the JavaScript client's files are."""
    return next(place for place in SDK_PLACES if place.is_dir())


def _route(address: str, data: bytes, suffix: str) -> Route:
    tag = f'"{hashlib.sha256(data).hexdigest()[:32]}"'
    kind = KINDS[suffix]

    async def give(request: Request) -> Response:
        state: State = request.app.state.collector
        await state.admit(request, role=None)
        headers = {**HEADERS, "ETag": tag}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(data, media_type=kind, headers=headers)

    return Route(address, give)

"""Serves the page over HTTP; data requests need the token from the printed address."""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from prorl_common import on_interrupt
from prorl_common.serving.options import ListenOptions
from prorl_common.serving.server import listening, make_server
from prorl_viewer.answering import answer, encode
from prorl_viewer.subject import Subject, list_subjects

PAGE = Path(__file__).parent / "page"
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}


def serve(
    subjects: Callable[[], Sequence[Subject]],
    port: int,
    ready: Callable[[str], None],
    say: Callable[[str], None],
    share_safe: bool = False,
    hosts: Sequence[str] = (),
) -> None:
    """Serve ``subjects`` on the loopback address until Ctrl-C or SIGTERM; ``ready`` is called with the address.

    ``port`` 0 chooses a free port. ``hosts`` are additional host names to accept. Raises UserError if the port is in
    use.
    """
    token = secrets.token_urlsafe(24)
    app = build_app(subjects, token, share_safe)
    options = ListenOptions(port=port, queue=1, hosts=tuple(hosts))

    async def run(address: str) -> None:
        server = make_server(app, options, lambda: ready(f"{address}/?token={token}"), say)
        await server.serve(sockets=[sock])

    with listening(options) as (sock, address), on_interrupt(None):
        asyncio.run(run(address))


def build_app(
    subjects: Callable[[], Sequence[Subject]], token: str, share_safe: bool = False
) -> Starlette:
    """Return the HTTP application that shows runs, datasets and evaluations; ``subjects`` must be thread-safe."""

    async def index(request: Request) -> Response:
        if not _same_token(request.query_params.get("token", ""), token):
            words = "the token is missing or outdated: open the address that prorl view printed\n"
            return PlainTextResponse(words, 403, HEADERS)
        return FileResponse(PAGE / "index.html", headers=HEADERS)

    async def listed(request: Request) -> Response:
        if (refused := _refused(request, token)) is not None:
            return refused

        def all_subjects() -> list[dict[str, Any]]:
            return list_subjects(subjects(), _version)

        rows = await run_in_threadpool(all_subjects)
        return _json({"subjects": rows, "share_safe": share_safe}, False)

    async def answered(request: Request) -> Response:
        if (refused := _refused(request, token)) is not None:
            return refused
        name = request.path_params["subject"]
        current = await run_in_threadpool(subjects)
        subject = next((s for s in current if s.name == name), None)
        if subject is None:
            return _json({"error": "unknown subject"}, False, 404)
        acts = request.method == "POST"  # HEAD is handled as GET
        pages = subject.actions() if acts else subject.pages()
        page = pages.get(request.path_params["page"])
        if page is None:
            return _json({"error": "unknown page"}, False, 404)
        query = dict(request.query_params)
        if share_safe and query.get("q"):  # searches could reveal the texts word by word
            return _json(
                {"error": "this page omits all texts, so they cannot be searched"}, False, 400
            )
        status, data = await run_in_threadpool(answer, page, query, share_safe)
        return Response(data, status, HEADERS, media_type="application/json")

    return Starlette(
        routes=[
            Route("/", index),
            Route("/api/subjects", listed),
            Route("/api/{subject}/{page}", answered, methods=["GET", "POST"]),
            Mount("/page", _Files(directory=PAGE)),
        ],
        middleware=[Middleware(GZipMiddleware, compresslevel=5)],
    )


def _version(subject: Subject) -> str:
    try:
        return subject.version()
    except OSError as error:
        return type(error).__name__


class _Files(StaticFiles):
    def file_response(self, *arguments: Any, **options: Any) -> Response:
        response = super().file_response(*arguments, **options)
        response.headers.update(HEADERS | {"Cache-Control": "no-cache"})
        return response


def _json(value: Any, share_safe: bool, status: int = 200) -> Response:
    data = encode(value, share_safe)
    return Response(data, status, HEADERS, media_type="application/json")


def _refused(request: Request, token: str) -> Response | None:
    scheme, _, presented = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and _same_token(presented.strip(), token):
        return None
    return _json(
        {"error": "a token is required: open the address that prorl view printed"}, False, 401
    )


def _same_token(presented: str, token: str) -> bool:
    return hmac.compare_digest(presented.encode(), token.encode())

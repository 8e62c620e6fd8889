"""Chromium through Playwright, and the viewer's server. PRORL_PICTURES=FOLDER keeps screenshots."""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="the extra 'server' is not installed")

from prorl_common.serving.options import ListenOptions
from prorl_common.serving.server import listening, make_server
from prorl_viewer import Subjects
from prorl_viewer.app import build_app

PATIENCE = 60_000
"""Timeout of the page in milliseconds, large enough for a busy machine."""
TOKEN = "a-token-of-the-tests"
SIZES = {"desktop": (1280, 900), "phone": (390, 844)}
Serve = Callable[..., str]
Open = Callable[..., Any]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Debian's Chromium for one test file: Playwright's event loop must not run during the next file's tests."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        words = "no Chromium on this machine: apt-get install chromium"
        if os.environ.get("CI") == "true":
            pytest.fail(words)
        pytest.skip(words)
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        # Chromium's own sandbox does not start for root
        opened = started.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture
def expect(browser: Any) -> Any:
    """Playwright's ``expect``, which retries until the condition holds."""
    from playwright.sync_api import expect

    expect.set_options(timeout=PATIENCE)
    return expect


@contextlib.contextmanager
def serving(paths: tuple[Path, ...], share_safe: bool) -> Iterator[str]:
    """Serve a page of ``paths`` from a thread, as ``prorl view`` does; yields its address."""
    options = ListenOptions(port=0, queue=1)
    servers: queue.Queue[Any] = queue.Queue()

    async def run(app: Any, sock: socket.socket) -> None:
        server = make_server(app, options, lambda: servers.put(server), print)
        await server.serve(sockets=[sock])

    with contextlib.closing(Subjects(paths)) as subjects, listening(options) as (sock, address):
        app = build_app(subjects.now, TOKEN, share_safe)
        thread = threading.Thread(target=lambda: asyncio.run(run(app, sock)))
        thread.start()
        server = servers.get(timeout=60)
        yield f"{address}/?token={TOKEN}"
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def serve() -> Iterator[Serve]:
    """Return a function that returns the address of a page of paths, served once per test file."""
    addresses: dict[tuple[tuple[Path, ...], bool], str] = {}
    with contextlib.ExitStack() as stack:

        def start(*paths: Path, share_safe: bool = False) -> str:
            if (paths, share_safe) not in addresses:
                addresses[paths, share_safe] = stack.enter_context(serving(paths, share_safe))
            return addresses[paths, share_safe]

        yield start


@pytest.fixture
def look(browser: Any) -> Iterator[Open]:
    """Return a function that opens an address in a new window and fails the test if the page raises an error."""
    contexts: list[Any] = []
    faults: list[str] = []

    def opened(address: str, size: str = "desktop", theme: str = "light") -> Any:
        width, height = SIZES[size]
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=theme,
            has_touch=size == "phone",
        )
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("dialog", lambda dialog: faults.append(f"a dialog: {dialog.message}"))
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert faults == []


@pytest.fixture
def picture() -> Callable[[Any, str], None]:
    """Return a function that takes a screenshot if ``PRORL_PICTURES`` is set."""
    folder = os.environ.get("PRORL_PICTURES", "")

    def take(page: Any, name: str) -> None:
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            page.screenshot(path=str(Path(folder) / f"{name}.png"))

    return take


@pytest.fixture
def accessible() -> Callable[[Any], None]:
    """Return a function that fails if axe finds a serious accessibility problem on a page."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")

    def check(page: Any) -> None:
        found = axe.Axe().run(page).response["violations"]
        grave = [
            (one["id"], [node["html"][:200] for node in one["nodes"]][:3])
            for one in found
            if one["impact"] in ("serious", "critical")
        ]
        assert grave == []

    return check

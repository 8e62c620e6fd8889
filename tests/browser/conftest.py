"""Chromium through Playwright, and a running ``prorl view``. PRORL_PICTURES=FOLDER keeps screenshots."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

PATIENCE = 60_000
"""Timeout of the page in milliseconds, large enough for a busy machine."""
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


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """Return a function that returns the address of a ``prorl view`` of paths, started once per test file."""
    started: dict[tuple[str, ...], tuple[subprocess.Popen[str], str]] = {}
    errors = tmp_path_factory.mktemp("view") / "view.txt"

    def start(*arguments: object) -> str:
        words = tuple(map(str, arguments))
        if words not in started:
            command = [sys.executable, "-m", "prorl_cli", "view", *words]
            with errors.open("a") as log:
                process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)
            assert process.stdout is not None
            started[words] = process, process.stdout.readline().strip()
            assert started[words][1], errors.read_text()
        return started[words][1]

    yield start
    for process, _ in started.values():
        process.terminate()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


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

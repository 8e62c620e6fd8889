from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from prorl_common.rollout_files import rollout_file
from prorl_viewer import find_subjects, write_html
from prorl_viewer.runs.testing import write_run

EVIL = "\u202e<img src=x onerror=alert(1)><a href='javascript:alert(2)'>\"'`${alert(3)}\x00\u200b"
NAMES = ("__proto__", "constructor", "toString", "<script>alert(4)</script>")
FOLDER = "r<svg onload=alert(5)> %2f#?&'\"\u202e__proto__"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("hostile") / FOLDER
    write_run(path, 40, rollouts=(39, 40))
    with (path / "metrics.jsonl").open("a") as file:
        for step in range(41, 45):
            parts = {name: {"reward_mean": 0.5, "groups": 2, "responses": 4} for name in NAMES}
            row = {"step": step, "reward_mean": 0.5, "domains": parts, "tasks": parts}
            file.write(json.dumps(row | dict.fromkeys(NAMES, 1.0)) + "\n")
    with (path / "decisions.jsonl").open("a") as file:
        for step, kind in enumerate(NAMES, start=41):
            evidence = dict.fromkeys(NAMES, EVIL) | {"deep": [[[[[[[EVIL]]]]]]]}
            decision = {"step": step, "kind": kind, "reason": EVIL, "evidence": evidence}
            file.write(json.dumps(decision) + "\n")
    rollouts = rollout_file(path, 40)
    table = parquet.read_table(rollouts)
    for at, column in enumerate(table.schema):
        if column.type == pa.string():
            name = NAMES[at % len(NAMES)]
            text = name if column.name in ("domain", "task", "status", "sample_id") else EVIL
            table = table.set_column(at, column, pa.array([text] * table.num_rows))
    parquet.write_table(table, rollouts)
    return path


VIEWS = (
    "run",
    "run?by=domain",
    "run?by=task",
    "run?at=42",
    "run?step=42",
    "run?x=constructor&by=__proto__&mean=toString",
    "rollouts",
    "rollouts?at=40.0",
    "rollouts?at=40.0&colour=constructor",
    "rollouts?at=99.99",
    "rollouts?group=40&sample=__proto__",
    "rollouts?prompt=constructor",
    "rollouts?domain=__proto__&sort=toString",
)


def _walk(page: Any, base: str, subject: str) -> None:
    for view in VIEWS:
        page.goto(f"{base}#/{subject}/{view}")
        page.wait_for_selector("main :is(h1, h2, table, .error, .none)")
        page.wait_for_timeout(150)
        text = page.inner_text("body")
        assert "\u202e" not in text + page.title(), view
        assert "this view has a fault" not in text, (view, text[:300])
        assert page.locator("main img, main script, main a[href^='javascript']").count() == 0


def _encoded(page: Any, name: str) -> str:
    return str(page.evaluate("name => encodeURIComponent(name)", name))


def test_hostile_names_and_texts_do_nothing(made: Path, serve: Any, look: Any) -> None:
    address = serve(made)
    page = look(address)
    page.wait_for_selector("main h1")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    _walk(page, address, _encoded(page, FOLDER))
    assert page.evaluate("() => ({}).x === undefined && Object.keys(Object.prototype).length === 0")
    origin = page.evaluate("() => location.origin")
    assert all(url.startswith((origin, "data:")) for url in asked)
    token = address.partition("token=")[2]
    kept = page.evaluate(
        "() => JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])"
    )
    assert token not in kept + page.title()


def test_an_exported_hostile_run_asks_nothing_of_the_network(
    made: Path, tmp_path: Path, look: Any
) -> None:
    file = tmp_path / "a#b?c%20.html"
    write_html(find_subjects([made]), file)
    page = look(file.as_uri())
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.wait_for_selector("main h1")
    _walk(page, file.as_uri(), _encoded(page, FOLDER))
    assert all(url.startswith(("file:", "data:")) for url in asked)


def test_an_address_that_was_cut_shows_the_page_all_the_same(
    made: Path, serve: Any, look: Any
) -> None:
    address = serve(made)
    for cut in ("#/%E0%A4%A/run", "#/%", "#//////", "#/?=&&&=%", "#/__proto__/constructor"):
        page = look(f"{address}{cut}")
        page.wait_for_selector("main :is(h1, h2, .error)")


def test_a_share_safe_page_is_walked_through_without_a_fault(
    made: Path, tmp_path: Path, serve: Any, look: Any
) -> None:
    run = Path(shutil.copytree(made, tmp_path / "run"))
    address = serve(run, share_safe=True)
    page = look(address)
    _walk(page, address, "run")
    page.goto(f"{address}#/run/rollouts?at=40.0")
    page.get_by_text("left out (").first.wait_for()

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

RUNS = ("first", "second")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("runs")
    for name in RUNS:
        folder = root / name
        folder.mkdir(parents=True)
        (folder / "config.yaml").write_text(yaml.safe_dump({}))
        (folder / "identity.json").write_text("{}")
        (folder / "metrics.jsonl").write_text('{"step": 1, "reward_mean": 0.5}\n')
    return root


def test_all_that_was_found_is_listed_and_a_click_opens_it(
    runs: Path, serve: Any, look: Any, expect: Any, accessible: Callable[[Any], None]
) -> None:
    page = look(serve(runs))
    expect(page.locator(".runs .name")).to_have_text([*reversed(RUNS)], use_inner_text=True)
    accessible(page)
    page.get_by_label("compare first").check()
    page.get_by_label("compare second").check()
    page.get_by_role("button", name="compare 2 runs").click()
    page.wait_for_url("**#/first/run?with=second")
    page.keyboard.press("u")
    page.get_by_role("link", name="second").click()
    page.wait_for_url("**#/second/run")
    page.wait_for_function("() => document.title.startsWith('second')")
    page.keyboard.press("u")
    page.wait_for_selector(".runs .name")


def test_without_the_token_nothing_is_shown(runs: Path, serve: Any) -> None:
    address = serve(runs)
    base, _, token = address.partition("/?token=")
    with httpx.Client() as web:
        assert web.get(f"{base}/").status_code == 403
        assert web.get(f"{base}/?token=wrong").status_code == 403
        assert web.get(f"{base}/api/subjects").status_code == 401
        wrong = {"Authorization": f"Bearer {token[:-1]}"}
        assert web.get(f"{base}/api/first/summary", headers=wrong).status_code == 401
        right = {"Authorization": f"Bearer {token}"}
        assert web.get(f"{base}/api/first/summary", headers=right).status_code == 200
        assert web.get(f"{base}/api/third/summary", headers=right).status_code == 404
        assert web.get(f"{base}/api/first/none", headers=right).status_code == 404
        assert web.get(f"{base}/page/../app.py").status_code == 404
        assert web.get(f"{base}/?token={token}").headers["Content-Encoding"] == "gzip"


def test_a_share_safe_page_answers_no_search_of_texts(runs: Path, serve: Any) -> None:
    base, _, token = serve(runs, share_safe=True).partition("/?token=")
    right = {"Authorization": f"Bearer {token}"}
    assert httpx.get(f"{base}/api/first/rollouts?q=", headers=right).status_code == 200
    assert httpx.get(f"{base}/api/first/rollouts?q=word", headers=right).status_code == 400


def test_the_only_run_stands_in_the_address(runs: Path, serve: Any, look: Any) -> None:
    page = look(serve(runs / "second"))
    page.wait_for_url("**#/second/run")


def test_a_request_that_names_another_host_is_refused(runs: Path, serve: Any) -> None:
    address = serve(runs)
    base, _, token = address.partition("/?token=")
    for host in ("evil.example", "evil.example:8000", "127.0.0.1.evil.example"):
        headers = {"Host": host, "Authorization": f"Bearer {token}"}
        assert httpx.get(f"{base}/api/subjects", headers=headers).status_code == 421
        assert httpx.get(f"{base}/?token={token}", headers=headers).status_code == 421


def test_no_script_but_the_pages_own_may_run_and_nothing_is_loaded_from_elsewhere(
    runs: Path, serve: Any, look: Any
) -> None:
    page = look(serve(runs))
    page.wait_for_selector(".runs .name")
    assert page.evaluate(
        """() => { const s = document.createElement('script'); s.textContent = 'window.ran = true';
        document.body.append(s); return window.ran === undefined }"""
    )
    hosts = page.evaluate(
        "() => performance.getEntriesByType('resource').map(r => new URL(r.name).host)"
    )
    assert set(hosts) == {page.evaluate("() => location.host")}


def test_a_run_that_goes_on_is_seen_without_a_reload(
    runs: Path, tmp_path: Path, serve: Any, look: Any
) -> None:
    live = shutil.copytree(runs, tmp_path / "live")
    page = look(serve(live))
    page.wait_for_selector(".runs .name")
    with (live / "first" / "metrics.jsonl").open("a") as file:
        file.writelines(f'{{"step": {step}, "reward_mean": 0.5}}\n' for step in range(2, 43))
    page.get_by_text("42", exact=True).wait_for()


def test_the_page_is_one_file_that_needs_no_server(
    runs: Path, tmp_path: Path, look: Any, expect: Any, accessible: Callable[[Any], None]
) -> None:
    from prorl_viewer import find_subjects, write_html

    file = tmp_path / "page.html"
    assert write_html(find_subjects([runs]), file) == file.stat().st_size
    page = look(f"file://{file}")
    expect(page.locator(".runs .name")).to_have_text([*reversed(RUNS)], use_inner_text=True)
    accessible(page)
    page.get_by_role("link", name="first").click()
    page.wait_for_url("**#/first/run")


def test_colours_follow_the_system_until_someone_chooses(runs: Path, serve: Any, look: Any) -> None:
    address = serve(runs)
    for theme, dark in (("light", False), ("dark", True)):
        page = look(address, theme=theme)
        page.wait_for_selector(".runs .name")
        background = page.evaluate("() => getComputedStyle(document.body).backgroundColor")
        assert (background == "rgb(19, 19, 22)") is dark
    page.get_by_role("button", name="theme: system").click()
    page.get_by_role("button", name="theme: dark").click()
    page.wait_for_function(
        "() => getComputedStyle(document.body).backgroundColor === 'rgb(255, 255, 255)'"
    )

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prorl_viewer import find_subjects, write_html
from prorl_viewer.runs.testing import made_up_config, write_run, write_steps

FALL = 150


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs: one whose reward falls at step 150, with rollouts around it, and a healthy one."""
    runs = tmp_path_factory.mktemp("runs")
    write_run(runs / "fallen", 300, done=240, falls_at=FALL, rollouts=range(FALL - 20, FALL + 20))
    write_run(runs / "well", 240, "optimizer.lr=5e-6", seed=3)
    return runs


def chart(page: Any, title: str) -> Any:
    return page.locator(
        "figure.chart", has=page.get_by_role("heading", name=re.compile(f"^{title}"))
    )


def test_why_a_reward_fell_is_two_clicks_away_and_ends_at_the_rollouts(
    made: Path, serve: Any, look: Any, expect: Any, accessible: Callable[[Any], None], picture: Any
) -> None:
    page = look(serve(made) + "#/fallen/run")
    chart(page, "Reward").locator("path.line").first.wait_for()
    accessible(page)
    picture(page, "run")
    page.get_by_role("button", name=re.compile(r"step 1(49|50|51)")).click()
    panel = page.get_by_role("complementary")
    panel.get_by_text("Before and after").wait_for()
    expect(panel).to_contain_text("Reward 0.", use_inner_text=True)
    first = panel.locator(".suspect").first
    expect(first).to_contain_text("Cut by the token limit", use_inner_text=True)
    by_task = panel.get_by_role("region", name="By task").locator("tbody tr")
    by_task.first.wait_for()
    expect(by_task.first).to_contain_text("math-fractions", use_inner_text=True)
    accessible(page)
    picture(page, "run-around-a-step")
    panel.get_by_label("steps compared").select_option("50")
    page.wait_for_url("**width=50**")
    panel.get_by_text(re.compile(r"steps (99|100|101)–")).wait_for()
    panel.get_by_role("button", name="show these in the charts").click()
    page.get_by_role("button", name=re.compile(r"steps \d+ to \d+")).click()
    by_task.first.get_by_role("link").click()
    page.wait_for_url(re.compile(r"#/fallen/rollouts\?step=1\d\d..1\d\d&task=math-fractions"))


def test_a_mark_tells_its_decision_by_click_and_by_key_and_escape_closes_it(
    made: Path, serve: Any, look: Any
) -> None:
    page = look(serve(made) + "#/fallen/run")
    marks = page.locator(".timeline [role=button]")
    marks.first.wait_for()
    marks.first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    panel = page.get_by_role("complementary")
    panel.get_by_role("heading", name="Step 200").wait_for()
    text = panel.locator(".decided").inner_text()
    assert "100 steps since the last reset" in text
    assert "reset to" in text
    page.keyboard.press("Escape")
    panel.wait_for(state="detached")
    chart(page, "KL to the reference").locator("g.mark").first.click()
    panel.get_by_role("heading", name="Step 100").wait_for()
    panel.get_by_text("what the rules saw").click()
    panel.get_by_text("kl history", exact=True).wait_for()


def test_a_link_brings_back_the_step_the_curves_the_axis_and_the_runs(
    made: Path, serve: Any, look: Any, expect: Any, picture: Any
) -> None:
    query = "step=150&curves=reward_mean,kl,loss&with=well&x=tokens"
    page = look(serve(made) + f"#/fallen/run?{query}")
    chart(page, "loss").locator("path.line").first.wait_for()
    expect(page.locator("figure.chart")).to_have_count(3)
    page.get_by_role("heading", name="Step 150").wait_for()
    reward = chart(page, "Reward")
    expect(reward.locator(".legend button")).to_have_text(["fallen", "well"], use_inner_text=True)
    expect(reward).to_contain_text("million tokens", use_inner_text=True)
    settings = page.get_by_role("region", name="settings")
    expect(settings).to_contain_text("optimizer.lr", use_inner_text=True)
    picture(page, "runs-beside-each-other")


def test_seeds_are_one_line_in_a_band_and_apart_when_asked(
    made: Path, tmp_path: Path, serve: Any, look: Any, expect: Any
) -> None:
    for seed in (1, 2, 3):
        write_run(tmp_path / f"seed-{seed}", 60, f"seed={seed}", seed=seed)
    page = look(serve(tmp_path, made / "well") + "#/seed-1/run?with=seed-2,seed-3,well")
    legend = chart(page, "Reward").locator(".legend button")
    together = ["seed-1 and 2 other seeds", "well"]
    expect(legend).to_have_text(together, use_inner_text=True)
    expect(chart(page, "Reward").locator("path.range")).to_have_count(1)
    page.locator("label", has_text="seeds").locator("select").select_option("apart")
    expect(legend).to_have_count(4)


def test_a_run_that_goes_on_grows_on_the_page(
    made: Path, tmp_path: Path, serve: Any, look: Any
) -> None:
    from prorl_training.run.folder import RunFolder

    run = RunFolder(Path(shutil.copytree(made / "fallen", tmp_path / "live")))
    with run.lock():
        page = look(serve(run.path))
        page.get_by_text("240 of 300").wait_for()
        page.get_by_text("running").wait_for()
        write_steps(run, made_up_config(300), range(241, 251))
        page.get_by_text("250 of 300").wait_for()
    page.get_by_text("stopped early").wait_for()


def test_curves_are_divided_by_domain_and_by_task(
    made: Path, serve: Any, look: Any, expect: Any
) -> None:
    page = look(serve(made) + "#/fallen/run?by=domain")
    legend = chart(page, "Reward").locator(".legend button")
    legend.first.wait_for()
    expect(legend).to_have_text(["code", "logic", "math"], use_inner_text=True)
    page.get_by_label("split by").select_option("task")
    chart(page, "Reward").get_by_role("button", name="math-fractions").wait_for()
    page.wait_for_url("**by=task")


@pytest.mark.parametrize(("size", "theme"), [("desktop", "light"), ("phone", "dark")])
def test_the_page_fits_its_screen_and_axe_finds_nothing_serious(
    size: str, theme: str, made: Path, serve: Any, look: Any, picture: Any, accessible: Any
) -> None:
    page = look(serve(made) + "#/fallen/run?step=150", size, theme)
    chart(page, "Reward").locator("path.line").first.wait_for()
    page.get_by_text("What moved most").wait_for()
    wide, shown = page.evaluate("() => [document.body.scrollWidth, innerWidth]")
    assert wide <= shown
    accessible(page)
    picture(page, f"run-{size}-{theme}")


def test_as_a_file_the_page_still_tells_why(
    made: Path, tmp_path: Path, look: Any, expect: Any
) -> None:
    file = tmp_path / "run.html"
    write_html(find_subjects([made / "fallen"]), file)
    page = look(f"file://{file}")
    page.get_by_role("button", name=re.compile(r"step 1(49|50|51)")).click()
    page.get_by_role("region", name="By task").get_by_text("math-fractions").wait_for()
    page.get_by_label("split by").select_option("domain")
    chart(page, "KL to the reference").locator("path.line").first.wait_for()
    expect(chart(page, "Reward").locator(".legend button")).to_have_count(3)

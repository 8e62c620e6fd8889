from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import prorl
from doubles import TALK

from prorl_common import NullProgress
from prorl_datasets import Sample
from prorl_evaluation import EvalSettings, evaluate
from prorl_evaluation.testing import FakeGenerator, FakeScorer, make_samples
from prorl_inference import Completion

N = 8
HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>\u202e\u0007</bdi></div>"
TABS = ("", "problems", "claims", "solvable", "how")


class HostileGenerator(FakeGenerator):
    """Answer with markup, bidirectional control characters and a long line."""

    def _answer(self, seed: int, batch: int) -> Completion:
        said = super()._answer(seed, batch)
        return dataclasses.replace(said, text=f"{said.text} {HOSTILE} {'long ' * 6000}")


def problems() -> list[Sample]:
    """24 problems of two domains with prompts as hostile as the answers."""
    return [
        dataclasses.replace(
            s,
            prompt=({"role": "user", "content": f"question number {i}: {HOSTILE}"},),
            metadata={"benchmark": f"bench-{i % 2}", "family": f"family-{i % 3}"},
        )
        for i, s in enumerate([*make_samples(12), *make_samples(12, "stem")])
    ]


def write(folder: Path, label: str, percent: int, interrupt_at: int = 0) -> None:
    """Write an evaluation folder of a model that says "yes" to `percent` % of the problems."""
    model = HostileGenerator(label, label, percent, interrupt_at)
    settings = EvalSettings(n=N, k=4, batch_rows=16, draws=300, label=label)
    evaluate(model, problems(), settings, folder, FakeScorer(), NullProgress())


@pytest.fixture(scope="module")
def evals(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("work") / "evals"
    for name, percent in (("base", 10), ("step_000100", 50), ("step_000200", 90)):
        write(root / f"{name}-0123abcd", name.replace("_000", " "), percent)
    return root


def at(address: str, **query: str) -> str:
    words = "&".join(f"{key}={value}" for key, value in query.items())
    return f"{address}#/evals/evaluation?{words}"


def body_rows(page: Any, label: str) -> Any:
    return (
        page.get_by_role("region", name=label)
        .or_(page.locator(f'div.table[aria-label="{label}"]'))
        .locator("tbody tr[data-at]")
    )


def test_the_matrix_is_filtered_sorted_and_walked_by_keyboard(
    evals: Path, serve: Any, look: Any, expect: Any
) -> None:
    page = look(at(serve(evals), tab="problems", by="none"))
    rows = body_rows(page, "problems by models")
    page.wait_for_selector(".share")
    expect(rows).to_have_count(24)
    page.keyboard.press("/")
    page.keyboard.type("NUMBER 13")
    page.wait_for_function("() => document.querySelectorAll('tr[data-at]').length === 1")
    expect(rows.first).to_contain_text("stem-1", use_inner_text=True)
    page.wait_for_url("**q=NUMBER+13**")
    page.get_by_role("button", name="all problems").click()
    page.wait_for_function("() => document.querySelectorAll('tr[data-at]').length === 24")
    page.get_by_role("button", name="difference").click()
    page.wait_for_url("**sort=difference**")
    page.wait_for_selector('th[aria-sort="descending"]')
    shown = [int(t) for t in rows.locator("td:nth-child(5)").all_inner_texts()]
    assert shown == sorted(shown, reverse=True)
    first, second = (rows.nth(i).locator("td").first.inner_text() for i in (0, 1))
    rows.first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**problem={first}**")
    page.wait_for_selector("article")
    page.locator("h2").first.click()
    page.keyboard.press("j")
    page.wait_for_url(f"**problem={second}**")
    page.keyboard.press("Escape")
    page.wait_for_function("() => !location.hash.includes('problem=')")
    page.wait_for_selector(".share")


def test_a_link_shows_two_models_answers_to_a_problem_and_each_can_be_checked_again(
    evals: Path, serve: Any, look: Any, expect: Any
) -> None:
    page = look(at(serve(evals), problem="math-3", models="base,step_000200"))
    page.wait_for_function("() => document.querySelectorAll('article').length === 2")
    for label in ("base", "step 200"):
        expect(body_rows(page, f"answers of {label}")).to_have_count(N)
    right = page.locator('section[aria-label="answers of step 200"]')
    right.get_by_label("verdict").select_option("right")
    page.wait_for_url("**rightIs=right**")
    expect(right.locator("tbody .bad")).to_have_count(0)
    left = page.locator('section[aria-label="answers of base"]')
    left.get_by_label("verdict").select_option("wrong")
    left.get_by_role("button", name="check again and explain").click()
    left.get_by_text("The same reward as recorded.").wait_for()
    left.locator(".findings li").first.wait_for()


def test_a_conversation_is_shown_as_for_a_rollout(
    tmp_path: Path, serve: Any, look: Any, expect: Any, accessible: Any, picture: Any
) -> None:
    folder = tmp_path / "evals" / "base-0123abcd"
    write(folder, "base", 50)
    lines = (folder / "samples.jsonl").read_text().splitlines()
    rows = [json.dumps(json.loads(line) | {"turns": TALK}) for line in lines]
    (folder / "samples.jsonl").write_text("\n".join(rows) + "\n")
    page = look(f"{serve(folder)}#/base-0123abcd/evaluation?problem=math-3")
    expect(page.locator("article div.given .text")).to_have_text("4", use_inner_text=True)
    expect(page.locator("article > .text")).to_contain_text("4", use_inner_text=True)
    accessible(page)
    picture(page, "evaluation-conversation-desktop-light")


def test_texts_of_a_model_do_nothing_and_their_turning_characters_are_written_out(
    evals: Path, serve: Any, look: Any, expect: Any
) -> None:
    page = look(at(serve(evals), problem="math-3", models="base,step_000200"))
    page.wait_for_selector("article .text")
    text = page.locator("article > .text").first.inner_text()
    assert "<script>alert(2)</script>⟨U+202E⟩⟨U+0007⟩</bdi></div>" in text
    expect(page.locator("article .more").first).to_contain_text("show", use_inner_text=True)
    assert page.locator("main img, main script").count() == 0


def test_claims_and_gains_lead_to_their_problems(
    evals: Path, serve: Any, look: Any, expect: Any
) -> None:
    address = serve(evals)
    page = look(at(address, tab="claims"))
    page.wait_for_selector(".regime")
    expect(page.get_by_text("corrected together (Holm)")).to_have_count(1)
    body_rows(page, "claims").first.click()
    panel = page.locator('section[aria-label="the claim that is open"]')
    panel.get_by_role("link", name="its problems").click()
    page.wait_for_selector(".share")
    page = look(at(address, tab="solvable"))
    page.get_by_role("link", name=re.compile(r"^gained \d")).click()
    page.wait_for_url("**set=gained**")
    page.wait_for_selector(".share")
    page.wait_for_url("**models=base%2Cstep_000200**")


def test_an_evaluation_that_goes_on_is_shown_as_it_grows(
    tmp_path: Path, serve: Any, look: Any
) -> None:
    folder = tmp_path / "evals" / "base-0123abcd"
    with pytest.raises(KeyboardInterrupt):
        write(folder, "base", 50, interrupt_at=4)
    page = look(serve(tmp_path / "evals"))
    page.get_by_text("of 192 judged").wait_for()
    page.get_by_text("no result yet").first.wait_for()
    write(folder, "base", 50)
    page.get_by_text("192 answers").wait_for()
    page.wait_for_selector(".chart path")


def test_a_file_of_it_shows_matrix_claims_and_answers_and_leaves_texts_out_when_asked(
    evals: Path, tmp_path: Path, look: Any
) -> None:
    for words, name in (([], "whole"), (["--share-safe"], "safe")):
        file = tmp_path / f"{name}.html"
        assert prorl(None, "view", str(evals), "--html", str(file), *words).returncode == 0
        page = look(at(file.as_uri(), tab="claims"))
        page.wait_for_selector(".regime")
        page.goto(at(file.as_uri(), problem="math-3", models="base,step_000200"))
        page.wait_for_selector("article .good, article .bad")
        assert (page.get_by_text("question number 3").count() > 0) == (name == "whole")
        assert ("question number" in file.read_text()) == (name == "whole")


@pytest.mark.parametrize(("size", "theme"), [("desktop", "light"), ("phone", "dark")])
def test_every_part_is_accessible(
    evals: Path,
    serve: Any,
    look: Any,
    accessible: Callable[[Any], None],
    picture: Callable[[Any, str], None],
    size: str,
    theme: str,
) -> None:
    address = serve(evals)
    page = look(at(address, tab="claims"), size, theme)
    page.wait_for_selector(".regime")
    for tab in TABS:
        page.goto(at(address, tab=tab))
        page.wait_for_selector("main table, main svg")
        page.wait_for_function("() => !document.querySelector('.computing')")
        accessible(page)
        picture(page, f"evaluation-{tab or 'overview'}-{size}-{theme}")
    page.goto(at(address, problem="math-3", models="base,step_000200"))
    page.wait_for_selector("article")
    accessible(page)
    picture(page, f"evaluation-problem-{size}-{theme}")
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")

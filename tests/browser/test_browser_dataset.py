from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import pytest

from prorl_common import NullProgress
from prorl_datasets import load
from prorl_datasets.building.builder import build_with
from prorl_datasets.recipe.recipe import parse_recipe
from prorl_verifiers import Task, Verdict

RECIPE = """
name: mix
seed: 3
decontamination: {benchmarks: []}
entries:
  - {name: add, domain: math, source: {kind: procedural, family: add, levels: [1, 2]},
     count: {train: 120, validation: 6}}
  - {name: texts, domain: stem, source: {kind: file, path: rows.jsonl}, count: {train: all}}
"""
HOSTILE = (
    "<script>window.hit = 1</script><img src=x onerror='window.hit = 1'> \u202egnp.exe\u202c "
    "]]> </script><style>* {display: none}</style> How many metres are in a kilometre of road?"
)
STORY = "A truck drives from the mine to the harbour with nine tonnes of ore. How heavy is the ore?"


class Accepting:
    """A scorer that accepts every gold answer but one."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        """Nothing to close."""

    def score(self, items: list[tuple[str, Task]]) -> list[Verdict]:
        return [
            Verdict(0.0, "scored", "not equal")
            if "refused" in task.reference["answer"]
            else Verdict(1.0, "scored", "equal")
            for _, task in items
        ]


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Generated sums, and texts of which two are near-duplicates and one has a rejected gold answer."""
    folder = tmp_path_factory.mktemp("data")
    rows = [
        {"prompt": HOSTILE, "answer": "1000"},
        {"prompt": STORY, "answer": "9"},
        {"prompt": STORY.replace("A truck", "A  truck"), "answer": "9"},
        {"prompt": f"{STORY} Say it in tonnes.", "answer": "9"},
        {"prompt": "x" * 1_000_000, "answer": "1"},
        {"prompt": "Which unit is refused by everyone in this laboratory?", "answer": "refused"},
    ]
    (folder / "rows.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    out = folder / "mix"
    build_with(Accepting(), parse_recipe(RECIPE, "r", folder), out, progress=NullProgress())
    rated = [s.id for s in load(out) if s.domain == "math"][:40]
    lines = [
        json.dumps({"id": name, "pass_rate": (place % 9) / 8, "n": 8, "low": 0.1, "high": 0.9})
        for place, name in enumerate(rated)
    ]
    (folder / "mix.ratings").mkdir()
    (folder / "mix.ratings" / "pass_rates.jsonl").write_text("\n".join(lines))
    return out


def _row(page: Any, name: str) -> Any:
    return page.get_by_role("heading", name=name, exact=True)


def test_filters_stand_in_the_address_and_a_link_shows_the_same(
    dataset: Path,
    serve: Any,
    look: Any,
    expect: Any,
    accessible: Callable[[Any], None],
    picture: Any,
) -> None:
    address = serve(dataset)
    page = look(f"{address}#/mix/dataset")
    page.get_by_text("129 rows, 1 to 100 shown").wait_for()
    picture(page, "dataset-rows")
    accessible(page)
    page.get_by_role("combobox", name="domain").select_option("math")
    page.get_by_role("combobox", name="level").select_option("2")
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    page.locator("h1").click()
    page.keyboard.press("/")
    page.keyboard.type("add-validation")
    page.wait_for_url("**q=add-validation*")
    page.wait_for_function("() => document.querySelectorAll('tr[data-at]').length < 6")
    shown = page.locator("tr[data-at] .ds-id").all_inner_texts()
    assert shown and all(name.startswith("add-validation-") for name in shown)
    again = look(page.url)
    again.wait_for_selector("tr[data-at]")
    expect(again.locator("tr[data-at] .ds-id")).to_have_text(shown, use_inner_text=True)
    again.get_by_role("button", name="clear").click()
    again.get_by_text("129 rows, 1 to 100 shown").wait_for()
    again.get_by_role("button", name="next 100").click()
    again.get_by_text("101 to 129 shown").wait_for()


def test_rows_are_sorted_by_pass_rate_and_bounded_by_it(
    dataset: Path, serve: Any, look: Any
) -> None:
    page = look(f"{serve(dataset)}#/mix/dataset")
    page.get_by_role("button", name="pass rate").click()
    page.wait_for_url("**sort=rate*")
    page.wait_for_function(
        "() => document.querySelector('tr[data-at=\"0\"]').innerText.includes('\\t1\\t')"
    )
    page.get_by_label("pass rate from").fill("0.5")
    page.keyboard.press("Tab")
    page.wait_for_url("**rate_from=0.5*")
    page.get_by_text("of 129 rows").wait_for()


@pytest.mark.parametrize(("size", "theme"), [("desktop", "light"), ("phone", "dark")])
def test_a_row_is_read_by_keyboard_and_its_gold_is_checked_again(
    dataset: Path,
    serve: Any,
    look: Any,
    accessible: Callable[[Any], None],
    picture: Any,
    size: str,
    theme: str,
) -> None:
    page = look(f"{serve(dataset)}#/mix/dataset?domain=math", size, theme)
    page.locator("tr[data-at='0']").focus()
    page.keyboard.press("ArrowDown")
    page.wait_for_function("() => document.activeElement.dataset.at === '1'")
    page.keyboard.press("Enter")
    _row(page, "add-train-000001").wait_for()
    page.get_by_role("button", name="check the gold again now").click()
    page.get_by_text("accepted: reward 1, scored").wait_for()
    picture(page, f"dataset-row-{size}-{theme}")
    accessible(page)
    page.keyboard.press("j")
    _row(page, "add-train-000002").wait_for()
    assert "domain=math" in page.url and "row=add-train-000002" in page.url
    page.keyboard.press("Escape")
    page.wait_for_function("() => !location.hash.includes('row=')")


def test_a_hostile_question_is_text_and_a_long_one_is_cut(
    dataset: Path, serve: Any, look: Any, expect: Any
) -> None:
    address = serve(dataset)
    page = look(f"{address}#/mix/dataset?row=texts-train-000000")
    question = page.get_by_role("region", name="message of user")
    question.wait_for()
    expect(question).to_contain_text("<script>window.hit = 1</script>", use_inner_text=True)
    expect(question).to_contain_text("⟨U+202E⟩gnp.exe", use_inner_text=True)
    assert page.evaluate("() => window.hit === undefined")
    page = look(f"{address}#/mix/dataset?row=texts-train-000004")
    page.get_by_role("button", name="show 100,000 characters").first.wait_for()
    assert len(page.locator(".ds-row").inner_text()) < 100_000


def test_what_was_dropped_is_shown_with_the_row_that_it_repeats(
    dataset: Path,
    serve: Any,
    look: Any,
    expect: Any,
    accessible: Callable[[Any], None],
    picture: Any,
) -> None:
    page = look(f"{serve(dataset)}#/mix/dataset?tab=dropped")
    page.get_by_text("reward 0: not equal").wait_for()
    picture(page, "dataset-dropped")
    accessible(page)
    page.locator("td", has_text="near-duplicate").first.click()
    page.wait_for_url("**reason=near-duplicate*")
    page.wait_for_function("() => document.querySelectorAll('.ds-example').length === 1")
    page.get_by_role("link", name="texts-train-").click()
    page.get_by_role("region", name="message of user").wait_for()
    page.get_by_text("dropped as near-duplicate").wait_for()
    expect(page.get_by_role("region", name="message of user")).to_contain_text(
        "harbour", use_inner_text=True
    )


def test_counts_open_the_rows_that_they_count(
    dataset: Path, serve: Any, look: Any, accessible: Callable[[Any], None], picture: Any
) -> None:
    page = look(f"{serve(dataset)}#/mix/dataset?tab=counts")
    page.wait_for_selector(".bars")
    page.get_by_label("count by").select_option("source")
    page.get_by_role("row", name="procedural/add").wait_for()
    picture(page, "dataset-counts")
    accessible(page)
    page.get_by_role("row", name="procedural/add").click()
    page.get_by_text("126 of 129 rows").wait_for()


def test_a_file_of_it_shows_counts_and_first_rows_and_share_safe_no_text(
    dataset: Path, tmp_path: Path, look: Any
) -> None:
    from prorl_viewer import find_subjects, write_html

    subjects = find_subjects([dataset])
    write_html(subjects, tmp_path / "page.html")
    page = look(f"file://{tmp_path / 'page.html'}#/mix/dataset?domain=math&row=add-train-000001")
    page.get_by_role("region", name="message of user").wait_for()
    assert page.get_by_role("button", name="check the gold again now").count() == 0
    page = look(f"file://{tmp_path / 'page.html'}#/mix/dataset?tab=dropped&reason=near-duplicate")
    page.wait_for_function("() => document.querySelectorAll('.ds-example').length === 1")
    write_html(subjects, tmp_path / "safe.html", share_safe=True)
    assert "harbour" not in (tmp_path / "safe.html").read_text()
    page = look(f"file://{tmp_path / 'safe.html'}#/mix/dataset?row=add-train-000001")
    page.locator(".ds-row").get_by_text("left out (").first.wait_for()

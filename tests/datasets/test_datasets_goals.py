from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from prorl_cli.main import build_app
from prorl_datasets.recipe.recipe import load_recipe, parse_recipe

ENTRY = (
    "{name: mine, domain: math, source: {kind: file, path: rows.jsonl}, verify_fraction: 0, "
    "count: {train: %d}%s}"
)


def built(folder: Path, target: int, more: str = "", top: str = "", *words: str) -> Result:
    """Build ten rows towards ``target``; ``more`` are keys of the entry, ``top`` of the recipe."""
    rows = [{"prompt": f"What is {n} + {n * n}?", "answer": str(n + n * n)} for n in range(10)]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    text = f"name: r\ndecontamination: {{benchmarks: []}}\nnear_duplicate: 0\n{top}\n"
    (folder / "r.yaml").write_text(f"{text}entries: [{ENTRY % (target, more)}]\n")
    recipe, out = str(folder / "r.yaml"), str(folder / "d")
    return CliRunner().invoke(
        build_app(), ["data", "build", "--recipe", recipe, "--out", out, "--workers", "1", *words]
    )


def test_a_source_that_yields_a_little_less_is_a_success_and_the_shortfall_is_said(
    tmp_path: Path,
) -> None:
    result = built(tmp_path, 11)
    assert result.exit_code == 0
    last = result.stderr.strip().splitlines()[-1]
    assert last.endswith("; below target (kept/target): mine train 10/11")
    manifest = json.loads((tmp_path / "d" / "manifest.json").read_text())
    assert manifest["short"] == {"mine": ["train 10/11"]} and manifest["too_short"] == []
    card = (tmp_path / "d" / "README.md").read_text()
    assert "- `mine` yielded fewer rows than its goal: train 10/11 (kept/goal)." in card


@pytest.mark.parametrize(
    ("target", "more", "top", "code"),
    [
        (12, "", "", 2),
        (12, ", min_share: 0.8", "", 0),
        (12, "", "min_share: 0.8", 0),
        (11, ", min_share: 1", "min_share: 0.8", 2),
    ],
)
def test_below_the_stated_share_the_build_fails(
    tmp_path: Path, target: int, more: str, top: str, code: int
) -> None:
    result = built(tmp_path, target, more, top)
    assert result.exit_code == code
    assert (f"mine is below its min_share: train 10/{target}" in result.stderr) == bool(code)
    assert (tmp_path / "d" / "train.parquet").is_file()
    if code:
        assert built(tmp_path, target, more, top, "--allow-short").exit_code == 0


def test_a_build_of_which_every_row_drops_says_why(tmp_path: Path) -> None:
    result = built(
        tmp_path, 10, "", "difficulty: {ratings: rates.jsonl, band: [0.1, 0.9], unrated: drop}"
    )
    assert result.exit_code != 0
    (tmp_path / "rates.jsonl").write_text("")
    result = built(
        tmp_path, 10, "", "difficulty: {ratings: rates.jsonl, band: [0.1, 0.9], unrated: drop}"
    )
    assert "gave no items, all 10 were dropped: unrated (10)" in str(result.exception)


def test_shares_are_part_of_the_resolved_recipe() -> None:
    assert load_recipe("quickstart").resolved()["min_share"] == 0.9
    text = f"name: r\nmin_share: 0.5\nentries: [{ENTRY % (1, ', min_share: 0.7')}]"
    resolved = parse_recipe(text, "r", None).resolved()
    assert resolved["min_share"] == 0.5 and resolved["entries"][0]["min_share"] == 0.7

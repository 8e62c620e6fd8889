from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from doubles import Messages

from prorl_common import NullProgress, UserError
from prorl_datasets import BuildOptions, BuildReport, Recipe, build, load
from prorl_datasets.building.benchmark_guard import open_guard

ROWS = Path(__file__).parents[1] / "data" / "hub_rows"
RECIPES = Path(__file__).parents[2] / "datasets" / "prorl_datasets" / "recipes"
SETS = {
    "own/deepscaler": ("deepscaler.json", "math", "deepscaler"),
    "own/dapo": ("dapo.jsonl", "math", "dapo_math"),
    "own/eurus": ("eurus.jsonl", "code", "eurus_code"),
    "own/scp": ("scp_*.jsonl", "stem", "scp116k"),
    "own/nemotron": ("nemotron.jsonl", "instruction", "nemotron_if"),
}
COPIED = "Convert the point $(0,3)$ in rectangular coordinates to polar coordinates."


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    """The five datasets, and MATH-500 with two problems, one of which DeepScaleR repeats."""
    folder = tmp_path / "mirror"
    for repo, (pattern, _, _) in SETS.items():
        (folder / repo).mkdir(parents=True)
        for file in ROWS.glob(pattern):
            shutil.copy(file, folder / repo)
    path = folder / "own/deepscaler/deepscaler.json"
    planted = {"problem": f"{COPIED.lower()} ", "answer": "(3, \\frac{\\pi}{2})", "solution": ""}
    path.write_text(json.dumps([*json.loads(path.read_text()), planted]))
    math = folder / "HuggingFaceH4" / "MATH-500"
    math.mkdir(parents=True)
    items = [
        {"problem": text, "answer": "1", "unique_id": f"test/{i}.json"}
        for i, text in enumerate((COPIED, "If $f(x) = 2x$, what is $f(f(f(1)))$ as an integer?"))
    ]
    (math / "test.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
    return folder


@pytest.fixture
def recipe(make_recipe: Callable[[str], Recipe]) -> Recipe:
    entries = "".join(
        f"  - {{name: {repo[4:]}, domain: {domain}, count: {{train: all}}, licence: ODC-By,\n"
        f"     source: {{kind: hub, repo: {repo}, files: ['{files}'], adapter: {adapter}}}}}\n"
        for repo, (files, domain, adapter) in SETS.items()
    )
    return make_recipe(
        "name: hubby\ndecontamination: {benchmarks: [math_500, gpqa_diamond]}\n"
        f"near_duplicate: 0\nentries:\n{entries}"
    )


def _build(recipe: Recipe, mirror: Path, update: bool = False) -> tuple[BuildReport, list[str]]:
    listening = Messages()
    options = BuildOptions(mirror=mirror, update_pins=update)
    out = mirror.parent / "d"
    return build(recipe, out, progress=listening, options=options), listening.lines


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))


def test_goosereason_is_built_from_its_three_splits_and_its_licence_is_said_first(
    make_recipe: Callable[[str], Recipe], tmp_path: Path
) -> None:
    folder = tmp_path / "mirror" / "nvidia" / "Nemotron-Research-GooseReason-0.7M"
    folder.mkdir(parents=True)
    for split in ("math", "code", "stem"):
        options = [f"{split} step {n}" for n in range(9)]
        rows = [
            {"question": f"A {split} text. [MASK] So it ends.", "options": options, "answer": "C"},
            {"question": f"A {split} text of no use. [MASK]", "options": options, "answer": "K"},
        ]
        (folder / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    text = (RECIPES / "goosereason.yaml").read_text() + "decontamination: {benchmarks: []}\n"
    report, said = _build(make_recipe(text), tmp_path / "mirror")
    samples = load(report.path)
    assert Counter(s.metadata["entry"] for s in samples) == dict.fromkeys(
        ("goose-math", "goose-code", "goose-stem"), 1
    )
    assert {(s.licence, s.task.reference["answer"]) for s in samples} == {("CC-BY-NC-4.0", "C")}
    assert "[MASK] So it ends.\nA. code step 0\n" in samples[0].prompt[-1]["content"]
    assert sum("licence CC-BY-NC-4.0" in line and "takes" in line for line in said) == 3


def test_a_mirror_of_the_published_shapes_becomes_one_dataset(recipe: Recipe, mirror: Path) -> None:
    report, said = _build(recipe, mirror)
    manifest, samples = report.manifest, load(report.path)
    checks = Counter((s.metadata["entry"], s.gold_check) for s in samples)
    assert checks["deepscaler", "self-consistent"] == 3
    assert checks["dapo", "self-consistent"] == 4
    assert checks["scp", "verified"] == 3
    agreed = {s.metadata["verified_by"] for s in samples if s.gold_check == "verified"}
    assert agreed == {f"a response by another ({name})" for name in ("r1_response", "qwq_solution")}
    assert checks["eurus", "self-consistent"] == 9
    assert checks["nemotron", "self-consistent"] == 6
    assert len(samples) == 25
    drops = manifest["drops"]
    assert drops["duplicate"] == 2
    assert drops["no usable ground truth"] == 4
    assert drops["no model response"] == 2
    assert drops["gold response not accepted"] == 1
    assert drops["no answer"] == 2
    assert drops["not a code row"] == 1
    assert drops["the tests do not decode"] == 2
    assert drops["like an item of math_500"] == 1
    for row in manifest["stages"].values():
        assert row["candidates"] == sum(n for stage, n in row.items() if stage != "candidates")
    found = manifest["decontamination"]
    assert found["checked"] == {"math_500": 2}
    assert list(found["not_checked"]) == ["gpqa_diamond"]
    assert found["rows_like_an_item"] == {"math_500": 1}
    assert any("NOT CHECKED" in text and "gpqa_diamond" in text for text in said)
    card = (report.path / "README.md").read_text()
    assert "| gpqa_diamond |" in card
    assert "ODC-By" in card
    pairs = [
        json.loads(line)
        for line in (report.path / "decontamination.jsonl").read_text().splitlines()
    ]
    assert {(p["benchmark"], p["row"], p["item"]) for p in pairs} == {
        ("math_500", "deepscaler-5", "math_500-test-0.json")
    }
    assert str(mirror) not in (report.path / "manifest.json").read_text().replace("\\", "")


@pytest.mark.slow
def test_the_first_build_pins_the_files_and_a_changed_one_is_named(
    recipe: Recipe, mirror: Path
) -> None:
    first, _ = _build(recipe, mirror)
    lock = mirror.parent / "hubby.lock.json"
    pins = json.loads(lock.read_text())
    assert sorted(pins) == sorted(SETS)
    assert sorted(pins["own/scp"]["files"]) == ["scp_new.jsonl", "scp_old.jsonl"]
    again, _ = _build(recipe, mirror)
    assert again.reused
    path = mirror / "own/dapo/dapo.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-1]))
    with pytest.raises(UserError, match=r"own/dapo: dapo\.jsonl has changed.*--update-pins"):
        _build(recipe, mirror)
    assert json.loads(lock.read_text()) == pins
    changed, said = _build(recipe, mirror, update=True)
    assert not changed.reused
    assert (
        changed.manifest["counts"]["train"]["math"] == first.manifest["counts"]["train"]["math"] - 1
    )
    assert json.loads(lock.read_text()) != pins
    assert os.environ["HF_HUB_OFFLINE"] == "1"
    assert said


@pytest.mark.parametrize("name", ["mir", "./mir", "/"])
def test_the_words_about_a_mirror_stay_whole_whatever_its_name(
    make_recipe: Callable[[str], Recipe], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / "mir").mkdir()
    monkeypatch.chdir(tmp_path)
    entry = "{name: a, domain: math, source: {kind: procedural, family: add}, count: {train: 1}}"
    recipe = make_recipe(
        f"name: x\ndecontamination: {{benchmarks: [math_500]}}\nentries: [{entry}]"
    )
    reason = open_guard(recipe, Path(name), NullProgress()).missing["math_500"]
    assert "give --mirror DIR with HuggingFaceH4/MATH-500/test.jsonl or math_500.jsonl" in reason
    assert "DIRror" not in reason and str(tmp_path) not in reason


def test_one_repository_at_two_revisions_is_one_line(
    make_recipe: Callable[[str], Recipe], mirror: Path
) -> None:
    entry = (
        "  - {name: %s, domain: math, count: {train: all}, source: {kind: hub, repo: own/dapo, "
        "revision: %s, files: [dapo.jsonl], adapter: dapo_math}}\n"
    )
    recipe = make_recipe(f"name: x\nentries:\n{entry % ('a', 'v1')}{entry % ('b', 'v2')}")
    with pytest.raises(UserError, match=r"'a' and 'b' use own/dapo at two revisions \(v1, v2\)"):
        _build(recipe, mirror)

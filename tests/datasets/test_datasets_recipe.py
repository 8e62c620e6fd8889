from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from prorl_common import NullProgress
from prorl_datasets import DatasetError, Recipe, build, load_recipe, recipe_names
from prorl_datasets.rows.client import Children
from prorl_datasets.sources.sources import check_sources

PROCEDURAL = "{kind: procedural, family: add}"
HEAD = "name: x\nentries:\n"


@pytest.mark.parametrize("name", recipe_names())
def test_packaged_recipe_loads_under_its_own_name_and_its_sources_exist(name: str) -> None:
    recipe = load_recipe(name)
    assert recipe.name == name
    with Children(1) as children:
        check_sources(recipe, recipe.entries, children)


def test_full_procedural_recipe_has_prorls_mix() -> None:
    recipe = load_recipe("prorl-136k-procedural")
    train: Counter[str] = Counter()
    for entry in recipe.entries:
        train[entry.domain] += entry.count.of("train") or 0
    assert train == {
        "math": 40_000,
        "code": 24_000,
        "stem": 25_000,
        "logic": 37_000,
        "instruction": 10_000,
    }
    assert len([e for e in recipe.entries if e.domain == "logic"]) == 96


def test_hub_recipe_asked_by_name_and_blocked_is_refused_with_a_line_a_source_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(DatasetError, match="prorl-136k-procedural") as caught:
        build(load_recipe("prorl-136k"), tmp_path / "d", progress=NullProgress())
    lines = str(caught.value).splitlines()
    assert len(lines) == 4
    assert all("--mirror DIR" in line and "HF_ENDPOINT" in line for line in lines)
    assert not (tmp_path / "d").exists()


def test_all_mistakes_come_in_one_line(make_recipe: Callable[[str], Recipe]) -> None:
    text = (
        "name: x\nsede: 3\nentries:\n"
        "  - {name: a, domain: math, source: {kind: procedural, famly: add}, count: {trian: 3}}\n"
        "  - {name: b, domain: maths, source: {kind: prcedural, family: add}, count: {train: -1}}\n"
    )
    with pytest.raises(DatasetError) as caught:
        make_recipe(text)
    message = str(caught.value)
    assert "\n" not in message
    assert "unknown key 'sede' in the recipe (did you mean 'seed'?)" in message
    assert "unknown key 'famly' in entry 'a'.source (did you mean 'family'?)" in message
    assert "unknown key 'trian' in entry 'a'.count (did you mean 'train'?)" in message
    assert "(did you mean 'procedural'?)" in message
    assert "entry 'b'.domain" in message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- 1", "expected a YAML mapping"),
        ("name: [", "not valid YAML"),
        (
            f"{HEAD}  - {{name: a, domain: math, source: {PROCEDURAL}, count: {{train: all}}}}",
            "no end",
        ),
        (
            f"{HEAD}  - {{name: a, domain: math, source: {PROCEDURAL}, count: {{}}, template: hi}}",
            "must contain {question}",
        ),
        (
            f"{HEAD}  - {{name: a, domain: stem, source: {{kind: reasoning_gym, task: gcd}}, count: {{}}}}",
            "logic or math",
        ),
        (
            HEAD + 2 * f"  - {{name: a, domain: math, source: {PROCEDURAL}, count: {{}}}}\n",
            "used twice",
        ),
    ],
)
def test_recipe_mistakes_are_named(
    make_recipe: Callable[[str], Recipe], text: str, said: str
) -> None:
    with pytest.raises(DatasetError, match=said):
        make_recipe(text)


def test_unknown_sources_are_reported_together_before_building(
    make_recipe: Callable[[str], Recipe], tmp_path: Path
) -> None:
    recipe = make_recipe(
        "name: x\nentries:\n"
        "  - {name: a, domain: math, source: {kind: procedural, family: ad}, count: {train: 1}}\n"
        "  - {name: b, domain: logic, source: {kind: reasoning_gym, task: letter_countin}, count: {train: 1}}\n"
        "  - {name: c, domain: logic, source: {kind: reasoning_gym, task: gcd, config: {max_valu: 3}},"
        " count: {train: 1}}\n"
        "  - {name: d, domain: math, source: {kind: file, path: none.jsonl}, count: {train: 1}}\n"
    )
    with pytest.raises(DatasetError) as caught:
        build(recipe, tmp_path / "out", progress=NullProgress())
    message = str(caught.value)
    for said in ("'add'", "'letter_counting'", "'max_value'", "none.jsonl"):
        assert said in message
    assert not (tmp_path / "out").exists()


GROUP = "name: x\ngroups:\n  - {{name: g, domain: {0}, kind: {1}, count: {{train: 40}}, members: [{2}]}}\n"


def test_a_pattern_stands_for_every_family_of_the_domain_that_it_fits(
    make_recipe: Callable[[str], Recipe],
) -> None:
    recipe = make_recipe(
        GROUP.format("stem", "procedural", '{name: "waves_*", levels: [2]}, facts_units')
    )
    names = [entry.name for entry in recipe.entries]
    assert "g-waves_string" in names and names[-1] == "g-facts_units"
    assert all(name.startswith("g-waves_") for name in names[:-1])
    assert sum(entry.count.of("train") or 0 for entry in recipe.entries) == 40


def test_a_family_that_is_named_is_left_out_of_the_pattern(
    make_recipe: Callable[[str], Recipe],
) -> None:
    members = '{name: "waves_*", share: 2}, {name: waves_string, share: 1}'
    recipe = make_recipe(GROUP.format("stem", "procedural", members))
    counts = {entry.name: entry.count.of("train") or 0 for entry in recipe.entries}
    assert list(counts)[-1] == "g-waves_string" and sum(counts.values()) == 40
    assert counts["g-waves_string"] < counts["g-waves_pipe"]


@pytest.mark.parametrize(
    ("domain", "kind", "members", "said"),
    [
        ("stem", "procedural", '"wavs_*"', "no stem member of procedural matches 'wavs_\\*'"),
        ("logic", "reasoning_gym", '"chain_*"', "must be names, not patterns: chain_\\*"),
    ],
)
def test_a_pattern_that_fits_nothing_is_refused(
    make_recipe: Callable[[str], Recipe], domain: str, kind: str, members: str, said: str
) -> None:
    with pytest.raises(DatasetError, match=said):
        make_recipe(GROUP.format(domain, kind, members))

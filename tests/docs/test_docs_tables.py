from __future__ import annotations

import importlib
import re
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from prorl_common import config
from prorl_datasets import ADAPTERS, RECIPES
from prorl_datasets.benchmarks import benchmark_names
from prorl_datasets.procedural import families
from prorl_datasets.recipe.recipe import load_recipe
from prorl_datasets.sources.procedural import ProceduralSource
from prorl_datasets.types import DOMAINS
from prorl_evaluation.suites.suite import load_suite, suite_names
from prorl_training.config import TrainConfig
from prorl_training.config.presets import preset_names, preset_values
from prorl_verifiers import VERIFIERS
from prorl_verifiers.instruction.registry import RANDOM_UPSTREAM, registry
from prorl_verifiers.logic.rules import RULES

tables = importlib.import_module("reference.tables")
recipes = importlib.import_module("reference.recipes")
presets = importlib.import_module("reference.presets")
site = importlib.import_module("docs_site")

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(page for page in DOCS.rglob("*.md") if "<!-- table" in page.read_text("utf-8"))


def rows(name: str) -> list[list[str]]:
    """Return the cells of each row of a named table, without headings."""
    lines = [line for line in tables.TABLES[name]().splitlines() if line.startswith("| `")]
    return [re.split(r" (?<!\\)\| ", line.strip("| ")) for line in lines]


def first_names(name: str) -> list[str]:
    """Return the code in the first cell of each row."""
    return [row[0].strip("`") for row in rows(name)]


def test_every_table_stands_on_one_page() -> None:
    found = Counter(
        name for page in PAGES for name in tables.MARKER.findall(page.read_text("utf-8"))
    )
    assert found == Counter(dict.fromkeys(tables.TABLES, 1))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_site_shows_no_marker(page: Path) -> None:
    shown = site.on_page_markdown(
        page.read_text("utf-8"),
        SimpleNamespace(file=SimpleNamespace(src_uri=page.relative_to(DOCS).as_posix())),
        {"docs_dir": str(DOCS)},
        None,
    )
    assert "<!-- table" not in shown
    assert shown.count("\n| --- |") >= 1


def test_unknown_marker_is_an_error_that_names_the_tables_there_are() -> None:
    with pytest.raises(ValueError, match=r"no table 'recepies'; there are: .*recipes"):
        tables.filled("# Page\n\n<!-- table: recepies -->\n")


def test_text_of_another_marker_or_inside_a_line_stays() -> None:
    page = "# Page\n\n<!-- a note -->\nwrite `<!-- table: recipes -->` there\n"
    assert tables.filled(page) == page


@pytest.mark.parametrize("name", [*tables.PARTS, *(f"source {s.name}" for s in tables.OUR_SOURCES)])
def test_every_field_of_a_recipe_has_a_row_and_a_meaning(name: str) -> None:
    model = {**tables.PARTS, **{f"source {s.name}": s.settings for s in tables.OUR_SOURCES}}[name]
    left_out = "kind" if name.startswith("source") else "base"
    assert first_names(name) == [field for field in model.model_fields if field != left_out]
    assert all(len(row) == 4 and row[-1] for row in rows(name))


def test_every_key_of_a_run_has_a_row_and_a_meaning() -> None:
    found = []
    section = ""
    for line in tables.TABLES["training config"]().splitlines():
        if heading := re.match(r"## (?:`(.*)`|The run)$", line):
            section = f"{heading[1]}." if heading[1] else ""
        elif line.startswith("| `"):
            *_, meaning = (cell.strip() for cell in re.split(r"(?<!\\)\|", line)[:-1])
            assert meaning, line
            found.append(section + line.split("`")[1])
    outside = [key for key in found if not key.startswith(("phases.", "stages."))]
    assert set(outside) == set(config.all_keys(TrainConfig))
    assert len(outside) == len(set(outside))
    assert {"phases.name", "phases.steps", "phases.until", "phases.reset", "phases.set"} <= set(
        found
    )


def test_defaults_bounds_units_and_sources_are_those_of_the_models() -> None:
    by_meaning = {row[-1]: row for row in rows("training config")}
    clip = by_meaning["The ratio is clipped above at 1 + clip_high."]
    assert clip == ["`clip_high`", "number, > 0", "`0.28`", "`prorl-v2`", clip[-1]]
    wall = by_meaning["Wall-clock limit for scoring one response."]
    assert wall[1:3] == ["number, > 0 seconds", "`10.0`"]


def test_every_preset_is_listed_and_every_value_of_the_published_ones_has_a_row() -> None:
    assert first_names("presets") == preset_names()
    keys = {".".join(k) for n in presets.COLUMNS for k in preset_values(n) if k[0] != "phases"}
    assert set(first_names("values of presets")) == keys
    assert len(tables.TABLES["phases of prorl-v1"]().splitlines()) == 2 + 8
    sources = tables.TABLES["sources of presets"]()
    assert [f"### `{name}`" in sources for name in presets.COLUMNS] == [True] * 7


def test_values_that_are_ours_carry_a_star() -> None:
    by_key = {row[0].strip("`"): row[1:] for row in rows("values of presets")}
    assert by_key["loss.clip_high"][:2] == ["0.4", "0.28"]  # both values are published
    assert by_key["kl.coefficient"][:3] == ["0.0001*", "0.0001*", "0.0001"]


def test_recipes_adapters_columns_and_prompts_are_all_there() -> None:
    ours = [name for name in RECIPES.names() if RECIPES.find(name)[1].is_ours]
    assert first_names("recipes") == ours
    mine = [ADAPTERS.get(name) for name in ADAPTERS.names() if ADAPTERS.origin(name).is_ours]
    wanted = {spec.name: spec for spec in mine if spec.convert is not None}
    found = {row[0].strip("`"): row for row in rows("adapters")}
    assert set(found) == set(wanted)
    for name, row in found.items():
        assert row[1] == wanted[name].domain
        assert {c for group in wanted[name].columns for c in group if c} == set(
            re.findall(r"\w+", row[2])
        )
        assert row[3], f"{name} has no summary"
    said = tables.TABLES["prompts"]()
    assert all(
        VERIFIERS.get(domain).data.prompt.format(question="").strip() in said for domain in DOMAINS
    )
    scored = [line.split(" | ")[0] for line in tables.TABLES["columns of files"]().splitlines()[2:]]
    verifiers = {name for name in VERIFIERS.names() if VERIFIERS.origin(name).is_ours}
    assert {name.strip("| ") for name in scored} == verifiers >= set(DOMAINS)
    assert len(scored) == len(verifiers)


def test_every_family_is_listed_once_and_code_families_say_what_they_are_about() -> None:
    names = [f"{kind} families" for kind in ("math", "code", "stem", "instruction", "small")]
    listed = [name for n in names for name in re.findall(r"`(\w+)`", tables.TABLES[n]())]
    assert Counter(listed) == Counter(list(families()))
    assert all(len(row) == 2 and row[1] for row in rows("code families"))


def test_the_procedural_recipe_uses_every_large_family_and_the_listed_tasks() -> None:
    recipe = load_recipe("prorl-136k-procedural")
    sources = [entry.source for entry in recipe.entries]
    used = [source.family for source in sources if isinstance(source, ProceduralSource)]
    large = [name for under in ("math", "code", "stem", "instruction") for name in families(under)]
    assert sorted(used) == sorted(large)
    tasks: Any = [getattr(s, "task", None) for s in sources if not isinstance(s, ProceduralSource)]
    assert sorted(re.findall(r"`(\w+)`", tables.TABLES["reasoning-gym tasks"]())) == sorted(tasks)


def test_every_instruction_id_has_a_row_with_meaning_and_deviation() -> None:
    found = [row for name in ("ifeval", "ifevalg", "ifbench") for row in rows(name)]
    assert [row[0].strip("`") for row in found] == list(registry())
    assert all(len(row) == 4 and all(row) for row in found)
    assert first_names("random upstream") == list(RANDOM_UPSTREAM)
    assert set(RANDOM_UPSTREAM) <= set(registry())


def test_every_logic_dataset_and_every_benchmark_is_listed() -> None:
    text = tables.TABLES["logic rules"]()
    groups = [row.split(" | ")[0].strip("| ").split(", ") for row in text.splitlines()[2:]]
    assert groups[0] == [f"{len(RULES) - sum(map(len, groups[1:]))} not named below"]
    assert {name for group in groups[1:] for name in group} < set(RULES)
    assert first_names("benchmarks") == benchmark_names()


def test_suites_name_their_benchmarks_and_ladders_what_is_trained() -> None:
    by_name = {row[0].strip("`"): row for row in rows("suites")}
    assert list(by_name) == suite_names()
    for name, row in by_name.items():
        assert re.findall(r"`(\w+)`", row[2]) == list(load_suite(name).sources)
    ladders = tables.TABLES["ladders"]()
    assert (
        "| tower_of_hanoi, N disks on three pegs | 3, 4, 5, 6, 7, 8, 9 | 3, 4, 5, 6, 7, 8 |"
        in ladders
    )
    assert ladders.count("none: the task is held out") == 2


def test_numbers_of_one_checkpoint_stand_side_by_side_by_origin() -> None:
    shown = tables.TABLES["v2 by origin"]()
    assert "| prime_apps | 46.39 | 58.52 | - |" in shown
    assert "humaneval_plus" not in shown  # it has one origin only

"""The documentation of the datasets room names what there is: fields, adapters, families, commands, links."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer.main
from pydantic import BaseModel

from prorl_cli.data.app import app as data_app
from prorl_datasets import BENCHMARKS, FORMATS, RECIPES, SOURCES
from prorl_datasets.procedural import families
from prorl_datasets.recipe.parts import (
    Counts,
    Decontamination,
    Difficulty,
    Entry,
    Group,
    Member,
)
from prorl_datasets.recipe.recipe import Recipe, default_prompt, load_recipe, recipe_names
from prorl_datasets.sources.procedural import ProceduralSource
from prorl_datasets.sources.reasoning_gym import ReasoningGymSource
from prorl_datasets.spec import ADAPTERS
from prorl_datasets.storage import COLUMNS
from prorl_datasets.types import DOMAINS

DOCS = Path(__file__).parents[2] / "docs"
PAGES = (
    "guides/datasets.md",
    "concepts/datasets.md",
    "reference/recipes.md",
    "reference/procedural-data.md",
)
SECTIONS: dict[str, type[BaseModel]] = {
    "## Recipe": Recipe,
    "## Entry": Entry,
    "## Counts": Counts,
    "## Group": Group,
    "## decontamination": Decontamination,
    "## difficulty": Difficulty,
    **{
        f"### {spec.name}": spec.settings
        for spec in SOURCES.all()
        if SOURCES.origin(spec.name).is_ours
    },
}


def _read(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def _section(text: str, heading: str) -> str:
    """Return what stands under a heading, up to the next one."""
    _, found, rest = text.partition(f"\n{heading}\n")
    assert found, f"no heading {heading}"
    return re.split(r"\n##+ ", rest, maxsplit=1)[0]


def _first_cells(text: str) -> set[str]:
    """Return the names in code marks in the first cell of each row of the tables in ``text``."""
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("|")]
    return {name for cell in rows for name in re.findall(r"`([^`]+)`", cell)}


@pytest.mark.parametrize("heading", SECTIONS)
def test_the_reference_has_exactly_the_fields_of_each_part_of_a_recipe(heading: str) -> None:
    fields = set(SECTIONS[heading].model_fields) - {"base"}
    if heading == "## Group":
        fields |= set(Member.model_fields)
    section = _section(_read("reference/recipes.md"), heading)
    known = {name for name in _first_cells(section) if name not in DOMAINS}
    assert known == fields


def test_the_reference_has_exactly_the_adapters_with_the_columns_they_need() -> None:
    section = _section(_read("reference/recipes.md"), "## Adapters")
    rows = {line.split("`")[1]: line for line in section.splitlines() if line.startswith("| `")}
    ours = [ADAPTERS.get(name) for name in ADAPTERS.names() if ADAPTERS.origin(name).is_ours]
    adapters = {adapter.name: adapter for adapter in ours if adapter.convert is not None}
    assert set(rows) == set(adapters)
    for name, adapter in adapters.items():
        _, _, domain, columns, *_ = rows[name].split("|")
        assert domain.strip() == adapter.domain
        named = set(re.findall(r"\w+", columns))
        assert {c for group in adapter.columns for c in group if c} <= named, name


def test_the_reference_has_the_columns_and_the_default_templates() -> None:
    text = _read("reference/recipes.md")
    assert _first_cells(_section(text, "## Columns of a dataset")) == set(COLUMNS)
    plain = text.replace("`", "")
    for domain in DOMAINS:
        assert default_prompt(domain).format(question="").strip() in plain


def test_every_packaged_recipe_and_benchmark_is_named() -> None:
    text = _read("reference/recipes.md")
    ours = [n for door in (RECIPES, BENCHMARKS) for n in door.names() if door.find(n)[1].is_ours]
    assert not [name for name in ours if f"`{name}`" not in text]


def test_the_generators_page_lists_exactly_the_families_there_are() -> None:
    text = _read("reference/procedural-data.md")
    domains = {"code": "## Code", "stem": "## STEM", "instruction": "## Instruction"}
    small = _section(text, "## Small families")
    found = set(re.findall(r"`(\w+)`", small))
    for heading in domains.values():
        found |= set(re.findall(r"`(\w+)`", _section(text, heading)))
    assert found == set(families())


def test_the_generators_page_lists_the_families_and_tasks_of_the_procedural_recipe() -> None:
    text = _read("reference/procedural-data.md")
    recipe = load_recipe("prorl-136k-procedural")
    headings = {"code": "## Code", "stem": "## STEM", "instruction": "## Instruction"}
    for domain, heading in headings.items():
        mine = [e.source for e in recipe.entries if e.domain == domain]
        names = [source.family for source in mine if isinstance(source, ProceduralSource)]
        assert len(names) == len(mine)
        section = _section(text, heading)
        assert not [name for name in names if f"`{name}`" not in section]
        said = f"{len(names)} {'STEM' if domain == 'stem' else domain}"
        assert said in " ".join(text.split()).split("## What an item")[0]
    gym = _section(text, "## Tasks of reasoning-gym")
    sources = [e.source for e in recipe.entries]
    tasks = {source.task for source in sources if isinstance(source, ReasoningGymSource)}
    assert set(re.findall(r"`(\w+)`", gym)) == tasks


def _commands() -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        for line in re.findall(r"^(?:    |\$ )(prorl data [^\n]*)$", _read(page), re.MULTILINE):
            found.append((page, line.split("  #")[0].strip()))
    return found


def test_every_data_command_in_the_documentation_parses() -> None:
    verbs: dict[str, Any] = vars(typer.main.get_command(data_app))["commands"]
    lines = _commands()
    assert len(lines) > 10
    for page, line in lines:
        _, _, verb, *words = shlex.split(line)
        assert verb in verbs, f"{page}: {line}"
        given = verbs[verb].make_context(verb, words).params
        recipe = given.get("recipe")
        assert recipe is None or recipe.endswith(".yaml") or recipe in recipe_names(), line
        assert given.get("fmt", FORMATS[0]) in FORMATS, line


def _anchors(text: str) -> set[str]:
    heads = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_to_a_file_and_a_heading(page: str) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", _read(page)):
        if target.startswith(("http://", "https://")):
            continue
        path, _, anchor = target.partition("#")
        file = (DOCS / page).parent / path if path else DOCS / page
        assert file.is_file(), target
        assert not anchor or anchor in _anchors(file.read_text(encoding="utf-8")), target


def test_the_recipes_shown_in_the_guide_are_valid(tmp_path: Path) -> None:
    blocks = re.findall(
        r"^```yaml\n(.*?)^```", _read("guides/datasets.md"), re.DOTALL | re.MULTILINE
    )
    assert len(blocks) == 2
    for number, block in enumerate(blocks):
        path = tmp_path / f"{number}.yaml"
        path.write_text(block, encoding="utf-8")
        assert load_recipe(path).entries

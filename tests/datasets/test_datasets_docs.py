from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import typer.main

from prorl_cli.data.app import app as data_app
from prorl_datasets import FORMATS
from prorl_datasets.recipe.recipe import load_recipe, recipe_names

DOCS = Path(__file__).parents[2] / "docs"
PAGES = (
    "guides/datasets.md",
    "concepts/datasets.md",
    "reference/recipes.md",
    "reference/procedural-data.md",
)


def _read(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


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
        _, _, verb, *words = shlex.split(line, comments=True)
        assert verb in verbs, f"{page}: {line}"
        given = verbs[verb].make_context(verb, words).params
        recipe = given.get("recipe")
        assert recipe is None or recipe.endswith(".yaml") or recipe in recipe_names(), line
        assert given.get("fmt", FORMATS[0]) in FORMATS, line


def test_the_recipes_shown_in_the_guide_are_valid(tmp_path: Path) -> None:
    blocks = re.findall(
        r"^```yaml\n(.*?)^```", _read("guides/datasets.md"), re.DOTALL | re.MULTILINE
    )
    assert len(blocks) == 2
    for number, block in enumerate(blocks):
        path = tmp_path / f"{number}.yaml"
        path.write_text(block, encoding="utf-8")
        assert load_recipe(path).entries

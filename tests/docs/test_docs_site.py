from __future__ import annotations

import importlib
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from prorl_training.config import TrainConfig
from prorl_training.config.presets import preset_names

ROOT = Path(__file__).parents[2]
PAPERS = (ROOT / "docs" / "papers.md").read_text("utf-8")


site = importlib.import_module("docs_site")
links = importlib.import_module("check_links")


def placed(entry: Any) -> list[str]:
    """Return the pages below an entry of the navigation."""
    if isinstance(entry, str):
        return [entry]
    values = entry.values() if isinstance(entry, dict) else entry
    return [page for value in values for page in placed(value)]


def test_every_page_is_in_the_navigation() -> None:
    docs = ROOT / "docs"
    shown = set(placed(site.navigation(docs)))
    assert {page.relative_to(docs).as_posix() for page in docs.rglob("*.md")} <= shown


def test_tutorials_come_in_reading_order(tmp_path: Path) -> None:
    (tmp_path / "tutorials").mkdir()
    for name in ("another", "cluster", "own-model"):
        (tmp_path / "tutorials" / f"{name}.md").touch()
    section = next(part for part in site.navigation(tmp_path) if "Tutorials" in part)
    assert [Path(page).stem for page in section["Tutorials"]] == ["own-model", "cluster", "another"]


@pytest.mark.parametrize("package", site.packages())
def test_api_page_names_what_the_package_exports(package: str) -> None:
    page = site.api_page(package, site.packages()[package])
    names = [name for name in importlib.import_module(package).__all__ if name[0] != "_"]
    places = re.findall(r"^::: (\S+)\.(\w+)$", page, re.MULTILINE)
    assert sorted(name for _, name in places) == sorted(names)
    for place, name in places:  # a function must not be mistaken for its module
        assert not isinstance(getattr(importlib.import_module(place), name), ModuleType)


def test_command_page_has_every_command_and_option() -> None:
    from typer.main import get_command

    from prorl_cli.main import build_app

    page = site.cli_page()
    for path, command in site._commands(("prorl",), get_command(build_app())):
        assert re.search(rf"^#+ {' '.join(path)}$", page, re.MULTILINE)
        for param in command.params:
            if param.param_type_name == "option" and not param.hidden and param.name != "help":
                assert re.search(rf"`{param.opts[0]}\b", page)


def test_every_preset_has_a_place_in_papers_or_is_a_small_one() -> None:
    named = set(re.findall(r"--preset ([\w.-]+)", PAPERS)) | {"no-reset", "no-kl", "no-length"}
    assert named == set(preset_names()) - {"cpu", "quickstart"}


def config_keys() -> list[tuple[str, str]]:
    """Return each `section.key` or `section.key=value` of papers.md."""
    found = re.findall(r"`([a-z_]+(?:\.[a-z_]+)+)(?:=([\w.-]+))?`", PAPERS)
    return sorted(set(found))


@pytest.mark.parametrize(("key", "value"), config_keys())
def test_config_key_of_papers_exists_and_takes_the_value(key: str, value: str) -> None:
    *sections, last = key.split(".")
    model: Any = TrainConfig()
    for section in sections:
        model = getattr(model, section)
    assert last in type(model).model_fields
    if value:
        type(model).model_validate({last: value})


def test_links_of_readme_and_contributing_work() -> None:
    assert [line for page in links.front_pages() for line in links.broken_links(page)] == []


def test_broken_link_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# One thing\n[a](gone.md) [b](#one-thing) [c](#other)\n```\n[d](code.md)\n```\n"
    )
    assert list(links.broken_links(page)) == [
        "page.md: no such file: gone.md",
        "page.md: no such heading: #other",
    ]

"""What CONTRIBUTING and the workflows call exists; links between the pages outside the site work; the README stays short."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "examples/README.md")
]


def targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def test_every_make_target_that_is_named_exists() -> None:
    texts = [p.read_text() for p in (*PAGES, ROOT / ".ci" / "run", *ROOT.glob("docs/*.md"))]
    named = {
        t for text in texts for t in re.findall(r"(?:^|\$ |`)make ([a-z-]+)", text, re.MULTILINE)
    }
    assert named and named <= targets()


def test_the_workflows_call_the_targets_of_ci() -> None:
    flow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
    called = {t.split()[0] for t in flow["jobs"]["make"]["strategy"]["matrix"]["target"]}
    ours = set(re.findall(r"^make ([a-z-]+)", (ROOT / ".ci" / "run").read_text(), re.MULTILINE))
    assert ours <= called <= targets()


def test_templates_and_hooks_parse_and_hooks_call_what_check_calls() -> None:
    for file in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"):
        form = yaml.safe_load(file.read_text())
        assert form["name"] and all(part["attributes"]["label"] for part in form["body"])
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    check = (ROOT / "Makefile").read_text()
    for hook in hooks:
        assert hook["entry"].replace(".venv", "$(VENV)").split()[0].rsplit("/")[-1] in check


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_of_pages_outside_the_site_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
        assert link.startswith("http") or (page.parent / link).exists(), link


def test_the_readme_has_at_most_seven_hundred_words() -> None:
    assert len((ROOT / "README.md").read_text().split()) <= 700


def test_the_readmes_python_names_what_prorl_has() -> None:
    import prorl

    used = set(re.findall(r"\bprorl\.(\w+)", (ROOT / "README.md").read_text()))
    assert {"verify", "train", "evaluate", "compare"} <= used <= set(prorl.__all__)


def test_every_preset_and_setting_on_the_papers_page_exists() -> None:
    from prorl_training.config import TrainConfig
    from prorl_training.config.presets import preset_names

    text = (ROOT / "docs" / "papers.md").read_text()
    presets = set(re.findall(r"--preset ([\w.-]+)", text))
    assert presets <= set(preset_names())
    assert {p for p in preset_names() if f"`{p}`" in text or p in presets} == set(preset_names())
    fields = TrainConfig.model_fields
    for section, key in re.findall(r"`([a-z_]+)\.([a-z_]+)", text):
        if section not in ("prorl", "data"):
            assert key in fields[section].annotation.model_fields, f"{section}.{key}"  # type: ignore[union-attr]

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "examples/README.md")
]


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

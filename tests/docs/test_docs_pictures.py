from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "images" / "view"


@pytest.fixture(scope="module")
def script() -> Any:
    spec = importlib.util.spec_from_file_location(
        "view_pictures", ROOT / "scripts" / "view_pictures.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["view_pictures"] = module  # dataclasses look up their module
    spec.loader.exec_module(module)
    return module


def test_every_picture_is_made_by_the_script_and_shown_in_the_docs_with_words_for_it(
    script: Any,
) -> None:
    made = {picture.name for picture in script.PICTURES}
    assert {file.stem for file in FOLDER.glob("*.png")} == made
    pages = "".join(page.read_text() for page in (ROOT / "docs").rglob("*.md"))
    shown = re.findall(r"!\[([^\]]+)\]\([./]*images/view/([\w-]+)\.png\)", pages)
    assert {name for _, name in shown} == made
    assert all(len(words) > 10 for words, _ in shown)


def test_no_picture_is_larger_than_the_script_lets_it_be(script: Any) -> None:
    assert all(file.stat().st_size <= script.LARGEST for file in FOLDER.glob("*.png"))

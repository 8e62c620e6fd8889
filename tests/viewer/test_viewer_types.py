from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import prorl_viewer

PAGE = Path(prorl_viewer.__file__).parent / "page"


@pytest.mark.slow
def test_the_pages_modules_are_typed_strictly() -> None:
    compiler = shutil.which("tsc")
    if compiler is None:
        words = "no tsc on this machine: apt-get install node-typescript"
        if os.environ.get("CI") == "true":
            pytest.fail(words)
        pytest.skip(words)
    done = subprocess.run([compiler, "-p", str(PAGE)], capture_output=True, text=True, check=False)
    assert done.stdout == "", done.stdout


def test_no_module_of_the_page_makes_markup_or_code_of_a_text() -> None:
    forbidden = (
        "innerHTML", "outerHTML", "insertAdjacentHTML", "dangerouslySetInnerHTML", "document.write",
        "eval(", "new Function", "srcdoc",
    )  # fmt: skip
    own = [file for file in PAGE.rglob("*.js") if "vendor" not in file.parts]
    assert own
    found = [(f.name, word) for f in own for word in forbidden if word in f.read_text()]
    assert found == []

from pathlib import Path

import pytest

from prorl_verifiers.pool import workers

SLEEPER = """
import sys, time
from dataclasses import replace

from prorl_verifiers.libraries import load_library
from prorl_verifiers.math import scorer as math_scorer
from prorl_verifiers.math.spec import SPEC
from prorl_verifiers.pool import worker

def score(text, reference, loading):
    while text == "hang":
        time.sleep(1)
    return math_scorer.score_math(text, reference, loading)

worker.SPECS["math"] = replace(SPEC, score=lambda text, ref: score(text, ref, load_library))
worker.main()
"""


@pytest.fixture
def hang(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return an answer that never gets a verdict, even if the real scorer would reject it early."""
    program = tmp_path / "hanging_template.py"
    program.write_text(SLEEPER)
    monkeypatch.setattr(workers, "PROGRAM", (str(program),))
    return "hang"

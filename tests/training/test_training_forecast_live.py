from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from doubles import Messages


@pytest.mark.slow
def test_a_run_says_where_it_is_heading_every_so_many_validations_when_asked(
    make_engine: Callable[..., Any], make_config: Callable[..., Any], tmp_path: Path
) -> None:
    config = make_config(
        steps=10,
        validation={"every": 1, "problems": 4},
        checkpoint={"every": 100, "best": False},
        logging={"forecast": 4},
        rollout={"prompts": 2, "samples": 2},
    )
    engine = make_engine(config, tmp_path / "run")
    heard = Messages()
    engine.parts = replace(engine.parts, progress=heard)
    engine.run()
    said = [m for m in heard.lines if "forecast for step 10" in m]
    assert [m.split(":")[0] for m in said] == ["step 4", "step 8"]
    assert "4 validations: a curve needs at least 8, which this run has from step 8 on" in said[0]

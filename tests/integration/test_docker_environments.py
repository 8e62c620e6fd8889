from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
import yaml

from prorl_common import UserError
from prorl_sandbox import Limits, Program
from prorl_sandbox.docker_backend import images
from prorl_sandbox.docker_backend.engine import Engine
from prorl_sandbox.docker_backend.sandbox import DockerSandbox
from prorl_sandbox.environments import store
from prorl_sandbox.environments.store import EnvironmentMissing
from prorl_verifiers.code.scorer import score_code

TASKS = yaml.safe_load(
    (Path(__file__).parents[1] / "data/scientific/tasks.yaml").read_text(encoding="utf-8")
)
LIMITS = Limits(wall_seconds=30.0, cpu_seconds=15.0)


@pytest.fixture(scope="module")
def scientific(docker_sandbox: DockerSandbox, image: str) -> DockerSandbox:
    """The containers, with the environment's image built if needed."""
    wanted = store.requirements_of("scientific")
    assert wanted is not None
    images.build_environment(wanted, image)
    return docker_sandbox


def test_the_canonical_solutions_pass_and_the_wrong_ones_do_not(scientific: DockerSandbox) -> None:
    odd = []
    for task in TASKS:
        reference: dict[str, Any] = {
            "environment": "scientific",
            "tests": task["tests"],
            "limits": {"total_seconds": 20},
        }
        if "entry_point" in task:
            reference["entry_point"] = task["entry_point"]
        right, wrong = (
            score_code(f"```python\n{task[which]}```", reference, scientific)
            for which in ("solution", "wrong")
        )
        if right.reward != 1.0 or wrong.reward == 1.0:
            odd.append((task["id"], right.reason, wrong.reason))
    assert not odd


def test_it_is_built_once(scientific: DockerSandbox, image: str) -> None:
    wanted = store.requirements_of("scientific")
    assert wanted is not None and images.build_environment(wanted, image) is False


def test_no_two_programs_draw_the_same_random_numbers(scientific: DockerSandbox) -> None:
    source = "import numpy as np; print(np.random.rand(4).tolist())"
    program = Program(source, environment="scientific")
    assert len({scientific.run(program, LIMITS).stdout for _ in range(6)}) == 6


def test_what_is_loaded_beforehand_does_not_count_for_the_memory_limit(
    scientific: DockerSandbox,
) -> None:
    source = "import pandas, scipy.stats, sympy, networkx, numpy as np\nprint(np.ones(MB << 17).sum() > 0)"
    limits = Limits(wall_seconds=30.0, cpu_seconds=15.0, memory_mb=256)
    fits = Program(source.replace("MB", "200"), environment="scientific")
    too_much = Program(source.replace("MB", "600"), environment="scientific")
    assert scientific.run(fits, limits).stdout == "True\n"
    assert scientific.run(too_much, limits).status == "memory"


def test_programs_with_and_without_packages_share_the_containers_places(
    scientific: DockerSandbox,
) -> None:
    sources = {
        "stdlib": "import sys; print('numpy' in sys.modules, 42)",
        "scientific": "import numpy as np, sys; print('numpy' in sys.modules, np.int64(42))",
    }
    wrong = []

    def work(name: str) -> None:
        for _ in range(8):
            outcome = scientific.run(Program(sources[name], environment=name), LIMITS)
            if outcome.stdout != f"{name == 'scientific'} 42\n":
                wrong.append((name, outcome))

    threads = [threading.Thread(target=work, args=(name,)) for name in [*sources, *sources]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_without_its_image_it_is_a_users_mistake_with_the_cure(
    engine: Engine, image: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRORL_CACHE", str(tmp_path))
    with pytest.raises(EnvironmentMissing, match="build-env scientific --backend docker"):
        images.find_environment(engine, "nowhere", "scientific")
    with pytest.raises(UserError, match="unknown environment"):
        images.find_environment(engine, image, "scientifc")

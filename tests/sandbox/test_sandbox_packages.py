from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from prorl_common import UserError, cache_root
from prorl_sandbox import Limits, LocalSandbox, Program, capabilities
from prorl_sandbox.environments import store
from prorl_sandbox.environments.build import build
from prorl_sandbox.environments.store import Requirements
from prorl_verifiers import Task, VerifierPool
from prorl_verifiers.code.scorer import score_code

pytestmark = pytest.mark.slow  # builds the environment `scientific`
LIMITS = Limits(wall_seconds=30.0, cpu_seconds=15.0)


def out(sandbox: LocalSandbox, source: str, limits: Limits = LIMITS) -> str:
    outcome = sandbox.run(Program(source, environment="scientific"), limits)
    assert outcome.status == "ok", (outcome.status, outcome.stderr)
    return outcome.stdout.strip()


def value(sandbox: LocalSandbox, expression: str) -> Any:
    source = (
        f"import numpy as np, pandas as pd, sortedcontainers as sc\ndef f(): return {expression}\n"
    )
    outcome = sandbox.run(Program(source, call="f", environment="scientific"), LIMITS)
    return outcome.value if outcome.status == "ok" else outcome.status


def test_numpy_is_there_where_it_was_asked_for_and_nowhere_else(scientific: LocalSandbox) -> None:
    assert out(scientific, "import numpy as np; print(np.arange(4).sum())") == "6"
    outcome = scientific.run(Program("import numpy"))
    assert outcome.status == "runtime-error"
    assert outcome.hint == "no module named numpy here: environment scientific has it"


def test_a_program_that_names_none_of_the_packages_runs_in_their_environment(
    scientific: LocalSandbox,
) -> None:
    source = (
        "import sys\nname = 'num' + 'py'\nprint(name in sys.modules, __import__(name).int64(42))"
    )
    assert out(scientific, source) == "False 42"


def test_a_verdict_says_which_environment_has_the_module(scientific: LocalSandbox) -> None:
    reference = {"tests": [{"stdin": "", "stdout": "1\n"}]}
    verdict = score_code("```python\nimport pandas\n```", reference, scientific)
    assert verdict.reward == 0.0
    assert "no module named pandas here: environment scientific has it" in verdict.reason


def test_packages_come_after_the_standard_library_and_cannot_be_written(
    scientific: LocalSandbox,
) -> None:
    source = (
        "import sys, os, numpy\n"
        "print([p for p in sys.path if 'lib-dynload' in p] != [] and sys.path[-1] in numpy.__file__)\n"
        "try:\n    open(os.path.join(sys.path[-1], 'x'), 'w')\n"
        "except OSError:\n    print('refused')\n"
    )
    assert out(scientific, source).split() == ["True", "refused"]


def test_no_path_of_this_user_is_seen(scientific: LocalSandbox) -> None:
    source = "import numpy, scipy.stats as s, traceback\ntry:\n    numpy.linalg.inv(numpy.zeros((2, 2)))\n"
    source += "except Exception:\n    print(traceback.format_exc(), s.__file__, numpy.__path__)\n"
    said = out(scientific, source)
    assert "site-packages/numpy" in said and str(cache_root()) not in said
    assert str(Path.home()) not in said


@pytest.mark.parametrize(
    "source",
    [
        "import numpy as np; print(np.random.rand(4).tolist())",
        "import numpy as np; print(np.random.default_rng().random(4).tolist())",
        "import scipy.stats as s; print(s.norm.rvs(size=4).tolist())",
        "import sympy; from sympy.core.random import rng; print(rng.random())",
        "import numpy, random; print(random.random())",
    ],
)
def test_no_two_boxes_draw_the_same_random_numbers(scientific: LocalSandbox, source: str) -> None:
    assert len({out(scientific, source) for _ in range(6)}) == 6


def test_a_seed_still_gives_the_same_numbers(scientific: LocalSandbox) -> None:
    source = "import numpy as np; np.random.seed(3); print(np.random.rand(3).tolist())"
    assert len({out(scientific, source) for _ in range(3)}) == 1


def test_a_box_has_one_thread(scientific: LocalSandbox) -> None:
    source = (
        "import numpy as np, scipy.linalg as l, os, threading\n"
        "a = np.random.rand(300, 300); (a @ a).sum(); l.svd(a)\n"
        "print(threading.active_count(), os.environ['OPENBLAS_NUM_THREADS'])\n"
    )
    assert out(scientific, source) == "1 1"


def test_what_is_loaded_beforehand_does_not_count_for_the_memory_limit(
    scientific: LocalSandbox,
) -> None:
    source = "import pandas, scipy.stats, sympy, networkx, numpy as np\nprint(np.ones(MB << 17).sum() > 0)"
    limits = Limits(wall_seconds=30.0, cpu_seconds=15.0, memory_mb=256)
    assert out(scientific, source.replace("MB", "200"), limits) == "True"
    program = Program(source.replace("MB", "400"), environment="scientific")
    assert scientific.run(program, limits).status == "memory"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("np.float32(1.5)", 1.5),
        ("np.int64(3)", 3),
        ("np.bool_(True)", True),
        ("np.str_('a')", "a"),
        ("np.complex64(1 + 2j)", 1 + 2j),
        ("np.longdouble(2)", 2.0),
        ("np.datetime64('2024-01-02')", "2024-01-02"),
        ("np.arange(6).reshape(2, 3)", [[0, 1, 2], [3, 4, 5]]),
        ("np.array(7)", 7),
        ("np.zeros((2, 0))", [[], []]),
        ("np.array([1, 'a', None], dtype=object)", [1, "a", None]),
        ("{np.int8(1): (np.float64(2), [np.array([True])])}", {1: (2.0, [[True]])}),
        ("pd.Series([1, 2], index=['a', 'b'])", [1, 2]),
        ("pd.Index(['a'])", ["a"]),
        ("pd.DataFrame({'a': [1, 2], 'b': ['x', 'y']})", {"a": [1, 2], "b": ["x", "y"]}),
        ("sc.SortedList([2, 1])", [1, 2]),
        ("sc.SortedDict(a=1)", {"a": 1}),
        ("sc.SortedSet([2])", {2}),
    ],
)
def test_values_of_packages_leave_as_builtin_ones(
    scientific: LocalSandbox, expression: str, expected: Any
) -> None:
    found = value(scientific, expression)
    assert found == expected and type(found) is type(expected)


@pytest.mark.parametrize(
    "expression",
    [
        "type('Mine', (np.float64,), {})(1)",
        "type('Mine', (np.ndarray,), {})((2,))",
        "type('Mine', (pd.DataFrame,), {})({'a': [1]})",
        "np.ma.array([1, 2])",
        "np.zeros(1, dtype=[('a', 'i4')])",
        "pd.MultiIndex.from_tuples([(1, 2)])",
        "np.zeros(1_000_001)",
        "np",
    ],
)
def test_subclasses_and_what_has_no_plain_form_do_not_leave(
    scientific: LocalSandbox, expression: str
) -> None:
    assert value(scientific, expression) == "unserialisable"


def test_arrays_and_frames_reach_a_check_and_a_submission_as_they_are(
    scientific: LocalSandbox,
) -> None:
    check = """
import numpy as np, pandas as pd
def check(candidate):
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", None], "c": pd.to_datetime(["2024-01-01", "2024-05-01"])})
    pd.testing.assert_frame_equal(candidate(frame), frame)
    series = pd.Series([1.5, 2.0], index=["a", "b"], name="n")
    pd.testing.assert_series_equal(candidate(series), series)
    for given in (np.arange(6, dtype="f4").reshape(2, 3), np.zeros((0, 2)), np.array(["a"]), np.float32(2),
                  np.bool_(True), np.timedelta64(3, "h"), np.array([1, "a", None], dtype=object)):
        got = candidate(x=[given])[0]
        assert type(got) is type(given) and got.dtype == given.dtype and str(got) == str(given), (got, given)
    assert candidate({np.int64(3): 1}) == {3: 1}
"""
    program = Program("import numpy, pandas\ndef f(x): return x\n", environment="scientific")
    outcome = scientific.run_check(program, check, "f", LIMITS)
    assert outcome.status == "ok", outcome.stderr


def test_an_environment_that_is_not_there_is_a_users_mistake_before_anything_runs(
    sandbox: LocalSandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PRORL_CACHE", str(tmp_path))
    mine = LocalSandbox(capabilities.WALLS, "test")
    task = Task("code", {"tests": [{"stdout": ""}], "environment": "scientific"})
    with VerifierPool(1, mine) as pool, pytest.raises(UserError, match="build-env scientific"):
        pool.score([("```python\npass\n```", task)])
    with VerifierPool(1, mine) as pool, pytest.raises(UserError, match="build-env scientific"):
        pool.require([task])
    with pytest.raises(UserError, match="unknown environment 'scientifc'"):
        mine.check_environment("scientifc")
    mine.close()


@pytest.fixture(scope="module")
def lab(
    tmp_path_factory: pytest.TempPathFactory, write_wheel: Callable[..., str]
) -> Iterator[Path]:
    """A cache with an environment ``mylab`` of one small package that records its imports."""
    place = tmp_path_factory.mktemp("lab")
    files = {
        "tinypack.py": "import random\nRNG = random.Random()\nVALUE = 41\n",
        "json.py": "raise SystemExit('not the standard library')\n",
    }
    write_wheel(place / "wheels", "tinypack", "1.0", files)
    before, os.environ["PRORL_CACHE"] = os.environ.get("PRORL_CACHE"), str(place / "cache")
    try:
        places = f"--no-index\n--find-links {place / 'wheels'}"
        build(Requirements("mylab", f"# preload: tinypack\n{places}\ntinypack==1.0\n"))
        store._owners.cache_clear()
        yield place
    finally:
        store._owners.cache_clear()
        if before is None:
            del os.environ["PRORL_CACHE"]
        else:
            os.environ["PRORL_CACHE"] = before


def test_an_own_environment_is_used_like_ours(sandbox: LocalSandbox, lab: Path) -> None:
    with LocalSandbox(capabilities.WALLS, "test") as mine:
        source = "import json, tinypack\nprint(tinypack.VALUE + 1, tinypack.RNG.random())\n"
        ran = [mine.run(Program(source, environment="mylab")) for _ in range(3)]
        assert {outcome.stdout.split()[0] for outcome in ran} == {"42"}
        assert len({outcome.stdout for outcome in ran}) == 3
        with pytest.raises(UserError, match="available only for Python"):
            mine.run(Program("", language="cpp", environment="mylab"))

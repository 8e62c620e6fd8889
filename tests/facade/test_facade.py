from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from doubles import write_data, write_model

import prorl
import prorl_datasets
import prorl_evaluation
import prorl_verifiers
from prorl_common import NullProgress


def test_importing_it_loads_no_room() -> None:
    code = (
        "import sys, json, prorl; "
        "print(json.dumps(sorted(m for m in sys.modules if m.startswith('prorl'))))"
    )
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    loaded = {name.partition(".")[0] for name in json.loads(run.stdout)}
    assert loaded == {"prorl", "prorl_common"}


def test_every_name_is_there_and_typed_the_same() -> None:
    tree = ast.parse(Path(str(prorl.__file__)).read_text())
    block = next(n for n in tree.body if isinstance(n, ast.If))
    typed = {
        alias.asname or alias.name: (node.module, alias.name)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert sorted(typed) == sorted(prorl.__all__)
    for name, (module, there) in typed.items():
        __import__(str(module))
        assert getattr(prorl, name) is getattr(sys.modules[str(module)], there)


def test_names_are_the_rooms_own() -> None:
    assert prorl.verify is prorl_verifiers.verify
    assert prorl.load_dataset is prorl_datasets.load
    assert prorl.compare is prorl_evaluation.compare
    assert prorl.pass_at_k is prorl_evaluation.pass_at_k


def test_the_version_is_the_packages() -> None:
    from importlib.metadata import version

    assert prorl.__version__ == version("prorl")


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        getattr(prorl, "nope")  # noqa: B009


def test_an_answer_is_verified() -> None:
    task = prorl.Task("math", {"answer": "0.5"})
    assert prorl.verify(r"The answer is \boxed{1/2}.", task).reward == 1.0
    assert prorl.verify(r"The answer is \boxed{2}.", task).reward == 0.0


TINY: dict[str, Any] = {
    "rollout__prompts": 2,
    "rollout__samples": 2,
    "rollout__max_tokens": 6,
    "warm_start__examples": 4,
    "validation__every": 0,
    "logging__tensorboard": False,
    "dynamic_sampling__enabled": False,  # a random model earns nothing, and a run without usable groups fails
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny model and a tiny dataset."""
    root = write_data(tmp_path_factory.mktemp("facade"), train=12, validation=2, test=4)
    write_model(root / "model")
    return root


@pytest.fixture
def data(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(place)
    return Path("data/tiny")


def test_a_model_is_trained_resumed_evaluated_and_compared(data: Path) -> None:
    quiet = NullProgress()
    report = prorl.train(
        "cpu", data=data, model="model", steps=1, name="mine", progress=quiet, **TINY
    )
    assert report.run == Path("runs/mine") and report.last_step == 1 and not report.interrupted
    assert prorl.train(resume="mine", steps=2, progress=quiet).last_step == 2
    before, after = prorl.evaluate(
        run="mine",
        checkpoints=[0, "latest"],
        dataset=data,
        k=1,
        n=2,
        progress=quiet,
        sampling__temperature=1.0,
    )
    assert before.settings.temperature == 1.0 and after.label == "mine step 2"
    assert prorl.compare(before, after).paired == len(prorl.load_dataset(data, "test")) == 4
    (alone,) = prorl.evaluate("model", dataset=data, k=1, n=1, progress=quiet)
    assert alone.overall.problems == 4
    with pytest.raises(prorl.UserError, match="has done all its 2 steps"):
        prorl.train(resume="mine", progress=quiet)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: prorl.train("cpus", data="data/tiny"), "cpus"),
        (lambda: prorl.train("cpu", resume="mine"), "leave out preset and name"),
        (lambda: prorl.train("cpu", data="data/tiny", optimiser__lr=1.0), "optimiser"),
        (lambda: prorl.evaluate("model", dataset="data/tiny", k=4, n=2), "k > n"),
        (lambda: prorl.evaluate("model", dataset="data/none", k=1, n=1), "data/none"),
        (lambda: prorl.evaluate("model", dataset="data/tiny", sampling__heat=1), "heat"),
    ],
)
def test_a_mistake_is_one_line(data: Path, call: object, words: str) -> None:
    assert callable(call)
    with pytest.raises(prorl.UserError, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from command_line import prorl
from doubles import write_data, write_model

from prorl_common import UnknownNameError, UserError
from prorl_inference import BACKENDS, BackendSpec, pick_backend

pytestmark = pytest.mark.usefixtures("lab_parts")

ONE_STEP = {
    "model.path": "model",
    "model.device": "cpu",
    "data.path": "data/tiny",
    "rollout.backend": "canned",
    "rollout.prompts": 2,
    "rollout.samples": 2,
    "rollout.max_tokens": 6,
    "dynamic_sampling.enabled": "false",
    "warm_start.examples": 0,
    "validation.every": 0,
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write_data(tmp_path_factory.mktemp("backend"))
    write_model(root / "model")
    return root


def evaluate(place: Path, backend: str, out: str, **environment: str) -> dict[str, Any]:
    done = prorl(
        place,
        *("eval", "pass-at-k", "--model", "model", "--dataset", "data/tiny"),
        *("--set", f"model.backend={backend}"),
        *("--k", "2", "--n", "4", "--set", "scoring.workers=1", "--out", out, "--json"),
        **environment,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)["results"][0]
    return found


def test_an_evaluation_samples_with_the_backend_of_an_installed_distribution(place: Path) -> None:
    result = evaluate(place, "canned", "wrong", CANNED_ANSWER="no idea")
    assert result["settings"]["backend"] == "canned"
    assert result["settings"]["extra"] == {"plugin": "lab-parts 1.0"}
    rows = [json.loads(line) for line in (place / "wrong/samples.jsonl").read_text().splitlines()]
    assert len(rows) == 3 * 4 and {row["backend"] for row in rows} == {"canned"}
    assert {row["text"] for row in rows} == {"no idea"} and {row["tokens"] for row in rows} == {2}
    verdicts = (place / "wrong/verdicts.jsonl").read_text().splitlines()
    assert {json.loads(line)["reward"] for line in verdicts} == {0.0}


def test_a_plug_in_files_backend_is_found_in_child_processes(place: Path) -> None:
    file = place / "parrot.py"
    file.write_text(
        "from lab_parts.backend import Canned\n"
        "from prorl_inference import BackendSpec\n"
        "SPEC = BackendSpec('parrot', Canned)\n"
    )
    loaded = json.dumps([[str(file), hashlib.sha256(file.read_bytes()).hexdigest()]])
    result = evaluate(place, "parrot", "parrot", PRORL_PLUGINS=loaded)
    assert result["settings"]["backend"] == "parrot"
    assert result["settings"]["extra"]["plugin"].startswith("parrot.py sha256:")


@pytest.mark.slow
def test_a_training_run_samples_with_it_when_its_spec_says_so(place: Path) -> None:
    settings = [word for k, v in ONE_STEP.items() for word in ("--set", f"{k}={v}")]
    train = ("train", "--preset", "cpu", "--steps", "1", "--name", "canned", *settings)
    done = prorl(place, *train, CANNED_ANSWER="a b c")
    assert done.returncode == 0, done.stderr
    (row,) = map(json.loads, (place / "runs/canned/metrics.jsonl").read_text().splitlines())
    assert row["response_length_mean"] == 3.0
    identity = json.loads((place / "runs/canned/identity.json").read_text())
    assert identity["parts"] == BACKENDS.records(["canned"])


def test_an_unknown_backend_is_one_line_with_the_nearest_and_their_sources(place: Path) -> None:
    done = prorl(
        place,
        "eval",
        "pass-at-k",
        "--model",
        "model",
        "--dataset",
        "data/tiny",
        "--set",
        "model.backend=caned",
    )
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "unknown backend 'caned' (did you mean 'canned'" in done.stderr
    assert "canned (of lab-parts); server, transformers, vllm, vllm-server (of" in done.stderr
    with pytest.raises(UnknownNameError, match="canned"):
        pick_backend("caned")
    train = prorl(
        place, "train", "--preset", "cpu", "--set", "rollout.backend=caned", "--steps", "1"
    )
    assert train.returncode == 2 and "did you mean 'canned'" in train.stderr


def test_who_did_the_sampling_is_on_record_unless_it_is_ours() -> None:
    (record,) = BACKENDS.records(["canned", "transformers"])
    assert record == {
        "group": "prorl.backends",
        "name": "canned",
        "source": "lab-parts",
        "version": "1.0",
    }


def test_a_backend_whose_package_is_missing_names_it_and_auto_never_takes_it() -> None:
    spec = BackendSpec("lab", lambda _: pytest.fail("opened"), requires="no_such_package")
    with pytest.raises(UserError, match="pip install no_such_package"):
        spec.check_installed()
    assert pick_backend("auto", "cpu").name == "transformers"

"""The local engine's step on a CUDA device without data (``fake_cuda/fake_step.py``) finds errors of a GPU.

Not tested: numbers, speed, memory, and kernels missing on a GPU for reasons other than types.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

HERE = Path(__file__).with_name("fake_cuda")
QUICK = ["loss.on_policy_ratio=true", "kl.measure_share_every=0"]

GOES_THROUGH: dict[str, dict[str, Any]] = {
    "an update in float32": {"run": "update"},
    "an update in bfloat16": {"run": "update", "dtype": "bfloat16"},
    "recomputed activations": {
        "run": "update",
        "dtype": "bfloat16",
        "settings": ["model.gradient_checkpointing=true"],
    },
    "adapters": {"run": "update", "dtype": "bfloat16", "settings": ["model.lora.rank=2"]},
    "a sequence mask": {"run": "update", "settings": ["loss.mismatch.correction=sequence_mask"]},
    "sampling in fixed batches": {"run": "sampling", "settings": ["1.0", "fixed"]},
    "sampling with refill": {"run": "sampling", "dtype": "bfloat16", "settings": ["1.0", "refill"]},
}

FAULTS = {
    "the bias stays on the host": "DeviceMismatch",
    "a large tensor is made on the host": "10000 numbers to the device",
    "advantages stay on the host": "DeviceMismatch",
    "an index from the host": "an index that lies on the host",
    "index_select by the host": "DeviceMismatch",
    "float64 in the loss": "makes float64",
    "products of two types": "does not exist on a GPU",
    "a product of integers": "does not exist on a GPU",
    "item() of the loss": "DataDependent",
    "cpu() of the loss": "copies to the host",
    "tolist() of log-probs": "DataDependent",
    "a test of a value": "DataDependent",
    "a length that only the device knows": "DynamicOutputShape",
    "a gradient that is read in the backward pass": "DataDependent",
}
"""Planted fault -> part of the error message."""


def stub(folder: Path) -> Path | None:
    """Compile the stub for this torch; None if torch is built with CUDA, which needs a driver instead."""
    if torch.version.cuda is not None:
        if not torch.cuda.is_available():
            pytest.skip("torch is built with CUDA and finds no GPU: its CPU build runs these tests")
        return None
    compiler = shutil.which(os.environ.get("CXX", "c++").split()[0])
    if compiler is None:
        reason = (
            "no C++ compiler: torch's CPU build needs a stub to differentiate fake CUDA tensors"
        )
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    home, made = Path(torch.__file__).parent, folder / "stub.so"
    words = [compiler, "-std=c++20", "-O0", "-shared", "-fPIC", str(HERE / "stub.cpp")]
    words += [f"-I{home / 'include'}", f"-L{home / 'lib'}", "-lc10", "-ltorch_cpu", "-o", str(made)]
    done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"the stub does not fit torch {torch.__version__}:\n{done.stderr}"
    return made


def outcomes_of(cases: dict[str, dict[str, Any]], folder: Path) -> dict[str, str | None]:
    """Return the error of each case's step, or None, all in one process."""
    made = stub(folder)
    environment = dict(os.environ)
    if made is not None:
        environment["LD_PRELOAD"] = str(made)
        environment["LD_LIBRARY_PATH"] = str(Path(torch.__file__).parent / "lib")
    given = json.dumps({"stub": None if made is None else str(made), "cases": cases})
    words = [sys.executable, "-W", "error", str(HERE / "fake_step.py"), given]
    done = subprocess.run(
        words, check=False, capture_output=True, text=True, timeout=600, env=environment
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, str | None] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str | None]:
    return outcomes_of(GOES_THROUGH, tmp_path_factory.mktemp("stub"))


@pytest.mark.parametrize("name", GOES_THROUGH)
def test_the_step_goes_through_on_a_device_without_data(
    outcomes: dict[str, str | None], name: str
) -> None:
    assert outcomes[name] is None


@pytest.mark.slow
def test_no_planted_fault_passes_unseen(tmp_path: Path) -> None:
    cases = {name: {"run": "update", "settings": QUICK, "fault": name} for name in FAULTS}
    found = outcomes_of(cases, tmp_path)
    unseen = [name for name, words in FAULTS.items() if words not in (found[name] or "")]
    assert unseen == []

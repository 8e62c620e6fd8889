from __future__ import annotations

import pytest
import torch

from prorl_common import UserError
from prorl_inference import pick_device


def test_the_cpu_is_taken_as_named_and_where_there_is_no_gpu() -> None:
    assert pick_device("cpu") == "cpu"
    assert pick_device("auto") == ("cuda" if torch.cuda.is_available() else "cpu")


@pytest.mark.parametrize("device", ["gpu", "GPU", "cuda:", "cuda:x", "cuda1", "cpu:", "", "-1"])
def test_a_device_that_is_none_names_those_there_are(device: str) -> None:
    with pytest.raises(UserError, match=r"use auto, cpu, cuda or cuda:1") as error:
        pick_device(device)
    assert f"'{device}'" in str(error.value) and "\n" not in str(error.value)


def test_a_gpu_beyond_those_there_are_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert pick_device("cuda:1") == "cuda:1" and pick_device("cuda") == "cuda"
    with pytest.raises(UserError, match="torch finds 2 GPUs: use cuda:0 to cuda:1"):
        pick_device("cuda:2")

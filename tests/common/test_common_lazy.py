from __future__ import annotations

import socket
import subprocess
import sys
from importlib import import_module

import pytest

from prorl_common.private import Private

LAZY = (
    "prorl",
    "prorl_verifiers",
    "prorl_datasets",
    "prorl_inference",
    "prorl_sandbox",
    "prorl_training",
)


@pytest.mark.parametrize("package", LAZY)
def test_every_name_that_a_room_offers_can_be_loaded(package: str) -> None:
    room = import_module(package)
    assert set(room.__all__) <= set(dir(room))
    for name in room.__all__:
        assert getattr(room, name) is not room
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nothing'"):
        _ = room.nothing


@pytest.mark.parametrize("package", LAZY)
def test_a_room_loads_no_module_of_ours_before_a_name_is_used(package: str) -> None:
    program = (
        f"import sys, {package}; print(*(n for n in sys.modules if n.startswith('{package}')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = {name for name in done.stdout.split() if name.split(".")[0] == package}
    assert loaded == {package}


ENVIRONMENT = {"HOME": "/home/ann", "WANDB_API_KEY": "0123456789abcdef", "HF_HOME": "/nowhere"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("saved to /home/ann/runs/x: done", "saved to [path]: done"),
        ("see ~/notes.txt, ./here/x and ../x", "see [path], [path] and [path]"),
        ("file '/mnt/My Disk/secret plan/a.py'", "file '[path]'"),
        ("data/mine -> other", "[path] -> other"),
        ("http://node7:8000/v1 and 10.1.2.3:22 and gpu.lab.example:6379", "[address] and [address] and [address]"),
        ("key 0123456789abcdef", "key [secret]"),
        ("hf_abcdefghijklm sk-abcdefghijklmno Bearer abcdefghij", "[secret] [secret] [secret]"),
    ],
)  # fmt: skip
def test_paths_addresses_and_secrets_are_taken_out(text: str, shown: str) -> None:
    assert Private(ENVIRONMENT, ["/mnt/My Disk/secret plan", "data/mine"]).text(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "KL 0.3 / 0.1, 12/20 groups, and/or, I/O, tokens/s, math/algebra",
        "kl 0.5 -> 0.25 (step 1,200): 3.5 of 8.25",
        "owner/name at HuggingFaceTB/SmolLM2-135M-Instruct",
        "<think>x</think>, hf_transfer",
        "data/minerals",
    ],
)
def test_what_is_no_place_stays(text: str) -> None:
    assert Private(ENVIRONMENT, ["data/mine"]).text(text) == text


def test_settings_that_are_named_as_secrets_are_left_out_and_numbers_of_tokens_stay() -> None:
    value = {"api_key": "x", "hub": {"token": "y", "max_tokens": 8}, "tokens": 3, "key": "level"}
    assert Private({}).json(value) == {"hub": {"max_tokens": 8}, "tokens": 3, "key": "level"}


def test_this_machines_name_is_taken_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "trainer-12")
    assert (
        Private({}).text("lost trainer-12, kept trainer-123") == "lost [address], kept trainer-123"
    )

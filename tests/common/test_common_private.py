from __future__ import annotations

import socket

import pytest

from prorl_common.private import Private

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

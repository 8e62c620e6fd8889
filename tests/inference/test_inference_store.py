from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from hub_faults import Body, Status
from hub_server import FakeHub

from prorl_common import UserError
from prorl_inference import (
    ModelError,
    Request,
    SamplingParams,
    cpu_has_fast_bf16,
    list_models,
    load_generator,
    load_model,
    model_digest,
    pick_dtype,
    resolve_model,
)
from prorl_inference.testing import byte_tokenizer, tiny_model


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PRORL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    folder = tmp_path / "saved"
    model: Any = tiny_model(seed=1, spread=0.3)
    model.save_pretrained(folder)
    tokenizer: Any = byte_tokenizer()
    tokenizer.save_pretrained(folder)
    return folder


def one_line(error: pytest.ExceptionInfo[UserError]) -> str:
    text = str(error.value)
    assert "\n" not in text
    return text


def test_an_alias_that_is_not_cached_names_the_fetch_command(cache: Path) -> None:
    with pytest.raises(ModelError) as caught:
        resolve_model("smollm2-135m")
    assert "prorl model fetch smollm2-135m" in one_line(caught)
    assert not cache.exists()


def test_a_hub_id_that_cannot_be_reached_says_what_to_do(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelError) as caught:
        resolve_model("nobody-at-all/no-such-model")
    text = one_line(caught)
    assert "nobody-at-all/no-such-model" in text
    assert "prorl model fetch smollm2-135m" in text


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("/api/models/", Body(b"<html>sign in</html>")),
        ("/api/models/", Body(b"null")),
        ("/api/models/", Body(b"[1]")),
        ("/api/models/", Body(b'{"sha": 7}')),
        ("/api/models/", Status(418)),
        ("/tree/", Body(b"[null]")),
        ("/tree/", Body(b'[{"type": "file"}]')),
        ("/resolve/", Body(b"")),
        ("/resolve/", Status(403)),
    ],
    ids=str,
)
def test_an_odd_answer_of_the_hub_is_one_line(
    cache: Path, hub: FakeHub, monkeypatch: pytest.MonkeyPatch, path: str, fault: Body | Status
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(cache / "hub"))
    hub.put("models/me/tiny", {"config.json": b"{}"})
    hub.plan.by_path[path] = [fault] * 20
    with pytest.raises(ModelError, match="cannot get 'me/tiny' from the hub") as caught:
        resolve_model("me/tiny")
    assert "prorl model fetch smollm2-135m" in one_line(caught)
    hub.plan.by_path.clear()
    assert (resolve_model("me/tiny") / "config.json").is_file()


def test_known_models_are_listed_before_they_are_fetched(cache: Path) -> None:
    entries = {entry.name: entry for entry in list_models()}
    assert entries["smollm2-135m"].path is None
    assert entries["smollm2-135m"].licence == "Apache-2.0"


def test_a_saved_model_loads_and_answers_like_the_one_in_memory(saved: Path) -> None:
    from prorl_inference import BackendOptions, TransformersGenerator, pick_backend

    requests = [Request([{"role": "user", "content": "abc"}], (1, 2))]
    params = SamplingParams(max_tokens=12)
    live = TransformersGenerator(tiny_model(seed=1, spread=0.3), byte_tokenizer())
    loaded = load_generator(str(saved), device="cpu", dtype="fp32")
    assert loaded.generate(requests, params) == live.generate(requests, params)  # bit for bit
    assert loaded.model_digest == model_digest(saved)
    assert loaded.model_id == str(saved)
    options = BackendOptions(saved, "cpu", "fp32", batching="refill")
    opened: Any = pick_backend("transformers", "cpu").open(options)
    assert opened.batching == "refill"


def test_the_digest_follows_the_weights(saved: Path) -> None:
    before = model_digest(saved)
    model: Any = tiny_model(seed=2)
    model.save_pretrained(saved)
    assert model_digest(saved) != before


def test_a_cut_off_weight_file_is_a_model_error(saved: Path) -> None:
    file = saved / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(ModelError) as caught:
        load_model(saved, "cpu", torch.float32)
    assert str(saved) in one_line(caught)


def test_missing_weights_are_never_filled_with_random_numbers(saved: Path) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(saved / "model.safetensors")
    del weights["model.layers.1.mlp.up_proj.weight"]
    save_file(weights, saved / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=r"incomplete: 1 weights.*layers\.1\.mlp\.up_proj"):
        load_model(saved, "cpu", torch.float32)


def test_a_broken_config_is_a_model_error(saved: Path) -> None:
    (saved / "config.json").write_text("{")
    with pytest.raises(ModelError) as caught:
        load_model(saved, "cpu", torch.float32)
    assert str(saved) in one_line(caught)


def test_pickled_weights_are_refused(saved: Path) -> None:
    (saved / "model.safetensors").rename(saved / "pytorch_model.bin")
    with pytest.raises(ModelError, match=r"only pytorch_model\.bin.*safetensors"):
        load_model(saved, "cpu", torch.float32)


@pytest.mark.parametrize("damage", ["weights", "card"])
def test_a_corrupt_cached_model_names_the_forced_fetch(saved: Path, damage: str) -> None:
    card = {"alias": "smollm2-135m", "files": {"model.safetensors": "0" * 64}}
    text = json.dumps(card)
    (saved / "prorl_model.json").write_text(text if damage == "weights" else text[:20])
    with pytest.raises(ModelError) as caught:
        load_model(saved, "cpu", torch.float32)
    assert "corrupt" in one_line(caught)
    assert "prorl model fetch" in str(caught.value) and "--force" in str(caught.value)


@pytest.mark.parametrize(
    ("flags", "fast"),
    [("avx2 avx512f", False), ("avx512f avx512_bf16", True), ("amx_bf16 amx_tile", True)],
)
def test_bf16_is_chosen_by_the_cpus_flags(tmp_path: Path, flags: str, fast: bool) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(f"processor : 0\nflags\t\t: fpu {flags}\nbugs : none\n")
    assert cpu_has_fast_bf16(cpuinfo) is fast
    assert cpu_has_fast_bf16(tmp_path / "absent") is False


def test_dtypes_go_by_name_and_unknown_ones_are_refused() -> None:
    assert pick_dtype("cpu", "bf16") == torch.bfloat16
    assert pick_dtype("cpu", "fp32") == torch.float32
    assert pick_dtype("cpu") in {torch.float32, torch.bfloat16}
    with pytest.raises(UserError, match="fp32"):
        pick_dtype("cpu", "int3")


def test_weights_that_are_a_git_lfs_pointer_are_refused_with_the_cure(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"
    (tmp_path / "model.safetensors").write_text(pointer)
    with pytest.raises(ModelError, match=r"is a Git LFS pointer.*git lfs pull") as caught:
        load_model(tmp_path, "cpu", torch.float32)
    one_line(caught)

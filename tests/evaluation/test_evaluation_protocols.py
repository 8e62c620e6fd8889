"""Protocol presets, what overrides them, and which backend samples."""

from __future__ import annotations

import pytest

from prorl_common import MissingExtraError, UnknownNameError, UserError
from prorl_evaluation import EvalSettings, EvaluationError
from prorl_evaluation.sampling.protocols import PROTOCOLS, Asked, Protocol, merge, pick_protocol
from prorl_inference import pick_backend


def test_the_presets_are_the_published_ones() -> None:
    rows = {p.name: (p.n, p.temperature, p.top_p, p.max_tokens) for p in PROTOCOLS.values()}
    assert rows == {
        "prorl": (16, 0.6, 0.95, 32_768),
        "boundary": (256, 0.6, 0.95, 32_768),
        "justrl": (32, 0.7, 0.9, 32_768),
    }
    for p in PROTOCOLS.values():
        assert not EvalSettings(p.n, p.k).near_any_success


def test_what_is_asked_for_comes_before_the_protocol_and_that_before_the_defaults() -> None:
    prorl = pick_protocol("prorl")
    assert merge(Asked(temperature=0.0, n=4), prorl) == Protocol("prorl", 4, 1, 0.0, 0.95, 32_768)
    assert merge(Asked(), None) == Protocol("", 256, 128, 0.6, 0.95, 512)
    assert merge(Asked(k=8), None, 77) == Protocol("", 16, 8, 0.6, 0.95, 77)
    assert merge(Asked(max_tokens=9), prorl, 77).max_tokens == 9
    assert merge(Asked(n=64), pick_protocol("boundary")).k == 64


def test_an_unknown_protocol_names_the_nearest_and_all() -> None:
    with pytest.raises(EvaluationError, match=r"did you mean 'prorl'.*prorl, boundary, justrl"):
        pick_protocol("prolr")
    assert pick_protocol(None) is None


def test_the_backend_is_the_server_where_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pick_backend("auto", "cpu", "http://x").name == "server"
    assert pick_backend("transformers", "cpu", None).name == "transformers"
    with pytest.raises(UserError, match="go together"):
        pick_backend("server", "cpu", None)
    with pytest.raises(UserError, match="go together"):
        pick_backend("vllm", "cpu", "http://x")
    with pytest.raises(UnknownNameError, match="did you mean 'vllm'"):
        pick_backend("vlm", "cpu", None)


def test_auto_takes_vllm_only_where_it_is_installed_and_the_model_is_on_a_gpu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    installed: list[object] = []
    monkeypatch.setattr(
        "prorl_inference.spec.importlib.util.find_spec",
        lambda name: installed[0] if installed else None,
    )
    assert pick_backend("auto", "cuda", None).name == "transformers"
    with pytest.raises(MissingExtraError):
        pick_backend("vllm", "cpu", None).check_installed()
    installed.append(object())
    assert pick_backend("auto", "cpu", None).name == "transformers"
    monkeypatch.setattr("prorl_inference.spec.pick_device", lambda device: "cuda:0")
    assert pick_backend("auto", "auto", None).name == "vllm"

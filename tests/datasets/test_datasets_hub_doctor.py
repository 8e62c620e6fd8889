from __future__ import annotations

import json
import socket
from typing import Any

import pytest
from hub_faults import Status
from hub_server import TOKEN, FakeHub
from hub_sets import put_benchmarks, put_training_sets
from typer.testing import CliRunner

from prorl_cli.main import build_app
from prorl_common.http import RetryPolicy
from prorl_datasets import choose_bare_recipe, load_recipe
from prorl_datasets.hub import hub as hub_files
from prorl_datasets.hub import reach


def doctor(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(
        build_app(), ["data", "build", "--recipe", "prorl-136k", "--check", *words]
    )
    return result.exit_code, result.stdout


@pytest.fixture
def sets(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> FakeHub:
    monkeypatch.setattr(hub_files, "POLICY", RetryPolicy(first=0.01, longest=0.05, tries=3))
    put_training_sets(hub)
    put_benchmarks(hub)
    return hub


def test_every_source_is_a_line_with_what_it_would_take_and_nothing_is_fetched(
    sets: FakeHub,
) -> None:
    code, shown = doctor()
    assert code == 0
    lines = shown.splitlines()[:4]
    assert [line.split()[:2] for line in lines] == [
        ["ok", "math-deepscaler:"],
        ["ok", "code-eurus:"],
        ["ok", "stem-scp116k:"],
        ["ok", "instruction-nemotron:"],
    ]
    assert "deepscaler.json" in lines[0] and "columns problem, answer, solution" in lines[0]
    assert "SCP_116K_in_open_source_format.jsonl" in lines[2] and "r1_response" in lines[2]
    whole = {len(data) for data in sets.large.values()}
    asked = [s.span for s in sets.seen if s.host == "store"]
    assert len(asked) >= 4 and None not in asked and whole


def test_failing_sources_are_named_with_the_reason_and_the_exit_code_is_1(sets: FakeHub) -> None:
    sets.put("EricLu/SCP-116K", {"SCP_116K_in_open_source_format.jsonl": b'{"question": "?"}\n'})
    sets.repos["nvidia/Llama-Nemotron-Post-Training-Dataset"].gated = True
    sets.put("agentica-org/DeepScaleR-Preview-Dataset", {"README.md": b""},
             name="b6ae8c60f5c1f2b594e2140b91c49c9ad0949e29")  # fmt: skip
    code, shown = doctor()
    assert code == 1
    lines = shown.splitlines()[:4]
    assert [line.split()[0] for line in lines] == ["FAILED", "ok", "FAILED", "FAILED"]
    assert "it has README.md" in lines[0]
    assert "no column 'problem'" in lines[2]
    assert "is gated: accept its terms" in lines[3]


def test_json_and_single_entries(sets: FakeHub) -> None:
    code, shown = doctor("--json", "--only", "code")
    one = json.loads(shown)[0]
    assert code == 0 and one["ok"] and one["name"] == "code-eurus"
    assert one["columns"] == ["data_source", "prompt", "ability", "reward_model", "extra_info"]
    assert one["files"] == ["train.parquet"] and len(one["revision"]) == 40


def test_the_benchmarks_are_checked_too_and_gated_ones_open_with_a_token(
    sets: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, shown = doctor("--json")
    found: dict[str, Any] = {one["name"]: one for one in json.loads(shown)}
    failing = {name for name, one in found.items() if not one["ok"]}
    assert code == 0
    assert failing == {"gpqa_diamond"}
    assert "gated" in found["gpqa_diamond"]["problem"]
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    _, shown = doctor("--json")
    assert next(one["ok"] for one in json.loads(shown) if one["name"] == "gpqa_diamond")


def test_offline_switch_asks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_ENDPOINT", "http://unused.invalid")
    assert reach.hub_problem() == "HF_HUB_OFFLINE is set"


def test_a_reachable_hub_is_said_to_be_so(hub: FakeHub) -> None:
    name, why = choose_bare_recipe()
    assert load_recipe(name).name == "prorl-136k"
    assert "reachable" in why


def test_a_hub_that_is_busy_for_a_moment_is_asked_again(
    hub: FakeHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reach, "_POLICY", RetryPolicy(first=0.01, tries=3))
    hub.plan.by_path["/"] = [Status(503), Status(429, "0")]
    assert reach.hub_problem() is None
    hub.plan.by_path["/"] = [Status(503)] * 3
    assert "failed 3 times (HTTP 503" in (reach.hub_problem() or "")


def test_a_refusing_hub_and_no_hub_are_named(hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.plan.by_path["/"] = [Status(403)]
    assert "HTTP 403" in (reach.hub_problem() or "")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{free.getsockname()[1]}")
        assert "not reachable" in (reach.hub_problem() or "")
    monkeypatch.setenv("HF_ENDPOINT", "hub")
    assert "not reachable" in (reach.hub_problem() or "")

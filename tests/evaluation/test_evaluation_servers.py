from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from prorl_cli.main import build_app
from prorl_common import ServiceError, UserError
from prorl_inference.backends.openai.testing import FakeServer, Fault

pytestmark = pytest.mark.usefixtures("fake_pool")


def call(server: FakeServer, *more: str) -> Result:
    small = ["--k", "4", "--n", "8", "--set", "sampling.max_tokens=40"]
    small += ["--set", "server.concurrency=4"]
    arguments = ["eval", "pass-at-k", "--set", f"server.url={server.url}", *small, *more]
    return CliRunner().invoke(build_app(), arguments)


def rows(folder: Path, name: str = "samples.jsonl") -> list[dict[str, Any]]:
    found = [json.loads(line) for line in (folder / name).read_text().splitlines()]
    for row in found:
        row.pop("seconds")
    return sorted(found, key=lambda r: str(r["key"]))


def test_a_server_is_evaluated_and_nothing_secret_is_written(
    workplace: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", "sk-secret")
    done = call(server, "--set", "server.key_env=MY_KEY", "--set", "server.price=1,2", "--json")
    assert done.exit_code == 0, done.output
    assert f"backend: server:chat at {server.url}" in done.stderr
    assert "40 answers, 400 tokens in" in done.stderr and "cost 0." in done.stderr
    result = json.loads(done.stdout)["results"][0]
    assert result["settings"]["label"] == "tiny" and result["groups"][0]["sampled"] == 40
    (folder,) = Path("evals").iterdir()
    sample = rows(folder)[0]
    assert (sample["backend"], sample["logprob"]) == ("server:chat", None) and sample["tokens"] > 0
    for file in folder.iterdir():
        assert "sk-secret" not in file.read_text() and "NaN" not in file.read_text()
        assert "127.0.0.1" not in file.read_text()
    asked = len(server.bodies)
    assert call(server).exit_code == 0 and len(server.bodies) == asked


def test_a_server_that_dies_for_good_ends_in_a_service_error_and_the_next_call_goes_on(
    workplace: Path, server: FakeServer
) -> None:
    assert call(server, "--out", "whole").exit_code == 0
    seen = len(server.bodies)
    server.script = lambda number, _: Fault(503) if number > seen + 15 else None
    cut = call(server, "--out", "cut", "--set", "server.patience=1")
    assert isinstance(cut.exception, ServiceError)
    assert "run the same command again" in str(cut.exception)
    assert len(rows(Path("cut"))) == 15
    server.script = lambda *_: None
    asked = len(server.bodies)
    assert call(server, "--out", "cut").exit_code == 0
    assert len(server.bodies) - asked == 40 - 15
    for name in ("samples.jsonl", "verdicts.jsonl"):
        assert rows(Path("cut"), name) == rows(Path("whole"), name)


def refuse_stem(_: int, body: Mapping[str, Any]) -> Fault | None:
    hit = body["messages"][0]["content"].startswith("stem question 0")
    return Fault(400, "content policy") if hit else None


def test_refused_samples_are_counted_never_scored_and_asked_for_again(
    workplace: Path, server: FakeServer
) -> None:
    server.script = refuse_stem
    stopped = call(server)
    assert isinstance(stopped.exception, ServiceError)
    assert "HTTP 400: content policy" in str(stopped.exception)
    done = call(server, "--set", "server.refusals=record", "--json")
    assert done.exit_code == 0, done.output
    problems = {p["id"]: p for p in json.loads(done.stdout)["results"][0]["problems"]}
    assert (problems["stem-0"]["n"], problems["stem-0"]["infra_errors"]) == (0, 8)
    assert problems["math-0"]["n"] == 8 and "8 samples refused" in done.stderr
    (folder,) = Path("evals").iterdir()
    notes = {r["note"] for r in rows(folder) if r["finish_reason"] == "refused"}
    assert notes == {"HTTP 400: content policy"}
    regraded = CliRunner().invoke(build_app(), ["eval", "regrade", str(folder), "--json"])
    again = {p["id"]: p for p in json.loads(regraded.stdout)["result"]["problems"]}
    assert again["stem-0"]["infra_errors"] == 8
    server.script = lambda *_: None
    mended = call(server, "--json")
    assert "8 samples without an answer are requested again" in mended.stderr
    assert all(p["n"] == 8 for p in json.loads(mended.stdout)["results"][0]["problems"])


def fail_all_but(word: str, status: int) -> Callable[[int, Mapping[str, Any]], Fault | None]:
    """Return a script that fails for all prompts that do not begin with the word."""
    return lambda _, body: (
        None
        if body["messages"][0]["content"].startswith((word, "Say yes"))
        else Fault(status, "content policy")
    )


@pytest.mark.slow
@pytest.mark.parametrize("status", [400, 500])
def test_an_evaluation_whose_last_samples_are_refused_again_and_again_ends_each_time(
    workplace: Path, server: FakeServer, status: int
) -> None:
    server.script = fail_all_but("stem question 0", status)  # the last problem of the list
    for asked_again in (False, True):
        done = call(server, "--set", "server.refusals=record", "--json")
        assert done.exit_code == 0, done.output
        problems = {p["id"]: p for p in json.loads(done.stdout)["results"][0]["problems"]}
        assert problems["stem-0"]["n"] == 8
        assert sum(p["infra_errors"] for p in problems.values()) == 32
        assert ("are requested again" in done.stderr) == asked_again


def test_half_a_character_in_an_answer_does_not_end_an_evaluation(
    workplace: Path, server: FakeServer
) -> None:
    server.answer = lambda _: "yes \ud83d"
    assert call(server, "--out", "mine").exit_code == 0
    assert {row["text"] for row in rows(Path("mine"))} == {"yes \ufffd"}


def test_extra_fields_and_other_apis_never_share_samples(
    workplace: Path, server: FakeServer
) -> None:
    assert call(server).exit_code == 0
    assert call(server, "--set", 'server.extra={"top_k": 20}').exit_code == 0
    assert len(list(Path("evals").iterdir())) == 2 and len(server.bodies) == 80
    assert server.bodies[-1]["top_k"] == 20


def test_a_checkpoint_that_is_served_keeps_its_place_and_its_weights_digest(
    workplace: Path, server: FakeServer
) -> None:
    from prorl_inference import model_digest

    done = call(server, "--run", "demo", "--checkpoint", "latest", "--json")
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)["results"][0]
    policy = workplace / "runs/demo/checkpoints/step_000012/policy"
    assert result["settings"]["label"] == "demo step 12"
    assert result["settings"]["backend"] == "server:completions"
    assert result["model_digest"] == model_digest(policy)
    assert isinstance(server.bodies[0]["prompt"][0], int)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--model", "x"], "server.model"),
        (["--run", "demo"], "say with --checkpoint"),
        (["--set", "model.backend=vllm"], "must be set together"),
        (["--set", "model.batches=bucketed"], "batches by itself"),
        (["--set", "server.extra='[]'"], "JSON object"),
        (["--set", 'server.extra={"n": 2}'], "must not contain 'n'"),
        (["--set", "server.weights=data"], "no .safetensors"),
        (["--set", "server.url=http://host..name:8000/v1"], "not a host name"),
        (["--set", "server.timeout=inf"], "must be a finite number"),
        (["--set", "server.patience=1e12"], "between -1,000,000,000 and 1,000,000,000"),
        (["--set", "server.key_env=NO_SUCH_KEY"], "NO_SUCH_KEY is empty"),
        (["--set", "server.model=tinny"], "did you mean 'tiny'"),
        (["--set", "sampling.protocol=nope"], "known: prorl"),
    ],
)
def test_a_mistake_is_one_line_with_the_cure(
    workplace: Path, server: FakeServer, more: list[str], said: str
) -> None:
    error = call(server, *more).exception
    assert isinstance(error, UserError) and said in str(error) and "\n" not in str(error)


def test_a_protocol_sets_the_sampling_and_is_named(workplace: Path, server: FakeServer) -> None:
    arguments = [
        "eval",
        "pass-at-k",
        "--set",
        f"server.url={server.url}",
        "--set",
        "sampling.protocol=justrl",
        "--limit",
        "1",
    ]
    done = CliRunner().invoke(build_app(), [*arguments, "--json"])
    assert done.exit_code == 0, done.output
    settings = json.loads(done.stdout)["results"][0]["settings"]
    assert (settings["n"], settings["temperature"], settings["protocol"]) == (32, 0.7, "justrl")
    assert "protocol justrl" in done.stderr and server.bodies[0]["max_tokens"] == 32_768


def test_a_server_rates_rows_and_is_not_asked_again(workplace: Path, server: FakeServer) -> None:
    small = [
        "--split",
        "test",
        "--samples",
        "4",
        "--set",
        "sampling.max_tokens=40",
        "--set",
        f"server.url={server.url}",
    ]
    rate = ["data", "rate", "data/small", *small]
    done = CliRunner().invoke(build_app(), [*rate, "--json"])
    assert done.exit_code == 0, done.output
    value = json.loads(done.stdout)
    assert (value["rated"], value["policy"]["label"]) == (5, "tiny")
    assert value["groups"][0]["samples"] == 20
    asked = len(server.bodies)
    assert CliRunner().invoke(build_app(), rate).exit_code == 0 and len(server.bodies) == asked

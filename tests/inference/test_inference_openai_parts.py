from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pytest

from prorl_common import UserError
from prorl_common.http import TransientError
from prorl_inference import SamplingParams, ServerOptions
from prorl_inference.backends.openai.context import ContextLimits
from prorl_inference.backends.openai.options import parse_extra, parse_price, server_address
from prorl_inference.backends.openai.protocol import (
    Answer,
    RefusedError,
    read_answer,
    request_body,
    stable_facts,
)
from prorl_inference.backends.openai.request_pool import Rate

PARAMS = SamplingParams(0.6, 0.95, 40)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://localhost:8000", "http://localhost:8000/v1"),
        ("http://localhost:8000/v1/", "http://localhost:8000/v1"),
        ("https://api.example.com/openai/v1", "https://api.example.com:443/openai/v1"),
    ],
)
def test_an_address_without_a_path_gets_v1(url: str, shown: str) -> None:
    assert str(server_address(url)) == shown


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://x", "http://", "http://h:99999", ""])
def test_another_address_is_refused_with_an_example(url: str) -> None:
    with pytest.raises(UserError, match="address"):
        server_address(url)


def test_extra_fields_may_not_change_what_the_evaluation_writes_down() -> None:
    for name in ("temperature", "seed", "n", "prompt"):
        with pytest.raises(UserError, match=f"must not contain '{name}'"):
            ServerOptions(extra={name: 1})
    body = request_body(ServerOptions(extra={"seed": None, "top_k": 5}), "m", PARAMS, 7, True)
    assert "seed" not in body and (body["top_k"], body["min_p"]) == (5, 0.0)
    assert request_body(ServerOptions(), "m", PARAMS, 2**60 + 3, False)["seed"] == 3


def test_options_that_make_no_sense_are_named() -> None:
    with pytest.raises(UserError, match="not JSON"):
        parse_extra("{")
    with pytest.raises(UserError, match="in,out"):
        parse_price("cheap")
    with pytest.raises(UserError, match="stop or record"):
        ServerOptions(refusals="ignore")
    with pytest.raises(UserError, match="above 0"):
        ServerOptions(rpm=0)
    assert parse_price("0.5,1.5") == (0.5, 1.5) and parse_extra(None) == {}


def test_a_rate_is_kept_in_every_minute() -> None:
    now = 0.0
    rate = Rate(30, lambda: now)
    taken: list[float] = []
    while len(taken) < 200:
        wait = rate.take(1.0)
        if wait == 0.0:
            taken.append(now)
        else:
            now += wait
    assert max(sum(t <= u < t + 60 for u in taken) for t in taken) <= 31
    assert taken[-1] == pytest.approx(199 * 2.0)


def test_what_a_request_used_beyond_its_estimate_is_paid_back() -> None:
    now = 0.0
    rate = Rate(600, lambda: now)
    assert rate.take(10.0) == 0.0
    rate.correct(20.0)
    assert rate.take(10.0) == pytest.approx(3.0)
    assert Rate(None).take(1e9) == 0.0


def test_facts_that_change_from_call_to_call_are_not_in_the_digest() -> None:
    card = {"id": "m", "created": 5, "permission": [{"id": "x"}], "root": "r", "parent": None}
    assert stable_facts(card) == {"id": "m", "root": "r"}


@pytest.mark.parametrize("value", ["sk\nsecret", "sk secret", "sk-sécret", "sk\x00secret"])
def test_a_key_that_cannot_be_sent_is_refused_by_its_variables_name_alone(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setattr("os.environ", {"MY_KEY": value})
    with pytest.raises(UserError, match="MY_KEY holds no key") as caught:
        ServerOptions(key_env="MY_KEY").key()
    assert "secret" not in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("url", ["http://host..name:8000/v1", f"http://{'a' * 64}.com"])
def test_a_host_that_is_no_name_is_one_line(url: str) -> None:
    with pytest.raises(UserError, match="is not a host name"):
        server_address(url)


@pytest.mark.parametrize("seconds", [math.inf, math.nan, 1e12, 0.0])
def test_a_wait_that_no_clock_can_hold_is_refused(seconds: float) -> None:
    with pytest.raises(UserError, match="timeout is"):
        ServerOptions(timeout=seconds)
    with pytest.raises(UserError, match="patience is"):
        ServerOptions(patience=seconds)


MAX = "This model's maximum context length is 4096 tokens"
SGLANG = (
    "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total "
    "of 4150 tokens: 54 tokens from the input messages and 4096 tokens for the completion."
)
AT_LEAST = "your prompt contains at least 1 input tokens, for a total of at least 4097 tokens"


@pytest.mark.parametrize(
    ("said", "room"),
    [
        (f"{MAX}. However, you requested 4150 tokens (54 in the messages, 4096 in the ...)", 4042),
        (
            f"'max_tokens' is too large. {MAX} and your request has 54 input tokens (4096 > ...)",
            4042,
        ),
        (SGLANG, 4042),
        (f"{MAX}. However, you requested 4096 output tokens and {AT_LEAST}", 4096 - 70),
    ],
    ids=["vllm-0.6", "vllm-0.9", "sglang", "vllm-at-least"],
)
def test_the_room_for_an_answer_is_what_the_server_says_or_what_one_token_measures(
    said: str, room: int
) -> None:
    told, asked = list[str](), list[int]()
    rooms = ContextLimits(None, told.append)
    body = {"messages": [{"role": "user", "content": "x"}], "max_tokens": 4096}

    def measure(smaller: Mapping[str, Any]) -> Answer:
        asked.append(smaller["max_tokens"])
        return Answer("", "length", 70, 1)

    assert rooms.learn(body, RefusedError(f"HTTP 400: {said}"), measure)["max_tokens"] == room
    assert rooms.fitted(body)["max_tokens"] == room and len(told) == 1
    assert asked == ([1] if "at least" in said else [])


def test_a_prompt_whose_size_nobody_tells_is_refused_with_the_cure() -> None:
    def measure(_: Mapping[str, Any]) -> Answer:
        return Answer("", "length", None, None)

    body = {"messages": [], "max_tokens": 9}
    refusal = RefusedError("HTTP 400: the request exceeds the available context size")
    for context in (None, 10):
        with pytest.raises(RefusedError, match=r"server\.tokenizer"):
            ContextLimits(context, print).learn(body, refusal, measure)
    with pytest.raises(RefusedError, match=r"^filtered$"):
        ContextLimits(10, print).learn(body, RefusedError("filtered"), measure)


@pytest.mark.parametrize("content", [5, True, ["yes"], {"text": "yes"}])
def test_a_content_that_is_no_text_is_a_broken_answer_and_no_wrong_one(content: object) -> None:
    row = {"choices": [{"finish_reason": "stop", "message": {"content": content}}]}
    with pytest.raises(TransientError, match="unexpected shape"):
        read_answer(row, chat=True)


@pytest.mark.parametrize("reasoning", [None, "2+2"])
@pytest.mark.parametrize("content", [None, "", " \n"])
def test_an_answer_without_text_is_broken_and_says_what_may_help(
    content: str | None, reasoning: str | None
) -> None:
    message = {"content": content, "reasoning_content": reasoning}
    row = {"choices": [{"finish_reason": "stop", "message": message}]}
    if content is not None and reasoning is None:  # the model ended at once
        assert read_answer(row, chat=True).text == content
        return
    with pytest.raises(RefusedError, match="without reasoning"):
        read_answer(row, chat=True)


def test_reasoning_that_the_limit_cut_is_an_answer_whose_thinking_never_ends() -> None:
    message = {"content": None, "reasoning_content": "2+2"}
    row = {"choices": [{"finish_reason": "length", "message": message}]}
    answer = read_answer(row, chat=True)
    assert (answer.text, answer.finish) == ("<think>\n2+2", "length")

"""Options, addresses, rates and waits of the server backend, without a server."""

from __future__ import annotations

import pytest

from prorl_common import UserError
from prorl_inference import SamplingParams, ServerOptions
from prorl_inference.openai_client import retry_after
from prorl_inference.openai_options import parse_address, parse_extra, parse_price
from prorl_inference.openai_patience import Rate, backoff
from prorl_inference.openai_requests import request_body, stable_facts

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
    assert str(parse_address(url)) == shown


@pytest.mark.parametrize("url", ["localhost:8000", "ftp://x", "http://", "http://h:99999", ""])
def test_another_address_is_refused_with_an_example(url: str) -> None:
    with pytest.raises(UserError, match="address"):
        parse_address(url)


def test_extra_fields_may_not_change_what_the_evaluation_writes_down() -> None:
    for name in ("temperature", "seed", "n", "prompt"):
        with pytest.raises(UserError, match=f"may not set '{name}'"):
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


def test_waits_double_up_to_a_bound_and_heed_what_the_server_asks() -> None:
    assert [0.5 <= backoff(1, None) <= 0.625, 30 <= backoff(40, None) <= 37.5] == [True, True]
    assert 7.0 <= backoff(1, 7.0) <= 8.75
    assert retry_after({"retry-after": "12"}) == 12.0
    assert retry_after({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0.0
    assert retry_after({"Retry-After": "soon"}) is None and retry_after({}) is None


def test_facts_that_change_from_call_to_call_are_not_in_the_digest() -> None:
    card = {"id": "m", "created": 5, "permission": [{"id": "x"}], "root": "r", "parent": None}
    assert stable_facts(card) == {"id": "m", "root": "r"}

# mypy: ignore-errors
"""Verifiers with invalid rewards, each named for what it returns."""

import contextlib
import dataclasses
import os
import sys
import time

from prorl_common import UserError
from prorl_sandbox import Limits, Program
from prorl_verifiers import (
    Canary,
    Composition,
    DataShape,
    Score,
    Task,
    TaskPart,
    Verdict,
    VerifierSpec,
)


def spec(name, result):
    return VerifierSpec(name=name, score=lambda response, reference: result)


def raises(response, reference):
    raise KeyError("no such word")


def leaves(response, reference):
    sys.exit(0)


def leaves_hard(response, reference):
    os._exit(0)


def sleeps(response, reference):
    while response == "sleep":
        time.sleep(1)
    return 1.0


def eats(response, reference):
    return float(len([bytes(1 << 26) for _ in range(1 << 20)]))


def prints(response, reference):
    print("x" * 2_000_000)
    os.write(1, b"\xff" * 100_000)
    return float(response == reference["answer"])


def writes_frames(response, reference):
    for handle in range(3, 20):
        with contextlib.suppress(OSError):
            os.write(handle, b"\x00\x00\x00\x02{}")
    time.sleep(0.02)
    return 1.0


calls = []


def unsteady(response, reference):
    calls.append(response)
    return (len(calls) % 1000) / 1000


def finds_a_word(response, reference):
    if response == "no word":
        return Score(0.0, "no word", status="unparsable")
    raise OSError("no dictionary")


TWO = spec("two", 2.0)
NEGATIVE = spec("negative", -0.5)
NAN = spec("nan", float("nan"))
INFINITE = spec("infinite", float("inf"))
NONE = spec("none", None)
TEXT = spec("text", "1.0")
LIST = spec("list", [1.0])
SCORE = spec("score-nan", Score(float("nan"), "a score"))
METRIC = spec("metric-nan", Score(1.0, "a score", metrics={"part": float("nan")}))
OBJECT = spec("metric-object", Score(1.0, "a score", metrics={"part": object()}))
BROKEN = spec("says-broken", Verdict(None, "infra_error", "my judge is down"))
RAISES = VerifierSpec(name="raises", score=raises)
FINDS = VerifierSpec(
    name="finds-a-word",
    score=finds_a_word,
    data=DataShape(answer=lambda reference: None, write=lambda answer, reference: "no word"),
)
HAS_NO_GOLD = VerifierSpec(
    name="has-no-gold",
    score=finds_a_word,
    data=DataShape(gold_response=lambda reference: reference["gold"]),
)
LEAVES = VerifierSpec(name="leaves", score=leaves)
LEAVES_HARD = VerifierSpec(name="leaves-hard", score=leaves_hard)
SLEEPS = VerifierSpec(name="sleeps", score=sleeps)
EATS = VerifierSpec(name="eats", score=eats)
PRINTS = VerifierSpec(name="prints", score=prints)
FRAMES = VerifierSpec(name="writes-frames", score=writes_frames)
UNSTEADY = VerifierSpec(name="unsteady", score=unsteady)
IN_SANDBOX = VerifierSpec(
    name="two-in-sandbox", score_in_sandbox=lambda response, reference, sandbox: 2.0
)
RAISES_IN_SANDBOX = VerifierSpec(
    name="raises-in-sandbox", score_in_sandbox=lambda response, reference, sandbox: 1 / 0
)


def loops_in_sandbox(response, reference, sandbox):
    while response == "loop":
        pass
    return 1.0


def leaves_in_sandbox(response, reference, sandbox):
    os._exit(0)


def lies_of_a_program(response, reference, sandbox):
    fine = {
        "program": dataclasses.asdict(Program("1")),
        "cases": [{"stdin": {"text": ""}}],
        "limits": dataclasses.asdict(Limits()),
        "budget": None,
    }
    calls = {
        "no-source": {"submission": {**fine, "program": {"source": 7}}},
        "huge": {"submission": {**fine, "limits": {**fine["limits"], "memory_mb": 10**400}}},
        "check": {"submission": {**fine, "cases": [{"check": 5}]}},
        "more": {"submission": None},
        "nothing": {},
    }
    if response in calls:
        sandbox._exchange({"event": "sandbox", **calls[response]})
    return 1.0


LOOPS_IN_SANDBOX = VerifierSpec(name="loops-in-sandbox", score_in_sandbox=loops_in_sandbox)
LEAVES_IN_SANDBOX = VerifierSpec(name="leaves-in-sandbox", score_in_sandbox=leaves_in_sandbox)
LIES = VerifierSpec(name="lies-of-a-program", score_in_sandbox=lies_of_a_program)


def fails_on_bad(response, reference, sandbox=None):
    word = response.partition("bad ")[2]
    if word == "raise":
        raise ValueError(response)
    if word == "user":
        raise UserError(response)
    if word == "leave":
        os._exit(3)
    metrics = {"part": float("nan")} if word == "metrics" else {}
    return None if word == "none" else Score(float(response == "a"), "", metrics=metrics)


def parts(reference):
    return [TaskPart("words", Task("exact_match", {"answer": reference["answer"]}))]


def combine(reference, verdicts):
    return 1 / verdicts["words"].reward


def canaries(draw):
    return [Canary({"answer": "a"}, "a", 1.0), Canary({"answer": "a"}, "b", 0.0)]


ON_BAD = VerifierSpec(name="fails-on-bad", score=fails_on_bad, quick_canaries=canaries)
ON_BAD_ALONE = VerifierSpec(name="fails-on-bad-without-canaries", score=fails_on_bad)
ON_BAD_IN_SANDBOX = VerifierSpec(name="fails-on-bad-in-sandbox", score_in_sandbox=fails_on_bad)
COMBINES_BADLY = VerifierSpec(name="combines-badly", compose=Composition(parts, combine))

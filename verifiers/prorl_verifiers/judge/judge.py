"""The judge: asks the model, again where its server fails or its reply is no verdict, and remembers.

It judges nothing before it has judged the canaries as known, nor once another model answers under its name. What
cannot be had is a ServiceError and never a reward. Where the server refuses one answer, or no verdict on it comes in
``TRIES`` replies, while another answer to the same question gets one, that is the answer's doing and no outage.
"""

from __future__ import annotations

import functools
import os
import statistics
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from prorl_common import ServiceError, UserError, cache_root
from prorl_common.http import Connection, RetryPolicy, ServerWatch
from prorl_verifiers.findings import listening, note
from prorl_verifiers.judge.cache import VerdictCache, cache_key
from prorl_verifiers.judge.canaries import known_answers
from prorl_verifiers.judge.reference import Question, read_question
from prorl_verifiers.judge.rubric import (
    VERSION,
    NoVerdictError,
    fence_code,
    messages,
    read_reward,
    reply_format,
)
from prorl_verifiers.judge.settings import KEY, MODEL, JudgeSettings
from prorl_verifiers.spec import Canary
from prorl_verifiers.types import Reference, Score, unparsable

GROUP = "prorl.judge"
LONGEST = 32_000
"""Characters of a response; a longer one is not judged in part."""
MAX_TOKENS = 4096
"""Tokens of a reply, a reasoning model's thoughts among them."""
NO_ANSWER = "I do not know."
TRIES = 3
"""Replies that may be no verdict before an answer is given up; each with a seed of its own."""
SEED = 20_250
VOTE_TEMPERATURE = 0.7
"""Where several votes are asked for: at 0 they would all be one vote."""
POLICY = RetryPolicy(first=0.5, longest=8.0, longest_asked=60.0, tries=5)
CANARIES_AT_ONCE = 4
AGAIN_AFTER = 30.0
"""Seconds for which a judge that could not be asked its canaries is not asked them again."""


class RefusedError(ServiceError):
    """The server turned this one request down."""


class Judge:
    """One model behind one server. Thread-safe; holds no connection between calls."""

    def __init__(self, settings: JudgeSettings) -> None:
        self.settings = settings
        self._where = f"the judge {settings.model} at {settings.address}"
        self._watch = ServerWatch(self._where, POLICY)
        self._lock = threading.Lock()
        self._proven: frozenset[str] = frozenset()
        """The names under which the model answered the canaries."""
        self._failure: tuple[float, ServiceError | UserError] | None = None
        self._formats = True
        """Whether the server takes ``response_format``."""
        self._cache: VerdictCache | None = None

    def prove(self) -> None:
        """Ask the canaries, once in the life of this object.

        Raises UserError where one is misjudged, or key, model or cache are wrong; ServiceError where the server
        does not answer.
        """
        with self._lock:
            if self._proven:
                return
            if self._failure is not None and time.monotonic() < self._failure[0] + AGAIN_AFTER:
                raise self._failure[1]
            try:
                self._cache = VerdictCache(cache_root() / "judge.sqlite")
                self._proven = self._ask_canaries()
            except (ServiceError, UserError) as error:
                self._failure = time.monotonic(), error
                raise

    def score(self, response: str, reference: Reference) -> Score:
        """Return the judge's finding on a response; unparsable where it is the response that cannot be judged.
        Raises what ``prove`` does, and ServiceError."""
        question = read_question(reference)
        if not response.strip():
            return unparsable("the answer is empty")
        if len(response) > LONGEST:
            return unparsable(f"the answer is longer than the {LONGEST} characters that are judged")
        self.prove()
        assert self._cache is not None
        key = self._key(question, response)
        row = self._cache.get(key)
        cached = row is not None and row["model"] in self._proven
        if row is None or not cached:
            try:
                row = self._ask(question, response)
            except (RefusedError, NoVerdictError) as error:
                return self._blame(question, error)
            if row["model"] not in self._proven:
                raise ServiceError(
                    f"{self._where} is another model now: {row['model']} answers, "
                    f"{', '.join(sorted(self._proven))} has judged the canaries"
                )
            self._cache.put(key, row)
        score = self._finding(row, cached)
        if listening():
            marks = question.marks or 1
            votes = ", ".join(f"{float(vote) * marks:g}" for vote in row["votes"])
            fields = {
                "question": question.question,
                "a right answer": question.criteria,
                "reference answer": question.answer,
                "said": f"{votes} of {marks}"
                + (" (remembered, not asked again)" if cached else ""),
                "rubric": VERSION,
            }
            note(f"judged by {row['model']}", score.reward == 1.0, fields)
        return score

    def _blame(self, question: Question, error: ServiceError) -> Score:
        """Return what an answer gets about which the judge says nothing: the answer's own doing, unless the judge
        is silent about another answer to the question too, which raises ``error``."""
        try:
            self._ask(question, NO_ANSWER)
        except ServiceError:
            raise error from None
        return unparsable(f"about this answer alone: {error}")

    def _finding(self, row: Mapping[str, Any], cached: bool) -> Score:
        """Return the majority of the votes (of marks the median)."""
        votes = [float(vote) for vote in row["votes"]]
        reward = statistics.median(votes)
        metrics: dict[str, float | str] = {
            "judge": str(row["model"]),
            "judge_rubric": VERSION,
            "judge_votes": float(len(votes)),
            "judge_agreement": votes.count(reward) / len(votes),
            "judge_cached": float(cached),
        }
        return Score(reward, f"{row['model']} gives {reward:g}", metrics=metrics)

    def _key(self, question: Question, response: str) -> str:
        settings = self.settings
        return cache_key(
            {
                "server": str(settings.address),
                "model": settings.model,
                "votes": settings.votes,
                "rubric": VERSION,
                "question": question.question,
                "criteria": question.criteria,
                "answer": question.answer,
                "marks": question.marks,
                "response": response,
            }
        )

    def _ask_canaries(self) -> frozenset[str]:
        """Return the names under which the model answered."""
        known = known_answers()
        try:
            first = self._ask_canary(known[0])
        except RefusedError:  # not every server knows the field
            self._formats = False
            first = self._ask_canary(known[0])
        with ThreadPoolExecutor(CANARIES_AT_ONCE) as threads:
            rows = [first, *threads.map(self._ask_canary, known[1:])]
        given = [self._finding(row, False).reward for row in rows]
        wrong = [at for at, canary in enumerate(known) if given[at] != canary.reward]
        if wrong:
            shown = known[wrong[0]]
            raise UserError(
                f"{self._where} misjudges {len(wrong)} of {len(known)} known answers (it gives "
                f"{given[wrong[0]]:g} instead of {shown.reward:g} to {shown.response!r:.60}): it may give no "
                f"rewards; set {MODEL} to a better model"
            )
        return frozenset(row["model"] for row in rows)

    def _ask_canary(self, canary: Canary) -> dict[str, Any]:
        return self._ask(read_question(canary.reference), canary.response)

    def _ask(self, question: Question, response: str) -> dict[str, Any]:
        """Return the votes on a response and the name of the model that answered."""
        settings = self.settings
        votes: list[float] = []
        with Connection(settings.address, settings.key, settings.timeout) as connection:
            for number in range(settings.votes):
                reward, model = self._vote(connection, question, response, number)
                votes.append(reward)
        return {"votes": votes, "model": model}

    def _vote(
        self, connection: Connection, question: Question, response: str, number: int
    ) -> tuple[float, str]:
        body: dict[str, Any] = {
            "model": self.settings.model,
            "messages": messages(question, response, fence_code(question, response, number)),
            "temperature": 0.0 if self.settings.votes == 1 else VOTE_TEMPERATURE,
            "max_tokens": MAX_TOKENS,
        }
        if self._formats:
            body["response_format"] = reply_format(question)
        trouble = ""
        for attempt in range(TRIES):
            body["seed"] = SEED + number * TRIES + attempt
            reply = self._watch.until_answered(lambda: self._post(connection, body))
            try:
                return read_reward(reply, question), str(reply.get("model") or self.settings.model)
            except NoVerdictError as error:
                trouble = str(error)
        raise NoVerdictError(f"{self._where} gave no verdict in {TRIES} replies: {trouble}")

    def _post(self, connection: Connection, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the server's reply. Raises TransientError, RefusedError, UserError."""
        reply = connection.post("/chat/completions", body)
        if reply.status == 200:
            return reply.object()
        if (trouble := reply.trouble()) is not None:
            raise trouble
        if reply.status in (401, 403):
            raise UserError(f"{self._where} refuses the key ({reply.line()}): set {KEY}")
        if reply.status == 404:
            raise UserError(
                f"{self._where} is not there ({reply.line()}): correct {MODEL} or its address"
            )
        raise RefusedError(f"{self._where} refuses the request ({reply.line()})")


@functools.lru_cache(maxsize=8)
def _judge_of(settings: JudgeSettings, process: int) -> Judge:
    return Judge(settings)


def the_judge() -> Judge:
    """Return this process's judge of the environment's settings. Raises UserError where it is off."""
    return _judge_of(JudgeSettings.from_environment(), os.getpid())


def who() -> Mapping[str, str]:
    """Return the record of who judges. Raises UserError where the judge is off."""
    settings = JudgeSettings.from_environment()
    version = f"rubric {VERSION}, votes {settings.votes}"
    return {
        "group": GROUP,
        "name": settings.model,
        "source": str(settings.address),
        "version": version,
    }

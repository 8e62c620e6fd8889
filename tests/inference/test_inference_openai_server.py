from __future__ import annotations

import functools
import json
import math
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from prorl_common import ServiceError, UserError
from prorl_common.http import RetryPolicy, ServerWatch
from prorl_inference import (
    Completion,
    OpenAIGenerator,
    Request,
    SamplingParams,
    ServerOptions,
    encode_prompt,
)
from prorl_inference.backends.openai.testing import FakeServer, Fault
from prorl_inference.testing import CHAT_TEMPLATE, byte_tokenizer

PARAMS = SamplingParams(0.6, 0.95, 40)
CHAT = ServerOptions(concurrency=4, patience=20.0)


@pytest.fixture(scope="module")
def tokenizer_folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("tokenizer")
    byte_tokenizer().save_pretrained(folder)
    return str(folder)


def ask(text: str, *seeds: int) -> Request:
    return Request(({"role": "user", "content": text},), seeds)


def expected(seed: int) -> str:
    return f"{'yes' if seed % 100 < 40 else 'no'} {seed}"


def texts(answers: list[list[Completion]]) -> list[list[str]]:
    return [[c.text for c in answer] for answer in answers]


REQUESTS = [ask("a", 10, 60, 5), ask("b", 99), ask("c")]
WANTED = [[expected(10), expected(60), expected(5)], [expected(99)], []]


def test_every_sample_is_a_request_with_its_own_seed_and_comes_back_in_order(
    server: FakeServer,
) -> None:
    generator = OpenAIGenerator(server.url, CHAT)
    done: list[int] = []
    whole: dict[int, list[Completion]] = {}
    answers = generator.generate(REQUESTS, PARAMS, done.append, whole.__setitem__)
    assert texts(answers) == WANTED
    assert whole == dict(enumerate(answers)) and sum(done) == 4
    assert sorted(b["seed"] for b in server.bodies) == [5, 10, 60, 99]
    body = next(b for b in server.bodies if b["seed"] == 99)
    assert body["messages"] == [{"role": "user", "content": "b"}]
    assert (body["temperature"], body["top_p"], body["max_tokens"], body["n"]) == (0.6, 0.95, 40, 1)
    first = answers[0][0]
    assert first.token_ids == (-1,) * len(first.text)
    assert len(first.logprobs) == len(first.text) and all(map(math.isnan, first.logprobs))
    begun = Request(REQUESTS[1].prompt, (99,), (Completion("", (7,), (-0.5,), "paused"),))
    with pytest.raises(UserError, match="cannot continue samples"):
        generator.generate([begun], PARAMS)


def test_completions_sends_the_token_ids_that_other_backends_see(
    server: FakeServer, tokenizer_folder: str
) -> None:
    generator = OpenAIGenerator(server.url, ServerOptions(tokenizer=tokenizer_folder))
    assert generator.api == "completions"
    assert texts(generator.generate([ask("hello", 3)], PARAMS)) == [[expected(3)]]
    assert server.bodies[0]["prompt"] == encode_prompt(
        byte_tokenizer(), ({"role": "user", "content": "hello"},)
    )
    assert "messages" not in server.bodies[0]


def test_thinking_that_the_template_or_the_server_split_off_is_put_back(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer = byte_tokenizer()
    tokenizer.chat_template = CHAT_TEMPLATE + "<think>\n"
    tokenizer.save_pretrained(tmp_path)
    opened = OpenAIGenerator(server.url, ServerOptions(tokenizer=str(tmp_path)))
    assert opened.generate([ask("a", 1)], PARAMS)[0][0].text == "<think>\n" + expected(1)
    message = {"content": "4", "reasoning_content": "2+2"}
    row = {"choices": [{"message": message, "finish_reason": "length"}]}
    monkeypatch.setattr(server, "respond", lambda _: {**row, "usage": {"completion_tokens": 9}})
    split = OpenAIGenerator(server.url, CHAT).generate([ask("a", 1)], PARAMS)[0][0]
    assert split.text == "<think>\n2+2\n</think>\n\n4"
    assert (split.finish_reason, len(split.token_ids)) == ("length", 9)


def test_a_server_that_dies_and_returns_costs_nothing_but_time(server: FakeServer) -> None:
    said: list[str] = []
    died = threading.Event()

    def script(number: int, _: Mapping[str, Any]) -> Fault | None:
        if number == 6 and not died.is_set():
            died.set()
            threading.Thread(target=death).start()
            return Fault(kind="hang")
        return None

    def death() -> None:
        server.stop()
        while not said:  # the server stays down until its failure is noticed
            threading.Event().wait(0.01)
        server.start()

    server.script = script
    requests = [ask(f"p{i}", i) for i in range(20)]
    answers = OpenAIGenerator(server.url, CHAT, said.append).generate(requests, PARAMS)
    assert texts(answers) == [[expected(i)] for i in range(20)]
    assert [("does not answer" in s, "is back" in s) for s in said] == [
        (True, False),
        (False, True),
    ]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"root": "step-200"}, r"root step-200 instead of step-100"),
        ({"id": "other"}, "without tiny"),
    ],
)
def test_a_server_that_returns_with_another_model_ends_the_call(
    server: FakeServer, change: dict[str, str], said: str
) -> None:
    server.card = {"root": "step-100"}

    def script(number: int, _: Mapping[str, Any]) -> Fault | None:
        if number < 4:
            return None
        server.card |= change  # another process now serves the address
        return Fault(kind="cut")

    server.script = script
    reported: list[int] = []
    generator = OpenAIGenerator(server.url, ServerOptions(concurrency=1))
    with pytest.raises(UserError, match=rf"now serves another model \({said}\)"):
        generator.generate(
            [ask(f"p{i}", i) for i in range(8)], PARAMS, on_result=lambda i, _: reported.append(i)
        )
    assert reported == [0, 1, 2] and len(server.bodies) == 4


def test_a_router_that_lists_no_model_while_its_server_starts_is_waited_for(
    server: FakeServer,
) -> None:
    def script(number: int, _: Mapping[str, Any]) -> Fault | None:
        if number == 1:
            server.listed = False
            threading.Timer(0.8, setattr, (server, "listed", True)).start()
            return Fault(503)
        return None

    server.script = script
    generator = OpenAIGenerator(server.url, ServerOptions(concurrency=1, patience=20.0))
    assert texts(generator.generate(REQUESTS, PARAMS)) == WANTED
    assert generator.usage.retries >= 2 and generator.usage.refused == 0


@pytest.mark.parametrize(
    "fault",
    [
        Fault(500),
        Fault(429, "slow down", {"Retry-After": "0.01"}),
        Fault(503, "loading", {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}),
        Fault(kind="torn"),
        Fault(kind="cut"),
        Fault(200, "[]"),
        Fault(200, '{"choices": []}'),
        Fault(200, '{"choices": [{"text": 5, "finish_reason": "stop"}]}'),
        Fault(200, '{"choices": [{"message": {"content": "x"}, "finish_reason": "abort"}]}'),
    ],
    ids=lambda f: f.kind if f.kind != "status" else f"{f.status} {f.body[:12]}",
)
def test_a_passing_fault_is_tried_again(server: FakeServer, fault: Fault) -> None:
    server.script = lambda number, _: fault if number <= 2 else None
    generator = OpenAIGenerator(server.url, ServerOptions(concurrency=1))
    assert texts(generator.generate(REQUESTS, PARAMS)) == WANTED
    # The second break is of a connection that was used before: it may have been idle for too long.
    assert generator.usage.retries == (1 if fault.kind == "cut" else 2)
    assert generator.usage.answers == 4


def test_patience_ends_as_a_service_error_that_says_how_to_go_on(server: FakeServer) -> None:
    server.script = lambda number, _: None if number <= 2 else Fault(500)
    kept: list[int] = []
    generator = OpenAIGenerator(server.url, ServerOptions(concurrency=1, patience=0.05))
    with pytest.raises(ServiceError, match=r"not answered for .*HTTP 500.*same command again"):
        generator.generate(
            [ask("p", i) for i in range(5)], PARAMS, None, lambda i, _: kept.append(i)
        )
    assert kept == [0, 1]


def test_a_model_that_is_gone_is_told_apart_from_a_server_that_is_gone(server: FakeServer) -> None:
    server.script = lambda *_: Fault(404, '{"error": {"message": "model tiny does not exist"}}')
    with pytest.raises(ServiceError, match=r"does not know this model .*404: model tiny"):
        OpenAIGenerator(server.url, CHAT).generate(REQUESTS, PARAMS)
    server.script = lambda *_: Fault(400, "no chat template is set")
    with pytest.raises(UserError, match="cannot render chat messages"):
        OpenAIGenerator(server.url, CHAT).generate(REQUESTS, PARAMS)
    server.script = lambda *_: Fault(
        429, '{"error": {"code": "insufficient_quota", "message": "x"}}'
    )
    with pytest.raises(ServiceError, match="quota is used up"):
        OpenAIGenerator(server.url, CHAT).generate(REQUESTS, PARAMS)


def refuse_b(_: int, body: Mapping[str, Any]) -> Fault | None:
    long = body["messages"][0]["content"] == "b"
    return Fault(400, '{"error": {"message": "too long"}}') if long else None


def test_a_refused_sample_stops_the_call_after_what_is_under_way(server: FakeServer) -> None:
    server.script = refuse_b
    with pytest.raises(ServiceError, match=r"starting 'b' \(HTTP 400: too long\)"):
        OpenAIGenerator(server.url, CHAT).generate(REQUESTS, PARAMS)


def test_a_refused_sample_is_recorded_where_asked_and_never_an_answer(server: FakeServer) -> None:
    server.script = refuse_b
    generator = OpenAIGenerator(server.url, ServerOptions(refusals="record"))
    answers = generator.generate(REQUESTS, PARAMS)
    assert texts(answers)[0] == WANTED[0]
    refused = answers[1][0]
    assert (refused.finish_reason, refused.text, refused.note) == (
        "refused",
        "",
        "HTTP 400: too long",
    )
    assert (generator.usage.answers, generator.usage.refused) == (3, 1)


def test_a_server_that_refuses_everything_is_no_matter_of_single_samples(
    server: FakeServer,
) -> None:
    server.script = lambda *_: Fault(400, "unknown field top_k")
    generator = OpenAIGenerator(server.url, ServerOptions(refusals="record"))
    with pytest.raises(ServiceError, match="and a harmless test prompt too"):
        generator.generate([ask(f"p{i}", i) for i in range(8)], PARAMS)


def test_a_sample_that_breaks_the_server_each_time_counts_as_refused(server: FakeServer) -> None:
    def script(number: int, body: Mapping[str, Any]) -> Fault | None:
        return Fault(500, "boom") if body["messages"][0]["content"] == "b" else None

    server.script = script
    generator = OpenAIGenerator(server.url, ServerOptions(concurrency=2, refusals="record"))
    many = [*REQUESTS, *(ask(f"x{i}", i) for i in range(60))]
    answers = generator.generate(many, PARAMS)
    assert answers[1][0].note == "HTTP 500: boom, 6 times"
    assert sum(c.finish_reason == "stop" for a in answers for c in a) == 63


def test_an_interruption_ends_a_call_whose_server_hangs(server: FakeServer) -> None:
    server.script = lambda number, _: Fault(kind="hang") if number > 1 else None

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        OpenAIGenerator(server.url, CHAT).generate(REQUESTS[:2], PARAMS, interrupt)
    named = [t for t in threading.enumerate() if t.name.startswith("prorl-server")]
    assert named == []


def test_the_key_is_sent_and_never_said(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ServerOptions(key_env="MY_KEY")
    with pytest.raises(UserError, match="MY_KEY is empty"):
        OpenAIGenerator(server.url, options)
    monkeypatch.setenv("MY_KEY", "sk-secret")
    generator = OpenAIGenerator(server.url, options)
    generator.generate([ask("a", 1)], PARAMS)
    assert server.keys == ["Bearer sk-secret"]
    server.script = lambda *_: Fault(401, "bad key sk-secret")
    with pytest.raises(UserError, match=r"rejects the key \(HTTP 401: bad key \*\*\*\)"):
        generator.generate([ask("a", 1)], PARAMS)
    assert "sk-secret" not in repr(generator.options) + generator.model_digest
    with pytest.raises(UserError, match="must not contain a key"):
        OpenAIGenerator("http://me:sk-secret@localhost:1/v1")


def test_the_model_is_the_one_listed_or_named_and_its_digest_stays(server: FakeServer) -> None:
    first, second = OpenAIGenerator(server.url), OpenAIGenerator(server.url)
    assert first.model_id == "tiny" and first.model_digest == second.model_digest
    with pytest.raises(UserError, match=r"no model 'tinny' \(did you mean 'tiny'\?\); it has tiny"):
        OpenAIGenerator(server.url, ServerOptions(model="tinny"))
    server.card = {"root": "/other/weights"}
    assert OpenAIGenerator(server.url).model_digest != first.model_digest


def test_weights_give_the_digest_of_the_files_and_no_one_is_asked(tmp_path: Path) -> None:
    from prorl_inference import model_digest

    (tmp_path / "model.safetensors").write_bytes(b"weights")
    options = ServerOptions(model="tiny", weights=tmp_path)
    generator = OpenAIGenerator("http://127.0.0.1:1/v1", options)
    assert generator.model_digest == model_digest(tmp_path)


def test_the_servers_context_limits_answers_and_refuses_longer_prompts(
    server: FakeServer, tokenizer_folder: str
) -> None:
    server.card = {"max_model_len": 30, "owned_by": "vllm"}
    options = ServerOptions(tokenizer=tokenizer_folder, refusals="record")
    generator = OpenAIGenerator(server.url, options)
    answers = generator.generate([ask("a" * 8, 1), ask("b" * 40, 2)], PARAMS)
    assert server.bodies[0]["max_tokens"] == 30 - 10
    assert len(server.bodies) == 1 and server.bodies[0]["top_k"] == -1
    assert answers[1][0].note == "the prompt has 42 tokens, but the server's context holds 30"


def test_tokens_come_from_the_server_or_the_tokenizer_and_cost_from_the_price(
    server: FakeServer, tokenizer_folder: str
) -> None:
    priced = OpenAIGenerator(server.url, ServerOptions(price=(1.0, 2.0)))
    priced.generate([ask("a", 1)], PARAMS)
    assert priced.usage.cost == pytest.approx((10 * 1.0 + len(expected(1)) * 2.0) / 1e6)
    server.usage = False
    counted = OpenAIGenerator(server.url, ServerOptions(tokenizer=tokenizer_folder))
    assert len(counted.generate([ask("a", 1)], PARAMS)[0][0].token_ids) == len(expected(1))
    with pytest.raises(UserError, match="does not count an answer"):
        OpenAIGenerator(server.url, CHAT).generate([ask("a", 1)], PARAMS)


def test_an_unknown_host_and_a_server_that_never_came_are_told_apart() -> None:
    with FakeServer() as gone:
        url = gone.url
    with pytest.raises(ServiceError, match="connection refused"):
        OpenAIGenerator(url, ServerOptions(patience=0.05))
    with pytest.raises(UserError, match="correct the server's address"):
        OpenAIGenerator("http://no-such-host.invalid/v1", ServerOptions(patience=5))


RECORD = ServerOptions(concurrency=1, patience=20.0, refusals="record")


def only(*words: str, status: int = 400) -> Callable[[int, Mapping[str, Any]], Fault | None]:
    """Return a script that fails for prompts that begin with one of the words."""
    return lambda _, body: (
        Fault(status, "no") if body["messages"][0]["content"].startswith(words) else None
    )


def test_refusals_before_the_first_answer_are_handed_on_like_later_ones(server: FakeServer) -> None:
    server.script = only("bad")
    generator = OpenAIGenerator(server.url, RECORD)
    requests = [*(ask(f"bad {i}", i) for i in range(6)), ask("good", 6)]
    whole: dict[int, list[Completion]] = {}
    answers = generator.generate(requests, PARAMS, None, whole.__setitem__)
    assert [a[0].finish_reason for a in answers] == ["refused"] * 6 + ["stop"]
    assert whole == dict(enumerate(answers))


def test_prompts_that_are_refused_again_are_recorded_again_where_others_would_pass(
    server: FakeServer,
) -> None:
    server.script = only("bad")
    generator = OpenAIGenerator(server.url, RECORD)
    requests = [ask(f"bad {i}", i) for i in range(6)]
    answers = generator.generate(requests, PARAMS)
    assert {a[0].finish_reason for a in answers} == {"refused"}
    assert (generator.usage.answers, generator.usage.refused) == (0, 6)
    asked = len(server.bodies)
    generator.generate(requests, PARAMS)
    assert len(server.bodies) == asked + 6  # one probe of other prompts is enough


def test_templated_prompts_count_as_different_when_everything_is_refused(
    server: FakeServer,
) -> None:
    server.script = lambda *_: Fault(400, "unknown field top_k")
    reported: list[int] = []
    with pytest.raises(ServiceError, match="and a harmless test prompt too"):
        OpenAIGenerator(server.url, RECORD).generate(
            [ask("Solve this: " + "x" * 70 + str(i), i) for i in range(5)],
            PARAMS,
            None,
            lambda i, _: reported.append(i),
        )
    assert reported == [0, 1, 2, 3, 4]


def test_samples_that_always_break_the_server_are_refused_also_when_no_other_is_left(
    server: FakeServer,
) -> None:
    server.script = only("bad", status=500)
    options = ServerOptions(concurrency=4, patience=20.0, refusals="record")
    answers = OpenAIGenerator(server.url, options).generate(
        [ask(f"bad {i}", i) for i in range(5)], PARAMS
    )
    assert {a[0].note for a in answers} == {"HTTP 500: no, 6 times"}


def context(of: int) -> Callable[[int, Mapping[str, Any]], Fault | None]:
    """Return a script that fails like vLLM if 20 prompt tokens leave too little context."""
    said = f"maximum context length is {of} tokens and your request has 20 input tokens"
    return lambda _, body: Fault(400, said) if body["max_tokens"] > of - 20 else None


def test_without_a_tokenizer_the_server_gets_what_was_asked_for(server: FakeServer) -> None:
    server.card = {"max_model_len": 60}
    OpenAIGenerator(server.url, CHAT).generate([ask("x" * 400, 1)], PARAMS)
    assert [b["max_tokens"] for b in server.bodies] == [40]


def test_what_the_server_says_of_its_context_lowers_max_tokens_and_is_told_once(
    server: FakeServer,
) -> None:
    server.script = context(50)
    said: list[str] = []
    generator = OpenAIGenerator(server.url, ServerOptions(concurrency=1), said.append)
    answers = generator.generate([ask("a", 1), ask("a", 2), ask("b", 3)], PARAMS)
    assert texts(answers) == [[expected(1)], [expected(2)], [expected(3)]]
    assert [b["max_tokens"] for b in server.bodies] == [40, 30, 30, 40, 30]
    assert len(said) == 1 and "context holds 50 tokens" in said[0]


def test_a_prompt_that_leaves_no_room_is_refused_with_its_size(server: FakeServer) -> None:
    server.script = context(20)
    answers = OpenAIGenerator(server.url, RECORD).generate([ask("a", 1)], PARAMS)
    assert "the prompt has 20 tokens, but the server's context holds 20" in answers[0][0].note


def always(fault: Fault, _: int, __: Mapping[str, Any]) -> Fault:
    return fault


@pytest.mark.parametrize("cut", range(40, 130, 5))
def test_no_part_of_the_key_is_said_wherever_a_message_is_cut(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, cut: int
) -> None:
    key = "sk-0123456789/abcdef"
    monkeypatch.setenv("MY_KEY", key)
    generator = OpenAIGenerator(server.url, ServerOptions(key_env="MY_KEY", refusals="stop"))
    long = "x" * cut
    for fault in (
        Fault(400, f"{long}{key}"),
        Fault(400, json.dumps({"error": f"{'y' * 180}{long}{key}"}).replace("/", "\\/")),
        Fault(307, "", {"Location": f"http://x/{'y' * 180}{long}{key}"}),
        Fault(200, f"{long}{key}"),
    ):
        server.script = functools.partial(always, fault)
        monkeypatch.setattr(generator, "_watch", ServerWatch("x", RetryPolicy(patience=1e-9)))
        with pytest.raises((ServiceError, UserError)) as caught:
            generator.generate([ask("a", 1)], PARAMS)
        assert "sk-" not in str(caught.value) and "012345" not in str(caught.value)


def test_half_a_character_in_an_answer_becomes_the_replacement_character(
    server: FakeServer,
) -> None:
    server.answer = lambda _: "emoji \ud83d end"
    answers = OpenAIGenerator(server.url, CHAT).generate([ask("a", 1)], PARAMS)
    assert answers[0][0].text == "emoji \ufffd end"
    server.script = lambda *_: Fault(400, '{"error": "half \\ud83d"}')
    refused = OpenAIGenerator(server.url, RECORD).generate([ask("a", 1)], PARAMS)
    assert refused[0][0].note == "HTTP 400: half \ufffd"


def test_an_interruption_is_no_news_of_the_server(server: FakeServer) -> None:
    server.script = lambda number, _: Fault(kind="hang") if number > 1 else None
    said: list[str] = []

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    options = ServerOptions(concurrency=8)
    with pytest.raises(KeyboardInterrupt):
        OpenAIGenerator(server.url, options, said.append).generate(
            [ask("p", i) for i in range(9)], PARAMS, None, interrupt
        )
    assert said == []


def test_answers_that_had_come_are_handed_over_when_the_call_is_interrupted(
    server: FakeServer,
) -> None:
    server.script = lambda number, _: Fault(kind="hang") if number > 5 else None
    taken: list[int] = []

    def take(index: int, _: list[Completion]) -> None:
        taken.append(index)
        if len(taken) == 1:
            while len(server.bodies) < 6:  # the other requests end while this one runs
                threading.Event().wait(0.01)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        OpenAIGenerator(server.url, ServerOptions(concurrency=1)).generate(
            [ask("p", i) for i in range(9)], PARAMS, None, take
        )
    assert taken == [0, 1, 2, 3, 4]


def test_the_caller_hears_that_time_passes_while_nothing_comes(server: FakeServer) -> None:
    server.script = lambda number, _: Fault(kind="hang") if number == 2 else None
    heard: list[int] = []

    def on_done(count: int) -> None:
        heard.append(count)
        if heard.count(0) == 2:
            server.hung.set()

    answers = OpenAIGenerator(server.url, ServerOptions(concurrency=2)).generate(
        [ask("a", 1), ask("b", 2)], PARAMS, on_done
    )
    assert texts(answers) == [[expected(1)], [expected(2)]]
    assert heard.count(0) >= 2 and sum(heard) == 2

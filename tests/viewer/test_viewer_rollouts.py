from __future__ import annotations

import errno
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from doubles import TALK
from pyarrow import parquet

from prorl_common import UserError
from prorl_common.rollout_files import COLUMNS, rollout_file, schema
from prorl_evaluation.sampling.stored import OpenFile
from prorl_verifiers import read_items
from prorl_viewer.answering import encode
from prorl_viewer.rollouts import index as index_module
from prorl_viewer.rollouts.pages import Rollouts
from prorl_viewer.subject import NotFoundError, Private

TASK = {"verifier": "math", "reference": json.dumps({"answer": "4"})}


def row(step: int, at: int, **changes: Any) -> dict[str, Any]:
    """Return a rollout: two prompts per step, with the second response of each right."""
    right = at % 2
    return {
        "step": step,
        "sample_id": f"sum-{at // 2}",
        "sample_index": at % 2,
        "domain": "math",
        "task": "sums",
        **TASK,
        "prompt": json.dumps([{"role": "user", "content": "What is\n2+2?"}]),
        "response": f"It is \\boxed{{{3 + right}}}, step {step}",
        "tokens": 10 * step + at,
        "finish_reason": "stop",
        "reward": float(right),
        "shaped_reward": float(right),
        "status": "scored",
        "reason": "compared",
        "isolation": "worker",
        "kept": True,
        "advantage": right - 0.5,
        "carried": False,
        "policy_first": step - 1,
        "policy_last": step - 1,
    } | changes


def write(run: Path, step: int, rows: list[dict[str, Any]] | None = None) -> Path:
    """Write a step's file as a run does: complete, by rename."""
    file = rollout_file(run, step)
    file.parent.mkdir(parents=True, exist_ok=True)
    table = pa.Table.from_pylist(rows or [row(step, at) for at in range(4)], schema=schema())
    work = file.with_name(f".{file.name}")
    parquet.write_table(table, work)
    work.replace(file)
    return file


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    for step in (1, 2, 3):
        write(folder, step)
    return folder


@pytest.fixture
def opened(run: Path) -> Iterator[Rollouts]:
    """The rollout pages of the run."""
    with Rollouts(run) as rollouts:
        yield rollouts


def listed(rollouts: Rollouts, **query: str) -> dict[str, Any]:
    """Return the list once everything has been read."""
    until = time.monotonic() + 20
    while True:
        answer: dict[str, Any] = rollouts.listed(query)
        if answer["complete"]:
            return answer
        assert time.monotonic() < until
        time.sleep(0.01)


def places(answer: dict[str, Any]) -> list[tuple[int, int]]:
    return [(one["step"], one["row"]) for one in answer["rows"]]


def test_the_list_begins_with_the_newest_step(opened: Rollouts) -> None:
    answer = listed(opened, limit="5")
    assert places(answer) == [(3, 0), (3, 1), (3, 2), (3, 3), (2, 0)]
    assert (answer["total"], answer["of"]) == (12, 12)
    assert places(listed(opened, limit="5", offset="10")) == [(1, 2), (1, 3)]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"step": "2"}, [(2, 0), (2, 1), (2, 2), (2, 3)]),
        ({"step": "2..", "reward": "1", "sample_id": "sum-0"}, [(3, 1), (2, 1)]),
        ({"tokens": "..12", "kept": "yes"}, [(1, 0), (1, 1), (1, 2)]),
        ({"kept": "no"}, []),
        ({"domain": "code"}, []),
        ({"domain": "code,math", "step": "1", "task": "sums", "status": "scored"}, [(1, i) for i in range(4)]),
        ({"finish_reason": "length"}, []),
        ({"q": "STEP 2"}, [(2, 0), (2, 1), (2, 2), (2, 3)]),
        ({"q": "boxed{3", "step": "1"}, [(1, 0), (1, 2)]),
        ({"q": "is\n2+2", "step": "1"}, [(1, i) for i in range(4)]),
        ({"q": "SUM-1", "step": "1"}, [(1, 2), (1, 3)]),
        ({"q": ".*"}, []),
        ({"step": "1", "sort": "tokens", "order": "desc"}, [(1, 3), (1, 2), (1, 1), (1, 0)]),
        ({"step": "1", "sort": "reward"}, [(1, 0), (1, 2), (1, 1), (1, 3)]),
        ({"sort": "sample_id", "order": "desc", "step": "2..3"}, [(3, 2), (3, 3), (2, 2), (2, 3), (3, 0), (3, 1), (2, 0), (2, 1)]),
    ],
)  # fmt: skip
def test_filters_and_orders(
    opened: Rollouts, query: dict[str, str], expected: list[tuple[int, int]]
) -> None:
    assert places(listed(opened, **query)) == expected


@pytest.mark.parametrize(
    "query",
    [
        {"step": "two"},
        {"reward": "1..x"},
        {"tokens": "nan"},
        {"kept": "maybe"},
        {"sort": "color"},
        {"limit": "100000"},
        {"offset": "-1"},
        {"q": "x" * 2000},
    ],
)
def test_a_query_without_sense_is_a_users_mistake(opened: Rollouts, query: dict[str, str]) -> None:
    with pytest.raises(UserError):
        opened.listed(query)


def test_a_row_without_a_reward_is_in_no_range_of_rewards_and_sorted_last(
    run: Path, opened: Rollouts
) -> None:
    write(run, 4, [row(4, 0, reward=None, status="infra_error"), row(4, 1)])
    assert places(listed(opened, step="4", reward="..5")) == [(4, 1)]
    for order in ("asc", "desc"):
        assert places(listed(opened, step="4", sort="reward", order=order)) == [(4, 1), (4, 0)]


def test_a_task_with_a_comma_in_its_name_is_filtered_and_long_names_are_cut(
    run: Path, opened: Rollouts
) -> None:
    write(run, 4, [row(4, 0, task="a, b"), row(4, 1, task="x" * 10**6)])
    assert places(listed(opened, task="a, b")) == [(4, 0)]
    assert len(encode(listed(opened))) < 20_000
    assert len(encode(opened.one({"step": "4", "row": "1"}))) < 20_000


def test_a_hit_is_shown_with_its_surroundings_and_letters_beyond_ascii_have_cases_too(
    run: Path, opened: Rollouts
) -> None:
    long = "a" * 5000 + " straße ÄHNLICH 数学 " + "b" * 5000
    write(run, 5, [row(5, 0, response=long), row(5, 1, response="unähnlich?")])
    answer = listed(opened, q="ähnlich")
    assert places(answer) == [(5, 0), (5, 1)]
    assert "ÄHNLICH" in answer["rows"][0]["head"].text
    assert len(answer["rows"][0]["head"].text) < 200
    assert places(listed(opened, q="数学")) == [(5, 0)]


def test_every_text_of_model_and_dataset_can_be_left_out(opened: Rollouts) -> None:
    sample = "sum-1"
    where = {"step": "2", "row": "3"}
    answers = [
        listed(opened, q="step 2"),
        opened.one(where),
        opened.tokens(where),
        opened.testcase(where),
        opened.group({"step": "2", "sample": sample}),
        opened.prompt({"sample": sample}),
    ]
    for answer in answers:
        told = encode(answer, share_safe=True).decode()
        for text in ("boxed", "2+2", "compared", "answer"):
            assert text not in told


def test_a_group_is_all_responses_to_one_prompt_in_one_step(opened: Rollouts) -> None:
    group = opened.group({"step": "2", "sample": "sum-1"})
    assert [(r["row"], r["reward"]) for r in group["rows"]] == [(2, 0.0), (3, 1.0)]
    assert group["prompt"]["messages"][0]["content"] == Private("What is\n2+2?")
    assert (group["passed"], group["scored"], group["steps"]) == (1, 2, [1, 2, 3])


def test_a_prompts_row_has_every_reward_though_one_response_matches(opened: Rollouts) -> None:
    listed(opened)
    rows = {(r["step"], r["sample_id"]): r for r in opened.groups({"reward": "1"})["rows"]}
    assert sorted(rows) == [(step, f"sum-{n}") for step in (1, 2, 3) for n in (0, 1)]
    assert rows[2, "sum-1"]["rewards"] == [0.0, 1.0]
    assert (rows[2, "sum-1"]["passed"], rows[2, "sum-1"]["responses"]) == (1, 2)
    assert opened.groups({"reward": "1", "sort": "tokens"})["rows"] == list(rows.values())


def test_of_very_many_responses_the_newest_steps_are_listed(
    opened: Rollouts, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("MOST_LISTED", 4), ("AT_FIRST", 1)):
        monkeypatch.setattr(f"prorl_viewer.rollouts.index.{name}", value)
    answer = listed(opened)
    assert places(answer) == [(3, 0), (3, 1), (3, 2), (3, 3)]
    assert answer["problems"] == ["2 older step files are not listed; links to them work"]


def test_a_prompt_over_the_steps_has_a_pass_rate_for_each(opened: Rollouts) -> None:
    listed(opened)
    prompt = opened.prompt({"sample": "sum-0"})
    assert [(s["step"], s["passed"], s["responses"]) for s in prompt["steps"]] == [
        (1, 1, 2),
        (2, 1, 2),
        (3, 1, 2),
    ]
    assert places(prompt) == [(3, 0), (3, 1), (2, 0), (2, 1), (1, 0), (1, 1)]


def test_what_is_not_there_is_not_found(opened: Rollouts) -> None:
    listed(opened)
    for page, query in (
        (opened.one, {"step": "9", "row": "0"}),
        (opened.one, {"step": "1", "row": "4"}),
        (opened.one, {}),
        (opened.group, {"step": "1", "sample": "none"}),
        (opened.prompt, {"sample": "none"}),
    ):
        with pytest.raises(NotFoundError):
            page(query)


def test_a_response_that_a_later_step_trained_on_is_listed_once_and_says_so(
    run: Path, opened: Rollouts
) -> None:
    write(run, 4, [row(4, 0, carried=True), row(4, 1)])
    assert places(listed(opened, step="4")) == [(4, 1)]
    assert opened.one({"step": "3", "row": "0"})["trained_in"] == 4
    assert opened.one({"step": "3", "row": "1"})["trained_in"] is None


def test_new_steps_are_seen_and_a_step_done_again_takes_the_place_of_the_old_one(
    run: Path, opened: Rollouts
) -> None:
    listed(opened)
    before = opened.version()
    write(run, 4)
    assert listed(opened)["total"] == 16
    assert opened.version() != before
    time.sleep(0.01)
    write(run, 2, [row(2, 0, response="Done again")])
    assert listed(opened)["total"] == 13
    assert places(listed(opened, q="done again")) == [(2, 0)]
    rollout_file(run, 1).unlink()
    assert listed(opened)["total"] == 9


def test_nothing_is_read_before_someone_asks(opened: Rollouts) -> None:
    assert opened.version() == ""


def bad_files(run: Path) -> None:
    """Write faulty files: torn, no Parquet, wrong types, without columns, no UTF-8."""
    whole = rollout_file(run, 1).read_bytes()
    rollout_file(run, 11).write_bytes(whole[: len(whole) // 2])
    rollout_file(run, 12).write_bytes(b"")
    rollout_file(run, 13).write_bytes(b"PAR1 no file PAR1")
    good = pa.Table.from_pylist([row(14, 0)], schema=schema())
    for step, name, values in (
        (14, "reward", pa.array(["much"])),
        (15, "tokens", pa.array([{"a": 1}])),
        (16, "response", pa.array([[1, 2]])),
        (17, "token_ids", pa.array(["ids"])),
    ):
        at = good.schema.get_field_index(name)
        parquet.write_table(good.set_column(at, name, values), rollout_file(run, step))
    parquet.write_table(good.drop_columns(["response"]), rollout_file(run, 18))
    invalid = pa.array([b"\xff\xfe"]).view(pa.string())
    at = good.schema.get_field_index("response")
    parquet.write_table(good.set_column(at, "response", invalid), rollout_file(run, 19))


def test_files_that_cannot_be_read_are_a_line_each_and_the_others_are_shown(
    run: Path, opened: Rollouts
) -> None:
    bad_files(run)
    (run / "rollouts" / "step_old.parquet").write_bytes(b"not a step")
    answer = listed(opened)
    assert answer["of"] == 13  # the three steps, and 17, which has wrong tokens only
    steps = [11, 12, 13, 14, 15, 16, 18, 19]
    assert len(answer["problems"]) == len(steps)
    for step, line in zip(steps, answer["problems"], strict=True):
        assert f"step_{step:06d}.parquet" in line
        assert "\n" not in line
    for step, page in (
        (11, opened.one),
        (14, opened.one),
        (16, opened.one),
        (17, opened.tokens),
        (19, opened.one),
    ):
        with pytest.raises(UserError):
            page({"step": str(step), "row": "0"})


def test_texts_in_a_temporary_file_give_the_same_answers(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answers() -> list[dict[str, Any]]:
        with Rollouts(run) as rollouts:
            answers = [listed(rollouts, q=text) for text in ("", "STEP 2", "2+2")]
            kinds = {type(s.texts) for s in rollouts._index.state().table.segments}
            assert kinds == {OpenFile if index_module.MERGED_FILES == 2 else bytes}
            return answers

    expected = answers()
    monkeypatch.setattr(index_module, "MERGED_FILES", 2)
    assert answers() == expected


def test_without_room_for_a_temporary_file_the_texts_stay_in_memory(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(index_module, "MERGED_FILES", 2)
    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    with Rollouts(run) as rollouts:
        answer = listed(rollouts, q="step 2")
        assert answer["total"] == 4
        assert any("stay in memory" in line for line in answer["problems"])


def test_a_prompt_of_any_form_is_shown(run: Path, opened: Rollouts) -> None:
    prompts = [
        "\ud800 is in JSON",
        "{",
        "[1]",
        "[[",
        '[{"role": 1, "content": [2]}]',
        "null",
        "[" * 10**5,
    ]
    told = [
        json.dumps(prompts[0]),
        *prompts[1:],
        json.dumps([{"role": "user", "content": "\ud800"}]),
    ]
    write(run, 4, [row(4, at, prompt=text) for at, text in enumerate(told)])
    assert listed(opened, step="4")["total"] == len(told)
    for at in range(len(told)):
        encode(opened.one({"step": "4", "row": str(at)}))


def test_old_files_without_prompts_get_them_from_the_runs_dataset_where_it_asks_the_same(
    run: Path, tmp_path: Path, opened: Rollouts
) -> None:
    old = [name for name, column in COLUMNS.items() if column.first]
    table = pa.Table.from_pylist([row(5, 0), row(5, 2)], schema=schema()).select(old)
    parquet.write_table(table, rollout_file(run, 5))
    assert listed(opened, step="5")["total"] == 2
    where = {"step": "5", "row": "0"}
    assert "has no data.path" in opened.one(where)["prompt"]["missing"]
    data = tmp_path / "data"
    (run / "config.yaml").write_text(f"data: {{path: {data}}}")
    assert "is not on this machine" in opened.one(where)["prompt"]["missing"]
    data.mkdir()
    asked = [{"role": "user", "content": "What?"}]
    kind = pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())]))
    rows = {
        "id": ["sum-0", "sum-1"],
        "prompt": pa.array([asked, asked], kind),
        "verifier": ["math", "math"],
        "reference": [TASK["reference"], json.dumps({"answer": "5"})],
    }
    parquet.write_table(pa.table(rows), data / "train.parquet")
    found = opened.one(where)["prompt"]
    assert found["messages"] == [{"role": "user", "content": Private("What?")}]
    assert found["from"] == "the dataset data"
    assert "now has another reference" in opened.one({"step": "5", "row": "1"})["prompt"]["missing"]


def test_tokens_end_where_a_browser_counts_and_a_gap_is_sampler_minus_trainer(
    run: Path, tmp_path: Path, opened: Rollouts
) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    made = tokenizers.Tokenizer(tokenizers.models.BPE({c: i for i, c in enumerate(letters)}, []))
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    ids = made.encode("a😀b").ids
    token_columns = {
        "token_ids": ids,
        "sampler_logprobs": [-1.0] * 6,
        "trainer_logprobs": [-1.5] * 5 + [None],
    }
    rows = [
        row(4, 0, response="a😀b", **token_columns),
        row(4, 1, response="other", **token_columns),
    ]
    rows += [row(4, 2, response="a😀b", token_ids=[9999], sampler_logprobs=[-1.0])]
    rows += [row(4, 3, response="b", given=[1, 5], **token_columns)]
    write(run, 4, rows)
    told = [opened.tokens({"step": "4", "row": str(at)}) for at in range(4)]
    assert all("has no model.path" in one["why"] for one in told)
    (tmp_path / "model").mkdir()
    made.save(str(tmp_path / "model" / "tokenizer.json"))
    (run / "config.yaml").write_text(f"model: {{path: {tmp_path / 'model'}}}")
    same, other, unknown, talk = (opened.tokens({"step": "4", "row": str(at)}) for at in range(4))
    assert same["ends"].value == [1, 1, 1, 1, 3, 4]
    assert (same["why"], same["text"], other["text"]) == ("", None, Private("a😀b"))
    assert same["gap"] == [0.5] * 5 + [None]
    assert unknown["why"] or unknown["text"] == Private("")
    assert (talk["given"].value, talk["text"]) == ([1, 2, 3, 4], Private("a😀b"))
    assert (talk["sampler"], talk["gap"]) == ([-1.0, *[None] * 4, -1.0], [0.5, *[None] * 5])


def test_a_check_says_whether_the_reward_is_the_recorded_one(run: Path, opened: Rollouts) -> None:
    write(
        run,
        4,
        [row(4, 0, reward=1.0), row(4, 1), row(4, 2, verifier="none"), row(4, 3, reward=None)],
    )
    wrong = opened.check({"step": "4", "row": "0"})
    assert (wrong["same"], wrong["now"]["reward"], wrong["stored"]["reward"]) == (False, 0.0, 1.0)
    assert opened.check({"step": "4", "row": "1"})["same"] is True
    assert opened.check({"step": "4", "row": "3"})["same"] is None
    with pytest.raises(UserError, match="unknown"):
        opened.check({"step": "4", "row": "2"})


def test_a_test_case_is_read_by_prorl_verify_file(
    run: Path, tmp_path: Path, opened: Rollouts
) -> None:
    file = tmp_path / "case.jsonl"
    file.write_text(opened.testcase({"step": "2", "row": "1"})["line"].text)
    (item,) = read_items(file)
    assert (item.id, item.task.verifier, item.expected) == ("sum-0#2.1", "math", 1.0)
    write(run, 4, [row(4, 0, reference="[]")])
    with pytest.raises(UserError, match="not a JSON object"):
        opened.testcase({"step": "4", "row": "0"})


def test_nothing_is_written_into_the_run(run: Path, opened: Rollouts) -> None:
    before = {p: p.stat().st_mtime_ns for p in run.rglob("*")}
    listed(opened, q="step")
    opened.one({"step": "1", "row": "0"})
    assert {p: p.stat().st_mtime_ns for p in run.rglob("*")} == before


def test_an_exported_page_holds_every_answer_that_its_snapshot_names(opened: Rollouts) -> None:
    pages = opened.pages()
    named = list(opened.snapshot())
    assert {page for page, _ in named} == set(pages)
    for page, query in named:
        assert encode(pages[page](query))


def test_a_conversation_is_shown_by_its_roles_and_checked_with_all_its_responses(
    tmp_path: Path,
) -> None:
    talk = {"verifier": "tool-arithmetic", "turns": json.dumps(TALK), "response": "\\boxed{4}"}
    write(tmp_path, 1, [row(1, 0, **talk, reward=1.0, ended="turns"), row(1, 1)])
    where = {"step": "1", "row": "0"}
    with Rollouts(tmp_path) as rollouts:
        found, alone = rollouts.one(where), rollouts.one({"step": "1", "row": "1"})
        assert rollouts.check(where)["same"] is True
        with pytest.raises(UserError, match="several responses"):
            rollouts.testcase(where)
    assert [turn["role"] for turn in found["turns"]] == ["assistant", "tool", "assistant"]
    assert found["ended"] == "turns" and alone["turns"] == []

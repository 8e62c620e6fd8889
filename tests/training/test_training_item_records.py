from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from prorl_common import UserError
from prorl_datasets import Sample
from prorl_inference import Completion
from prorl_training.rollout.item_records import ItemRecords, chance_to_solve, read_ratings
from prorl_training.run.metrics import group_metrics
from prorl_training.types import Group, Trajectory
from prorl_verifiers import Task, Verdict

NEVER = 1e18
"""A half-life in which nothing decays."""


def sample(name: str, domain: str = "math") -> Sample:
    prompt = ({"role": "user", "content": "x"},)
    return Sample(name, domain, prompt, Task("math", {"answer": "1"}), "test", "none", "train")


def group(
    name: str, rewards: Sequence[float | None], answers: Sequence[str | None] = (), text: str = "a"
) -> Group:
    given = [*answers, *[None] * (len(rewards) - len(answers))]
    verdicts = [
        Verdict(r, "infra_error" if r is None else "scored", "", extracted=a)
        for r, a in zip(rewards, given, strict=True)
    ]
    completion = Completion(text, (1,), (0.0,), "stop")
    return Group(
        sample(name), tuple(Trajectory(i, completion, v, 0.0) for i, v in enumerate(verdicts))
    )


def test_rewards_are_counted_as_right_and_the_rest_as_wrong_and_infra_errors_not_at_all() -> None:
    records = ItemRecords([sample("a"), sample("b")])
    records.record(1, [group("b", [1.0, 0.0, 0.25, None])], NEVER)
    assert records.right.tolist() == [0.0, 1.25]
    assert records.wrong.tolist() == [0.0, 1.75]


@pytest.mark.parametrize(
    ("right", "wrong", "k", "expected"),
    [
        (0, 16, 128, 0.0),  # never solved
        (1, 0, 1, 1 / 2),  # Beta(1, 1)
        (1, 15, 128, 128 / 144),  # a = 1: k / (b + k)
        (2, 14, 128, 1 - 15 * 16 / (143 * 144)),
        (3, 5, 2, 1 - 6 * 7 / (9 * 10)),
        (0.5, 0.5, 1, 0.5 / 2),  # partial rewards: the mean of Beta(0.5, 1.5)
    ],
)
def test_chance_to_solve_is_the_expected_pass_at_k_worked_out_by_hand(
    right: float, wrong: float, k: int, expected: float
) -> None:
    assert chance_to_solve(right, wrong, k) == pytest.approx(expected, abs=1e-12)


def test_a_group_counts_with_the_faded_responses_before_it() -> None:
    records = ItemRecords([sample("a"), sample("b")])
    records.record(1, [group("a", [1.0, 0.0, 0.0, 0.0])], NEVER)
    seen = group("a", [1.0, 0.0, None])
    assert records.solvable(seen, 2) == pytest.approx(1 - 5 * 6 / (7 * 8))  # 2 right, 4 wrong
    assert records.solvable(group("b", [1.0, 0.0]), 2) == pytest.approx(1 - 2 * 3 / (3 * 4))


def test_counts_are_half_after_the_half_life_whether_or_not_the_item_was_drawn() -> None:
    records = ItemRecords([sample("a")])
    records.record(1, [group("a", [1.0, 0.0])], 10)
    for step in range(2, 12):
        records.record(step, [], 10)
    assert records.right[0] == pytest.approx(0.5)
    assert records.wrong[0] == pytest.approx(0.5)


def test_an_item_stays_solved_and_is_recently_solved_only_within_the_window() -> None:
    records = ItemRecords([sample("a"), sample("b", "code"), sample("c", "code")])
    records.record(3, [group("a", [1.0, 0.0]), group("c", [0.99, 0.0])], 10)
    records.record(4, [group("b", [1.0])], 10)
    found = records.coverage(5, window=2)
    assert found[""] == {"items_solved": 2, "items_solved_recently": 1}
    assert found["math"] == {"items_solved": 1, "items_solved_recently": 0}
    assert found["code"] == {"items_solved": 1, "items_solved_recently": 1}


def test_records_come_back_from_a_checkpoint_to_the_last_bit(tmp_path: Path) -> None:
    items = [sample(name) for name in "abc"]
    records = ItemRecords(items)
    for step in range(1, 40):
        records.record(step, [group("abc"[step % 2], [1.0, 1 / 3, 0.0])], 7)
    records.save(tmp_path)
    again = ItemRecords(items[::-1])
    again.record(1, [group("c", [1.0])], 7)  # the earlier record is gone
    again.restore(tmp_path)
    for name in ("right", "wrong", "solved"):
        assert getattr(again, name).tobytes() == getattr(records, name)[::-1].tobytes()


def test_a_checkpoint_of_another_dataset_is_refused_by_the_items_name(tmp_path: Path) -> None:
    records = ItemRecords([sample("a")])
    records.record(1, [group("a", [1.0])], 7)
    records.save(tmp_path)
    with pytest.raises(UserError, match="records of 'a', which is not in the dataset"):
        ItemRecords([sample("b")]).restore(tmp_path)


def test_a_checkpoint_from_before_there_were_records_leaves_them_empty(tmp_path: Path) -> None:
    records = ItemRecords([sample("a")])
    records.restore(tmp_path)
    assert records.coverage(9, 9)[""]["items_solved"] == 0


def test_ratings_count_as_responses_from_before_step_1(tmp_path: Path) -> None:
    path = tmp_path / "pass_rates.jsonl"
    rows = [{"id": "a", "pass_rate": 0.25, "n": 8}, {"id": "gone", "pass_rate": 1.0, "n": 8}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    records = ItemRecords([sample("a")])
    records.add_ratings(read_ratings(path, {"a"}))
    assert (records.right[0], records.wrong[0]) == (2.0, 6.0)
    assert records.coverage(1, 1)[""]["items_solved"] == 0


@pytest.mark.parametrize(
    "line",
    [
        "{",
        '{"id": "a", "n": 3}',
        '{"id": "a", "pass_rate": 1.5, "n": 3}',
        '{"id": "a", "pass_rate": 0.5, "n": Infinity}',
        '{"id": "a", "pass_rate": NaN, "n": 3}',
        "[]",
    ],
)
def test_a_line_that_is_no_rating_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "pass_rates.jsonl"
    path.write_text('{"id": "a", "pass_rate": 1, "n": 3}\n' + line + "\n")
    with pytest.raises(UserError, match=r"pass_rates\.jsonl:2: "):
        read_ratings(path, {"a"})


def test_a_file_of_ratings_that_is_no_text_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "pass_rates.jsonl"
    path.write_bytes(b"\xff\xfe{")
    with pytest.raises(UserError, match="not UTF-8 text"):
        read_ratings(path, {"a"})


def test_ratings_of_another_dataset_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "pass_rates.jsonl"
    path.write_text('{"id": "b", "pass_rate": 1, "n": 3}\n')
    assert read_ratings(path, {"a", "b"}) == {"b": (1.0, 3)}
    with pytest.raises(UserError, match="rates no item of this dataset"):
        read_ratings(path, {"a"})


def test_a_missing_file_of_ratings_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="prorl data rate"):
        read_ratings(tmp_path / "none.jsonl", {"a"})


def test_distinct_answers_are_those_extracted_else_the_text_without_case_and_spaces() -> None:
    extracted = group("a", [1.0, 0.0, 0.0, None], ["12", "12 ", "7", "9"])
    plain = group("b", [0.0, 0.0], text="Some\n Text")
    row = group_metrics([extracted, plain], ["usable", "all_wrong"])
    assert row["answers_distinct"] == (2 + 1) / 2
    assert row["answers_share"] == (2 / 3 + 1 / 2) / 2
    two_to_one = -(2 / 3 * math.log(2 / 3) + 1 / 3 * math.log(1 / 3))
    assert row["answer_entropy"] == pytest.approx(two_to_one / 2)


def test_without_a_verdict_there_are_no_answers_to_count() -> None:
    row = group_metrics([group("a", [None, None])], ["infra"])
    assert row["answers_distinct"] is row["answers_share"] is row["answer_entropy"] is None


def test_the_entropy_of_rollouts_is_that_of_sampled_tokens_whose_log_probs_are_known() -> None:
    base = group("a", [1.0, None, 0.0])
    known = Completion("x", (1, 2, 3), (-0.5, -1.0, -0.6), "stop")
    short = Completion("x", (7, 8, 1), (0.0, 0.0, -1.9), "stop", given=((0, 2),))
    unknown = Completion("x", (-1, -1), (math.nan, math.nan), "stop")
    trajectories = [
        replace(t, completion=c)
        for t, c in zip(base.trajectories, (known, short, unknown), strict=True)
    ]
    mixed = replace(base, trajectories=tuple(trajectories))
    assert group_metrics([mixed], ["usable"])["rollout_entropy"] == pytest.approx(4.0 / 4)
    nothing = replace(base, trajectories=tuple(trajectories[2:]))
    assert group_metrics([nothing], ["usable"])["rollout_entropy"] is None

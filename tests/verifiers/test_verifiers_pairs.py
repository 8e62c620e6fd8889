from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from prorl_verifiers import VerifierPool, load_task

ROOT = Path(__file__).resolve().parents[2]
PAIRS = ROOT / "tests" / "data" / "verifier_pairs"
SPLITS = ("dev", "heldout")
Row = dict[str, Any]


def rows(split: str) -> list[Row]:
    text = (PAIRS / f"{split}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def test_there_are_enough_pairs_and_about_half_are_right() -> None:
    every = [row for split in SPLITS for row in rows(split)]
    assert len(every) >= 1500
    right = sum(row["label"] for row in every)
    assert 0.4 < right / len(every) < 0.6
    assert len({row["id"] for row in every}) == len(every)


@pytest.mark.parametrize("split", SPLITS)
def test_every_family_has_rows_of_both_labels(split: str) -> None:
    labels = defaultdict(set)
    for row in rows(split):
        labels[row["verifier"], row["family"]].add(row["label"])
    assert all(found == {0, 1} for found in labels.values())


def test_both_files_have_the_same_families_and_no_row_in_common() -> None:
    dev, heldout = rows("dev"), rows("heldout")
    assert {row["family"] for row in dev} == {row["family"] for row in heldout}
    texts = {(json.dumps(row["reference"]), row["response"]) for row in dev if row["response"]}
    again = [row for row in heldout if (json.dumps(row["reference"]), row["response"]) in texts]
    assert again == []


@pytest.mark.parametrize("split", SPLITS)
def test_every_reference_is_a_task(split: str) -> None:
    for row in rows(split):
        load_task(row["verifier"], row["reference"])


@pytest.fixture(scope="module")
def pool() -> Iterator[VerifierPool]:
    with VerifierPool(2, timeout_seconds=30) as opened:
        yield opened


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("verifier", ["math", "stem"])
def test_our_verdicts_are_nearly_always_right(
    pool: VerifierPool, verifier: str, split: str
) -> None:
    every = {"math": 4, "stem": 1}[verifier]
    chosen = [row for row in rows(split) if row["verifier"] == verifier][::every]
    items = [(row["response"], load_task(verifier, row["reference"])) for row in chosen]
    verdicts = pool.score(items)
    accepted = [verdict.reward == 1.0 for verdict in verdicts]
    truth = [row["label"] == 1 for row in chosen]
    false_accepts = sum(a and not t for a, t in zip(accepted, truth, strict=True))
    false_rejects = sum(t and not a for a, t in zip(accepted, truth, strict=True))
    assert false_accepts <= 0.02 * truth.count(False)
    assert false_rejects <= 0.1 * truth.count(True)

"""The logic verifier's spec, which imports the scorer on first use."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from prorl_common import nearest
from prorl_verifiers.audit_shape import AuditRequest, AuditShape, Group, Kind
from prorl_verifiers.data_shape import DataShape
from prorl_verifiers.libraries import load_library
from prorl_verifiers.spec import Canary, VerifierSpec
from prorl_verifiers.types import Reference, Score, TaskError, check_keys


def score(response: str, reference: Reference) -> Score:
    from prorl_verifiers.logic.scorer import score_logic

    return score_logic(response, reference, load_library)


def check_reference(reference: Reference) -> None:
    check_keys(reference, "dataset", "entry", "mode", "extraction")
    dataset = reference.get("dataset")
    if not isinstance(dataset, str):
        raise TaskError("the reference needs 'dataset', the name of a reasoning-gym dataset")
    names = logic_datasets()
    if dataset not in names:
        raise TaskError(f"unknown reasoning-gym dataset {dataset!r}{nearest(dataset, names)}")
    entry = reference.get("entry")
    if not isinstance(entry, Mapping) or "answer" not in entry:
        raise TaskError(
            "the reference needs 'entry', a reasoning-gym entry with question, answer, metadata"
        )
    if not isinstance(entry.get("metadata"), Mapping):
        raise TaskError("the entry has no 'metadata'")
    if reference.get("extraction", "answer") not in ("answer", "lenient"):
        raise TaskError(
            f"unknown extraction {reference['extraction']!r} of logic: use answer or lenient"
        )


def logic_datasets() -> tuple[str, ...]:
    import reasoning_gym  # noqa: F401 - fills the registry below
    from reasoning_gym.factory import DATASETS

    return tuple(sorted(set(DATASETS) - {"composite"}))


def quick_canaries(draw: random.Random) -> Sequence[Canary]:
    right, wrong = draw.sample(("True", "False"), 2)
    reference = _reference("game_of_life_halting", "Will it stop?", right)
    pair = [Canary(reference, tagged(right, {}), 1.0), Canary(reference, tagged(wrong, {}), 0.0)]
    draw.shuffle(pair)
    return pair


def deep_canaries() -> Sequence[Canary]:
    reference = _reference("gcd", "What is the gcd of 12 and 18?", "6")
    return Canary(reference, tagged("6", {}), 1.0), Canary(reference, tagged("4", {}), 0.0)


def _reference(dataset: str, question: str, answer: str) -> dict[str, Any]:
    metadata = {"source_dataset": dataset, "source_index": 0}
    entry = {"question": question, "answer": answer, "metadata": metadata}
    return {"dataset": dataset, "entry": entry}


def answer(reference: Reference) -> str | None:
    entry = reference.get("entry")
    gold = entry.get("answer") if isinstance(entry, Mapping) else None
    return None if gold is None else str(gold)


def tagged(text: str, reference: Reference) -> str:
    return f"<answer>{text}</answer>"


def may_be_right(reference: Reference) -> Collection[Kind]:
    return MAY_BE_RIGHT.get(str(reference["dataset"]), frozenset())


def audit_groups(request: AuditRequest) -> Iterable[Group]:
    from prorl_verifiers.logic.generated import logic_groups

    return logic_groups(request.datasets or logic_datasets(), request.items, request.seed)


SPEC = VerifierSpec(
    name="logic",
    score=score,
    check_reference=check_reference,
    modes=("fixed", "reference"),
    mode_for={"faithful": "reference"},
    libraries=("reasoning_gym",),
    quick_canaries=quick_canaries,
    deep_canaries=deep_canaries,
    data=DataShape(
        example={
            "dataset": "chain_sum",
            "entry": {"question": "1 + 1", "answer": "2", "metadata": {}},
        },
        prompt="{question}\nGive the final answer inside <answer></answer>.",
        columns=("dataset", "entry"),
        json_columns=("entry",),
        answer=answer,
        write=tagged,
    ),
    audit=AuditShape(
        may_be_right=may_be_right,
        groups=audit_groups,
    ),
)


_PLAN: frozenset[Kind] = frozenset({"appended", "digit", "order"})
"""Mutations of a sequence of moves, which may still reach the goal."""
_ANY_ORDER: frozenset[Kind] = frozenset({"order"})
"""Mutations of an answer whose parts may have another order."""
_NO_PRECISION: frozenset[Kind] = frozenset({"precision"})
"""Mutations of a number that may have fewer digits than the gold."""

MAY_BE_RIGHT: Mapping[str, frozenset[Kind]] = {
    **dict.fromkeys(
        (
            *("boxnet", "jugs", "knight_swap", "quantum_lock", "rubiks_cube", "rush_hour"),
            *("shortest_path", "sokoban", "tower_of_hanoi", "word_ladder"),
        ),
        _PLAN,
    ),
    "cryptarithm": frozenset({"digit", "order"}),  # place values of a letter may cancel out
    "graph_color": frozenset({"digit", "order"}),
    "propositional_logic": frozenset({"digit", "order"}),
    **dict.fromkeys(
        (
            *("codeio", "countdown", "group_anagrams", "intermediate_integration"),
            *("knights_knaves", "palindrome_partitioning", "polynomial_equations"),
            *("polynomial_multiplication", "prime_factorization", "puzzle24", "simple_integration"),
            *("futoshiki", "kakurasu", "mini_sudoku", "n_queens", "sudoku", "survo"),
        ),
        _ANY_ORDER,
    ),
    **dict.fromkeys(("coin_flip", "number_format", "pool_matrix", "power_function"), _NO_PRECISION),
}
"""For each dataset, the kinds of mutations after which an answer may still be correct."""

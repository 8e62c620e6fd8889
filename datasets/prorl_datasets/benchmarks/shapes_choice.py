"""GPQA rows: four options in an order drawn from the row's own id, the gold as a letter.

Leaves out: the copies without options (refused with a line) and any display of rows (gated).
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from prorl_common import derive_seed
from prorl_datasets.benchmarks.catalogue import BenchmarkSpec
from prorl_datasets.benchmarks.items import BenchmarkItem, text_of
from prorl_datasets.sources.adapters.fields import Unusable
from prorl_datasets.spec import AdapterSpec
from prorl_datasets.types import DatasetError

_LETTERS = "ABCD"
_WRONG = ("wrong_1", "wrong_2", "wrong_3")


def convert_gpqa(spec: BenchmarkSpec, raw: Mapping[str, Any], where: str) -> BenchmarkItem:
    """Return the item of a GPQA row; options that repeat each other make it Unusable.

    Raises DatasetError for a copy that has the answer's text and no options.
    """
    if "correct_answer" in raw and not any(c in raw for c in spec.columns["wrong_1"]):
        raise DatasetError(
            f"{where}: this copy of GPQA has no options (columns {', '.join(raw)}); it cannot be "
            "scored by letter: take gpqa_diamond.csv of Idavidrein/gpqa (gated: accept its terms)"
        )
    record = text_of(spec, raw, "id", where)
    question = text_of(spec, raw, "question", where)
    right = text_of(spec, raw, "answer", where)
    options = [right, *(text_of(spec, raw, name, where) for name in _WRONG)]
    if len({" ".join(option.split()) for option in options}) < len(options):
        raise Unusable("two options are the same text")
    seed = derive_seed(int(spec.options.get("seed", 0)), "benchmark", spec.name, record)
    order = list(range(4))
    Random(seed).shuffle(order)
    choices = [options[i] for i in order]
    letter = _LETTERS[order.index(0)]
    listed = "\n".join(f"{name}) {text}" for name, text in zip(_LETTERS, choices, strict=True))
    return BenchmarkItem(
        question,
        {"answer": letter, "choices": choices},
        key=record,
        gold=f"\\boxed{{{letter}}}",
        shown=f"{question}\n\n{listed}",
        metadata={"order": order, "seed": seed},
    )


GPQA = AdapterSpec("gpqa", domain="stem", item=convert_gpqa)

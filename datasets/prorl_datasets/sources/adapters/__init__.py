"""The adapters: how the rows of each published data set become ours.

``source_adapters()`` lists them by the name that a recipe uses. Leaves out: reading files (``readers``),
templates and gold checks (the builder).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from prorl_datasets.rows.row import Adapter, Drop, Row
from prorl_datasets.sources.adapters import code_sets, instruction_sets, math_sets, scp, stem_sets
from prorl_datasets.sources.adapters.fields import Unusable, check_columns, require_plain
from prorl_datasets.types import DatasetError, Domain

_Convert = Callable[[Mapping[str, Any], str, int], Row]
_Columns = tuple[tuple[str, ...], ...]
_VERL: _Columns = (("prompt",), ("reward_model",), ("", "ability"), ("", "extra_info"))
_ADAPTERS: tuple[tuple[str, Domain, _Columns, _Convert], ...] = (
    ("deepscaler", "math", (("problem",), ("answer",), ("", "solution")), math_sets.deepscaler),
    ("dapo_math", "math", (("prompt",), ("reward_model", "label")), math_sets.dapo_math),
    ("verl", "math", _VERL, math_sets.verl),
    ("gsm8k", "math", (("question",), ("answer",)), math_sets.gsm8k),
    ("math", "math", (("problem", "question"), ("answer", "solution", "expected_answer")),
     math_sets.hendrycks_math),
    ("eurus_code", "code", (("prompt",), ("ability",), ("reward_model",)), code_sets.eurus_code),
    ("mbpp", "code", (("text", "prompt"), ("test_list",), ("", "code")), code_sets.mbpp),
    ("scp116k", "stem", (scp.PROBLEM, scp.REFERENCE), scp.scp116k),
    ("arc", "stem", (("question",), ("answerKey",), ("", "choices")), stem_sets.arc),
    ("mmlu_stem", "stem", (("question",), ("choices",), ("answer",)), stem_sets.mmlu_stem),
    ("scibench", "stem", (("problem_text",), ("answer_number",), ("", "unit")), stem_sets.scibench),
    ("theoremqa", "stem", (("Question",), ("Answer",), ("Answer_type",)), stem_sets.theoremqa),
    ("nemotron_if", "instruction", (("input",), ("args",)), instruction_sets.nemotron_if),
    ("nemotron_rl_if", "instruction", (("instruction_id_list", "verifier_metadata"),),
     instruction_sets.nemotron_rl_if),
    ("rlvr_ifeval", "instruction", (("messages",), ("ground_truth",)), instruction_sets.rlvr_ifeval),
    ("ifeval", "instruction", (("prompt",), ("instruction_id_list",), ("kwargs",)),
     instruction_sets.ifeval),
)  # fmt: skip


def source_adapters() -> Mapping[str, Adapter]:
    """Return every adapter by name. Their ``convert`` never raises anything but DatasetError, and
    that only for a column that the file should have.
    """
    return {
        name: Adapter(name, domain, columns, _Guarded(convert))
        for name, domain, columns, convert in _ADAPTERS
    }


@dataclass(frozen=True, slots=True)
class _Guarded:
    """Makes a Drop of Unusable; a class, so that an adapter can be sent to another process."""

    convert: _Convert

    def __call__(self, raw: Mapping[str, Any], where: str, index: int) -> Row | Drop:
        try:
            require_plain(raw)
            return self.convert(raw, where, index)
        except Unusable as unusable:
            detail = f"{where}: {unusable.detail}" if unusable.detail else where
            return Drop(index, unusable.reason, detail)


__all__ = ["DatasetError", "check_columns", "source_adapters"]

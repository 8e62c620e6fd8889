"""Rows of code benchmarks: HumanEval and HumanEval+, and PRIME's validation split (Eurus-2).

Leaves out: LiveCodeBench (``livecodebench``) and reading HumanEval's test source (``asserts``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prorl_datasets.benchmarks.asserts import UnreadableTests, as_tests
from prorl_datasets.benchmarks.catalogue import BenchmarkSpec
from prorl_datasets.benchmarks.items import BenchmarkItem, field_of, text_of
from prorl_datasets.sources.adapters.code_sets import decoded_tests, without_wrapper
from prorl_datasets.sources.adapters.fields import Unusable
from prorl_datasets.sources.readers.plain import one_line
from prorl_datasets.spec import AdapterSpec
from prorl_datasets.types import DatasetError

CODE_SOURCES = ("apps", "codecontests", "codeforces", "taco")
"""The values of ``data_source`` that PRIME's code rows are known to have; the math rows' begin with numina."""


def convert_humaneval(spec: BenchmarkSpec, raw: Mapping[str, Any], where: str) -> BenchmarkItem:
    """Return the item of a HumanEval or HumanEval+ row; the canonical solution is its gold.

    Raises Unusable, like all that stand here.
    """
    head = field_of(spec, raw, "question", where)
    entry_point = text_of(spec, raw, "entry_point", where)
    source = text_of(spec, raw, "test", where)
    if not isinstance(head, str) or not head.strip():
        raise DatasetError(f"{where}: the prompt must be text")
    try:
        tests = as_tests(source, entry_point, head)
    except UnreadableTests as error:
        raise Unusable(f"tests: {error}") from error
    solution = field_of(spec, raw, "solution", where)
    gold = f"```python\n{head}{solution.rstrip()}\n```" if isinstance(solution, str) else None
    return BenchmarkItem(
        head.strip("\n"),
        {"tests": tests, "entry_point": entry_point},
        key=text_of(spec, raw, "id", where),
        gold=gold,
        metadata={"form": next(iter(tests[0])), "tests": len(tests)},
    )


def convert_eurus(spec: BenchmarkSpec, raw: Mapping[str, Any], where: str) -> BenchmarkItem | None:
    """Return the item of an Eurus-2 validation row, or None for a row of another source.

    Eurus-2 has no usable id (extra_info says the same on every row) and no reference solution.
    """
    found = eurus_question(spec, raw, where)
    if found is None:
        return None
    model = field_of(spec, raw, "ground_truth", where)
    truth = model.get("ground_truth") if isinstance(model, Mapping) else model
    if not isinstance(truth, str):
        raise DatasetError(f"{where}: reward_model.ground_truth must be text")
    reference = decoded_tests(truth)
    form = "call" if "entry_point" in reference else "stdin"
    metadata = {"data_source": spec.options["data_source"], "form": form}
    return BenchmarkItem(found[1], reference, metadata=metadata)


def eurus_question(
    spec: BenchmarkSpec, raw: Mapping[str, Any], where: str
) -> tuple[None, str] | None:
    """Return (no id, the problem without PRIME's wrapper), or None for a row of another source."""
    source = field_of(spec, raw, "source", where)
    if source != spec.options["data_source"]:
        if source not in CODE_SOURCES and raw.get("ability") == "code":
            raise DatasetError(
                f"{where}: a code row of data_source {one_line(repr(source), 40)}, known are "
                f"{', '.join(CODE_SOURCES)}; no benchmark would hold it"
            )
        return None
    prompt = field_of(spec, raw, "question", where)
    if isinstance(prompt, list):  # the last user message; PRIME's system message is left out
        users = [m for m in prompt if isinstance(m, Mapping) and m.get("role") == "user"]
        if users and isinstance(users[-1].get("content"), str):
            return None, without_wrapper(users[-1]["content"])
    if isinstance(prompt, str) and prompt.strip():
        return None, without_wrapper(prompt)
    raise DatasetError(f"{where}: the prompt must be text or messages with a user turn")


HUMANEVAL = AdapterSpec("humaneval", domain="code", item=convert_humaneval)
EURUS = AdapterSpec("eurus", domain="code", item=convert_eurus, question=eurus_question)

"""Converts rows of code sets: Eurus-2-RL-Data and MBPP."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from prorl_datasets.candidate import OWN_PROGRAM, Row
from prorl_datasets.sources.adapters.fields import (
    Raw,
    Unusable,
    column,
    decoded,
    finished,
    is_missing,
    text_of,
    user_text,
)  # fmt: skip
from prorl_datasets.sources.readers.decode import long_integers, slow_name
from prorl_datasets.spec import AdapterSpec
from prorl_verifiers import TaskError
from prorl_verifiers.code.shapes import eurus_reference

MAX_TEST_BYTES = 256 * 1024
"""Maximum size of one test as JSON in bytes; larger tests cost too much and are left out."""
MAX_ROW_BYTES = 2 * 1024 * 1024
"""Maximum size of all tests of an item as JSON in bytes; further tests are left out."""
MAX_PARTS = 200_000
"""Maximum number of syntax elements in tests written as Python source; parsing takes about 1 kB for each."""
MAX_ASSERTS = 64 * 1024
"""Maximum number of characters of all assert lines of an MBPP item."""
_LARGE = 20_000
_MAX_NAME = 200
_SUFFIX_HEAD = "Write Python code to solve the problem."
_SUFFIX = re.compile(
    r"Write Python code to solve the problem\.\s+Present the code in\s+```python\s+Your code\s+```"
    r"\s*at the end\.(?:\s*You need to think first then write the Python code\.)?\s*\Z"
)
"""PRIME's closing sentences, which are removed because the builder's template replaces them."""


def eurus_code(raw: Raw, where: str, index: int) -> Row:
    """Convert a code row of PRIME-RL/Eurus-2-RL-Data."""
    ability = column(raw, ("ability",), where, "eurus_code")
    prompt = column(raw, ("prompt",), where, "eurus_code")
    reward = column(raw, ("reward_model",), where, "eurus_code")
    if ability != "code":
        raise Unusable("not a code row")
    core = without_wrapper(user_text(prompt))
    truth = decoded(reward, dict, "reward_model").get("ground_truth")
    if is_missing(truth):
        raise Unusable("no tests")
    if not isinstance(truth, str):
        truth = json.dumps(decoded(truth, (dict, list), "ground_truth"), default=repr)
    reference = decoded_tests(truth)
    if len(str(reference.get("entry_point", ""))) > _MAX_NAME:
        raise Unusable("fn_name is not a name", f"over {_MAX_NAME} characters")
    kept, left_out = limited_tests(reference["tests"])
    if not kept:
        raise Unusable("every test is too large", f"over {MAX_TEST_BYTES} bytes or 4300 digits")
    metadata: dict[str, Any] = {"tests": len(kept), "tests_in_source": len(reference["tests"])}
    if left_out:
        metadata["tests_left_out"] = dict(left_out)
    reference = {**reference, "tests": kept}
    if not is_missing(raw.get("data_source")):
        metadata["data_source"] = str(raw["data_source"])
    question, name = core, reference.get("entry_point")
    if core and name is not None and not re.search(rf"\b{re.escape(name)}\b", core):
        question = f"{core}\n\nThe function must be named `{name}`."
        metadata["name_added"] = True
    return finished(
        index, question, "code", reference, metadata=metadata, core=core, consistent=True
    )


def without_wrapper(text: str) -> str:
    """Return a problem without PRIME's closing sentences."""
    start = text.rfind(_SUFFIX_HEAD)
    if start >= 0 and _SUFFIX.match(text, start):
        text = text[:start]
    return text.strip()


def decoded_tests(truth: str) -> dict[str, Any]:
    """Return the code verifier's reference from the ground truth of an Eurus row."""
    try:
        with long_integers():
            row = json.loads(truth) if len(truth) > _LARGE else None
            for text in (row.get("inputs"), row.get("outputs")) if isinstance(row, dict) else ():
                if isinstance(text, str) and (parts_of(text) > MAX_PARTS or slow_name(text)):
                    raise Unusable(
                        "the tests do not decode",
                        f"source of over {MAX_PARTS} syntax elements, or with names that are not plain identifiers",
                    )
            reference = eurus_reference(truth)
    except (TaskError, ValueError, RecursionError, MemoryError) as error:
        raise Unusable("the tests do not decode", str(error)) from error
    if not isinstance(reference.get("entry_point", ""), str):
        raise Unusable("fn_name is not a name", type(reference["entry_point"]).__name__)
    return reference


def parts_of(source: str) -> int:
    """Return an upper bound on the number of syntax elements in Python source."""
    return sum(map(source.count, ",;:([{\n"))


def limited_tests(
    tests: Sequence[Mapping[str, Any]],
) -> tuple[list[Mapping[str, Any]], Counter[str]]:
    """Return the distinct tests within the size limits, and counts of omitted tests by reason. Raises Unusable."""
    distinct = _distinct_tests(tests)
    left_out = Counter({"repeated": len(tests) - len(distinct)})
    kept, size = [], 0
    for test in distinct:
        try:
            length = len(json.dumps(test))
        except ValueError:
            left_out["an integer that not every Python reads"] += 1
            continue
        if length > MAX_TEST_BYTES:
            left_out[f"a test over {MAX_TEST_BYTES // 1024} KiB"] += 1
        elif size + length > MAX_ROW_BYTES:
            left_out[f"tests of a row over {MAX_ROW_BYTES // 2**20} MiB"] += 1
        else:
            kept.append(test)
            size += length
    return kept, +left_out


def _distinct_tests(tests: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    outputs: dict[str, str] = {}
    kept = []
    with long_integers():
        for test in tests:
            if "stdin" in test:
                inputs, expected = str(test["stdin"]), str(test["stdout"])
            else:
                inputs, expected = json.dumps(test["args"]), json.dumps(test["expected"])
            expected = " ".join(expected.split())
            if inputs not in outputs:
                outputs[inputs] = expected
                kept.append(test)
            elif outputs[inputs] != expected:
                raise Unusable(
                    "the tests contradict each other", f"{inputs[:60]!r} has two outputs"
                )
    return kept


def mbpp(raw: Raw, where: str, index: int) -> Row:
    """Convert a row of MBPP; the prompt shows the asserts, because they name the function."""
    text = text_of(column(raw, ("text", "prompt"), where, "mbpp"), "text")
    tests = decoded(column(raw, ("test_list",), where, "mbpp"), list, "test_list")
    if is_missing(tests):
        raise Unusable("no tests")
    joined = "\n".join(map(str, tests))
    if len(joined) > MAX_ASSERTS or slow_name(joined):
        raise Unusable(
            "the tests are too large",
            f"over {MAX_ASSERTS} characters, or with names that are not plain identifiers",
        )
    setup = [raw.get("test_setup_code"), raw.get("test_imports")]
    if not is_missing(setup):
        raise Unusable("the tests need set-up code", str(setup))
    extra = decoded(raw.get("challenge_test_list") or [], list, "challenge_test_list")
    extra = [t for t in extra if len(str(t)) <= MAX_ASSERTS // 10 and not slow_name(str(t))][:100]
    asserts = [str(test).replace("\r\n", "\n").strip() for test in [*tests, *extra]]
    reference = {"tests": [{"assert": line} for line in asserts]}
    listing = "\n".join(str(test).strip() for test in tests)
    code = raw.get("code")
    program = None if is_missing(code) else str(code).replace("\r\n", "\n").strip()
    metadata = {} if is_missing(raw.get("task_id")) else {"task_id": raw["task_id"]}
    return finished(
        index, f"{text}\nYour code should pass these tests:\n\n{listing}", "code", reference,
        gold=None if program is None else f"```python\n{program}\n```", core=text,
        metadata=metadata, independent="" if program is None else OWN_PROGRAM,
    )  # fmt: skip


EURUS_CODE = AdapterSpec(
    "eurus_code",
    eurus_code,
    "code",
    (("prompt",), ("ability",), ("reward_model",)),
    summary="PRIME-RL/Eurus-2-RL-Data, code rows; tests of up to 256 KiB, 2 MiB a row; no gold response",
)
MBPP = AdapterSpec(
    "mbpp",
    mbpp,
    "code",
    (("text", "prompt"), ("test_list",), ("", "code")),
    summary="MBPP and its sanitised half; the asserts are shown; gold: the shipped code",
)

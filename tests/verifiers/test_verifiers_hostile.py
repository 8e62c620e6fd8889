"""Hostile answers through the real pool: V01, V02, V04, V06, V07 and V09 of the attack list.

Each gets a verdict in time, earns nothing, is no ``infra_error``, and leaves a working pool.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from prorl_verifiers import Task, Verdict, VerifierPool, load_task
from prorl_verifiers.math.library import check_size
from prorl_verifiers.math.reading.tokens import TooLarge

LIMIT = 1.0
"""Seconds per try; an item has two tries, each of which may start a worker and import a library."""
PATIENT = 20.0
"""A limit that suffices for every verdict on a busy machine."""
GUARD = 90.0

MATH = {
    "number": load_task("math", {"answer": "4173"}),
    "formula": load_task("math", {"answer": "x+1"}),
    "interval": load_task("math", {"answer": "(-\\infty, 17)"}),
    "set": load_task("math", {"answer": "\\{13, 17\\}"}),
}
STEM = {
    "number": load_task("stem", {"answer": "37.4", "unit": "m/s"}),
    "formula": load_task("stem", {"answer": "\\frac{G M m}{r^2}"}),
    "choice": load_task("stem", {"answer": "B", "choices": ["7", "8 m/s", "9", "10 m/s"]}),
}
EVALUATING: dict[str, dict[str, Any]] = {
    "binary_matrix": {"answer": "0 1\n1 0", "metadata": {"matrix": [[0, 1], [1, 0]]}},
    "spiral_matrix": {"answer": "1 2 3 4", "metadata": {"matrix": [[1, 2], [4, 3]]}},
    "string_insertion": {"answer": "['A', 'B']", "metadata": {"string": "AB"}},
    "n_queens": {
        "answer": "_ Q _ _\n_ _ _ Q\nQ _ _ _\n_ _ Q _",
        "metadata": {
            "puzzle": [["_"] * 4] * 4,
            "solutions": [],
            "valid_answers": ["_ Q _ _\n_ _ _ Q\nQ _ _ _\n_ _ Q _"],
        },
    },
    "countdown": {
        "answer": "3*8",
        "metadata": {"numbers": [3, 8], "target": 24, "expression": "3*8"},
    },
    "puzzle24": {"answer": "1*2*3*4", "metadata": {"numbers": [1, 2, 3, 4]}},
    "simple_integration": {
        "answer": "x**2 + C",
        "metadata": {"integrand": "2*x", "variable": "x", "expected_answer": "x**2 + C"},
    },
    "intermediate_integration": {
        "answer": "x**2 + C",
        "metadata": {"integrand": "2*x", "variable": "x", "expected_answer": "x**2 + C"},
    },
    "polynomial_multiplication": {
        "answer": "x**2 - 1",
        "metadata": {"variables": ["x"], "polys": ["x - 1", "x + 1"], "result": "x**2 - 1"},
    },
}
"""The nine datasets whose upstream scorer evaluates the answer, with one entry of our own each."""


@pytest.fixture(scope="module")
def pool() -> Iterator[VerifierPool]:
    with VerifierPool(2, timeout_seconds=LIMIT) as made:
        made.score([(boxed("x+2"), MATH["formula"])] * 2)  # loads the libraries
        yield made


@pytest.fixture(scope="module")
def patient() -> Iterator[VerifierPool]:
    with VerifierPool(2, timeout_seconds=PATIENT) as made:
        yield made


def boxed(answer: str) -> str:
    return f"So \\boxed{{{answer}}}"


def tagged(answer: str) -> str:
    return f"<answer>{answer}</answer>"


def logic(dataset: str, entry: dict[str, Any], mode: str = "fixed") -> Task:
    made = {"question": "?", **entry}
    made["metadata"] = {"source_dataset": dataset, **made["metadata"]}
    return load_task("logic", {"dataset": dataset, "entry": made, "mode": mode})


def must_pay_nothing(pool: VerifierPool, items: list[tuple[str, Task]]) -> list[Verdict]:
    """Score hostile items and an honest one after them; return the hostile verdicts."""
    started = time.monotonic()
    verdicts = pool.score([*items, (boxed("4173"), MATH["number"])])
    assert time.monotonic() - started < GUARD * len(items)
    for (response, _), verdict in zip(items, verdicts, strict=False):
        assert verdict.status != "infra_error", (response[:80], verdict.reason)
        assert verdict.reward == 0.0, (response[:80], verdict)
        assert verdict.seconds < GUARD
    assert verdicts[-1].reward == 1.0, "the pool does not go on"
    return verdicts[:-1]


# -------------------------------------------------------------------------------- V01: code as answer


def payloads(marker: Path) -> list[str]:
    command = f"touch {marker}"
    return [
        f"__import__('os').system('{command}')",
        f"(lambda: __import__('os').system('{command}'))()",
        f"[x for x in (__import__('os').system('{command}'),)]",
        f"eval(\"__import__('os').system('{command}')\")",
        f"open('{marker}', 'w').write('x')",
        f"().__class__.__base__.__subclasses__() or open('{marker}', 'w')",
        f"exec(\"open('{marker}','w')\")",
        f"sympify(\"__import__('os').system('{command}')\")",
        f"\\text{{__import__('os').system('{command}')}}",
        f"\\pi__import__('os').system('{command}')",
        f"\\begin{{pmatrix}}__import__('os').system('{command}')\\end{{pmatrix}}",
        f"1 if __import__('pathlib').Path('{marker}').touch() else 2",
        f'f\'{{open("{marker}", "w")}}\'',
        f"!!python/object/apply:os.system ['{command}']",
        f"cos\nsystem\n(S'{command}'\ntR.",
        f"$(touch {marker})",
        f"`touch {marker}`",
        f"x.__class__.__init__.__globals__['os'].system('{command}')",
    ]


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """A file that any process could create if the answer were executed."""
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(folder.stat().st_mode | 0o007)
    return tmp_path / "executed"


def test_code_in_a_math_or_stem_answer_is_never_executed(
    patient: VerifierPool, marker: Path
) -> None:
    tasks = [*MATH.values(), *STEM.values()]
    must_pay_nothing(patient, [(boxed(text), task) for text in payloads(marker) for task in tasks])
    assert not marker.exists()


@pytest.mark.parametrize("mode", ["fixed", "reference"])
def test_code_in_an_answer_to_an_evaluating_dataset_is_never_executed(
    patient: VerifierPool, marker: Path, mode: str
) -> None:
    for dataset, entry in EVALUATING.items():
        task = logic(dataset, entry, mode)
        verdicts = patient.score([(tagged(text), task) for text in payloads(marker)])
        for verdict in verdicts:
            assert verdict.status != "infra_error", (dataset, verdict.reason)
            assert verdict.reward is not None and verdict.reward <= 0.05, (dataset, verdict)
        assert not marker.exists(), dataset


def test_the_evaluating_entries_are_sound(patient: VerifierPool) -> None:
    """Otherwise the test above would prove nothing: each entry's gold earns full marks."""
    items = [(tagged(entry["answer"]), logic(name, entry)) for name, entry in EVALUATING.items()]
    verdicts = patient.score(items)
    wrong = {
        name: (v.reward, v.status, v.reason)
        for name, v in zip(EVALUATING, verdicts, strict=True)
        if v.reward != 1.0
    }
    assert wrong == {}


def test_code_in_an_instruction_answer_is_text(patient: VerifierPool, marker: Path) -> None:
    task = load_task(
        "instruction",
        {
            "instruction_id_list": ["detectable_format:json_format", "detectable_format:title"],
            "kwargs": [{}, {}],
        },
    )
    must_pay_nothing(patient, [(text, task) for text in payloads(marker)])
    assert not marker.exists()


# ------------------------------------------------------------------------ V02: answers that cost time

REFUSED = {
    "scripts in a row": "X^1" + "_1" * 60 + "+9X+8",
    "nested scripts": "X" + "_{1" * 30 + "}" * 30,
    "tower in a function": "f(2) < f(10^{10^{10}}) < f(4)",
    "tower in an unknown command": "|" * 20 + "\\qrt{$2^{2^{40}}$}" + "|" * 20,
    "tower in bars": "2^{|2^{40}|}",
    "tower without braces": "\\qrt 2^2^2^5",
    "power of a sum": "|(x+y+z)^{50}",
    "factorial in an unknown command": "\\qrt{(10^9)!} = x",
}
"""Answers that computer algebra would take long over."""
COSTLY = REFUSED | {
    "power tower": "9^{9^{9}}",
    "power of powers": "10^{10^{10}}",
    "binary tower": "2^{2^{40}}",
    "long sum": "\\sum_{k=1}^{10^9} \\frac{1}{k}",
    "long product": "\\prod_{k=1}^{10^9} (1 + \\frac{1}{k^2})",
    "factorial of a factorial": "((10^9)!)!",
    "nested brackets": "(" * 400 + "x" + ")" * 400,
    "nested fractions": "\\frac{1}{" * 300 + "x" + "}" * 300,
    "nested roots": "\\sqrt{" * 300 + "2" + "}" * 300,
    "many digits": "9" * 200_000,
    "many digits in limits": "9" * 45_000,
    "many digits behind the point": "0." + "3" * 45_000,
    "huge exponent": "1e999999999",
    "long sum of terms": "+".join(["x"] * 9000),
    "long product of sums": "".join(f"(x+{n})" for n in range(60)) + "^{50}",
    "long list": ", ".join(str(n) for n in range(8000)),
    "large integral": "\\int_0^1 x^{x^{x^{x}}} \\sin(x^{99})\\,dx",
    "determinant": "\\det\\begin{pmatrix}"
    + "\\\\".join(["&".join("xyzw") for _ in range(40)])
    + "\\end{pmatrix}",
    "root of a tower": "\\sqrt[3]{7^{7^{7}}} - \\log(3^{3^{30}})",
    "binomial": "\\binom{10^{12}}{10^{11}}",
}


@pytest.mark.parametrize("name", COSTLY)
def test_a_costly_answer_costs_its_limit_and_pays_nothing(pool: VerifierPool, name: str) -> None:
    tasks = (MATH["formula"], MATH["number"])
    must_pay_nothing(pool, [(boxed(COSTLY[name]), task) for task in tasks])


@pytest.mark.parametrize("name", REFUSED)
def test_a_costly_text_is_refused_before_computer_algebra(name: str) -> None:
    with pytest.raises(TooLarge):
        check_size(REFUSED[name])


@pytest.mark.parametrize(
    "text",
    ["2^{2^{10}}", "x_1^{2024}", "(x+1)^{300}", "e^{x^{y^z}}", "|x^", "0^{-2}", "(-2)^{1/3}"],
)
def test_ordinary_powers_reach_computer_algebra(text: str) -> None:
    check_size(text)


def test_costly_answers_to_evaluating_datasets_pay_nothing(pool: VerifierPool) -> None:
    costly = (
        "9**9**9**9",
        "(1" * 300 + ")" * 300,
        "9" * 40_000,
        "x**9999999999",
        "[" * 500 + "]" * 500,
    )
    items = [
        (tagged(text), logic(dataset, entry))
        for dataset, entry in EVALUATING.items()
        for text in costly
    ]
    must_pay_nothing(pool, items)


def test_deep_json_pays_nothing(pool: VerifierPool) -> None:
    task = load_task(
        "instruction", {"instruction_id_list": ["detectable_format:title"], "kwargs": [{}]}
    )
    json_task = load_task(
        "instruction", {"instruction_id_list": ["detectable_format:json_format"], "kwargs": [{}]}
    )
    deep = ("[" * 100_000, '{"a":' * 100_000, "[" * 900 + "x" + "]" * 900)
    must_pay_nothing(pool, [(text, one) for text in deep for one in (task, json_task)])


BACKTRACKING = {
    "letters": "a" * 20_000 + "!",
    "spaces": " " * 20_000 + "x",
    "tabs and new lines": "\t\n" * 10_000 + "x",
    "open angles": "<<" * 10_000 + "x",
    "open brackets": "[" * 20_000,
    "stars": "*" * 20_001,
    "stars and spaces": "* " * 10_000 + "\\",
    "stars around text": "*a" * 10_000 + "\n",
    "quotes": "'\"" * 10_000,
    "digits and dots": "1." * 10_000 + "x",
    "digits and commas": "1," * 10_000 + "x",
    "spaced digits": "1 " * 10_000 + "x",
    "signs": "+-" * 10_000 + "x",
    "backslashes": "\\" * 20_001 + "x",
    "open groups": "\\text{" * 4_000,
    "dashes": "-" * 20_000 + "x",
    "hyphenated": "a-" * 10_000 + "!",
    "sentence ends": ".!?" * 6_500 + "x",
    "answer is": "answer is " * 2_000,
    "equations": "x=" * 10_000,
    "powers": "10^" * 6_500,
    "units": "kg*m/s" * 3_000,
    "fences": "```\n" * 5_000,
    "boxes": "\\boxed{" * 2_500,
    "tags": "<answer>" * 2_500,
    "sections": "SECTION " * 2_500,
    "postscripts": "P. " * 6_500,
    "palindromes": "ab" * 10_000,
    "words before blanks": "so it is" + " " * 19_000 + "x",
    "words before digits": "so it is " + "7" * 19_000,
    "words before sums": "so it is " + "1+" * 9_500 + "x",
}


def regex_tasks() -> list[Task]:
    from prorl_verifiers.instruction.audit import example, registered

    names = list(registered())
    instruction = {"instruction_id_list": names, "kwargs": [example(name) for name in names]}
    return [MATH["number"], MATH["formula"], *STEM.values(), load_task("instruction", instruction)]


@pytest.mark.parametrize("name", BACKTRACKING)
def test_no_text_makes_a_pattern_backtrack_for_ever(patient: VerifierPool, name: str) -> None:
    text = BACKTRACKING[name]
    logic_task = logic("coin_flip", {"answer": "0.5", "metadata": {}})
    items = [
        (text if task.verifier == "instruction" else boxed(text), task) for task in regex_tasks()
    ]
    items += [(f"Answer: {text}", STEM["number"]), (tagged(text), logic_task)]
    for (_, task), verdict in zip(items, patient.score(items), strict=True):
        assert verdict.status in ("scored", "unparsable"), (task.verifier, verdict)
        if task.verifier != "instruction":
            assert verdict.reward == 0.0, (task, verdict)


def test_ten_megabytes_are_read_once(patient: VerifierPool) -> None:
    texts = ("a" * 10_000_000, "\\boxed{" * 1_400_000, "<answer>" * 1_200_000, "{" * 10_000_000)
    tasks = (MATH["number"], STEM["number"], logic("puzzle24", EVALUATING["puzzle24"]))
    for verdict in must_pay_nothing(patient, [(text, task) for text in texts for task in tasks]):
        assert verdict.status == "unparsable"


# -------------------------------------------------------------- V04, V06, V07: boxes, options, constants


@pytest.mark.parametrize(
    "response",
    [
        "", "\\boxed{}", "\\boxed{ }", "<think>\\boxed{4173}</think> I think so.",
        "<think>\\boxed{4173}", "</think><think>\\boxed{4173}", "\\boxed{4173",
        "\\boxed{4173} \\boxed{", "\\boxed{4173} \\boxed{0}", "boxed{4173}", "\\boxed{\\text{}}",
        "\\boxed{4172, 4173}", "\\boxed{4172 \\text{ or } 4173}",
    ],
)  # fmt: skip
def test_what_is_no_single_final_answer_pays_nothing(pool: VerifierPool, response: str) -> None:
    must_pay_nothing(pool, [(response, MATH["number"])])


@pytest.mark.parametrize(
    "answer",
    [
        *("A or B", "B or C", "A, B, C, D", "ABCD", "(A) (B)", "A and B", "B/C", "A B", "not B"),
        *("7, 8 m/s, 9, 10 m/s", "8 m/s or 9", "(B) 9", "(A) 8 m/s", "B or 9", "E", "any", "B?C"),
    ],
)
def test_an_answer_that_names_several_options_pays_nothing(pool: VerifierPool, answer: str) -> None:
    must_pay_nothing(pool, [(boxed(answer), STEM["choice"])])


def test_constants_pay_nothing_on_datasets_whose_scorer_took_them(pool: VerifierPool) -> None:
    halting = {"answer": "True", "metadata": {}}
    items = [
        (tagged(text), logic("game_of_life_halting", halting)) for text in ("False", "banana", "{")
    ]
    items += [
        (
            tagged("1*2*3*4"),
            logic("puzzle24", {"answer": "", "metadata": {"numbers": [3, 3, 8, 8]}}),
        ),
        (tagged("0"), logic("coin_flip", {"answer": "0.09375", "metadata": {}})),
        (tagged("1e999"), logic("coin_flip", {"answer": "0.09375", "metadata": {}})),
    ]
    complex_entry = {"answer": "3.0 + 4.0i", "metadata": {"result": [3.0, 4.0]}}
    items += [
        (tagged(text), logic("complex_arithmetic", complex_entry))
        for text in ("nan", "nan+nani", "inf", "(nan)", "NaN - NaNi", "1e999 + 1e999i")
    ]
    must_pay_nothing(pool, items)


# ------------------------------------------------------------------------------ V09: poisoned workers


def test_a_sample_leaves_nothing_behind_for_the_next(patient: VerifierPool) -> None:
    poison = (
        "__import__('prorl_verifiers.math.scorer').math_scorer.score_math = lambda *a: 1",
        "[setattr(m, 'same_answer', lambda *a: (True, '')) for m in __import__('sys').modules.values()]",
    )
    right, wrong = (boxed("4173"), MATH["number"]), (boxed("4174"), MATH["number"])
    formula = logic("polynomial_multiplication", EVALUATING["polynomial_multiplication"])
    for text in poison:
        items = [(boxed(text), MATH["formula"]), (tagged(text), formula), wrong, right] * 3
        assert [verdict.reward for verdict in patient.score(items)] == [0.0, 0.0, 0.0, 1.0] * 3

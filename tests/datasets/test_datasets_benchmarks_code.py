from __future__ import annotations

import base64
import pickle
import zlib
from pathlib import Path
from typing import Any

import pytest

from prorl_datasets.benchmarks import benchmark_questions, load_benchmark, read_benchmark
from prorl_datasets.benchmarks.asserts import UnreadableTests, as_tests
from prorl_datasets.benchmarks.code_rows import PackedError, pickled_text, unpack_text
from prorl_datasets.types import DatasetError, Sample
from prorl_verifiers import VerifierPool

ROWS = Path(__file__).parents[1] / "data" / "benchmark_rows"


@pytest.fixture
def mirror(tmp_path: Path) -> Path:
    for name, file in (("humaneval_plus", "humaneval_plus"), ("livecodebench", "livecodebench")):
        (tmp_path / f"{name}.jsonl").symlink_to(ROWS / f"{file}.jsonl")
    for source in ("apps", "taco", "codecontests", "codeforces"):
        (tmp_path / f"prime_{source}.jsonl").symlink_to(ROWS / "eurus_validation.jsonl")
    return tmp_path


def _humaneval(mirror: Path) -> dict[str, Sample]:
    return {
        s.task.reference["entry_point"]: s for s in load_benchmark("humaneval_plus", mirror=mirror)
    }


def test_humaneval_plus_rows_become_the_form_that_compares_as_upstream_does(mirror: Path) -> None:
    forms = {name: s.metadata["form"] for name, s in _humaneval(mirror).items()}
    assert forms == {
        "double_all": "assert",
        "third": "call",
        "swap": "assert",
        "rows_of": "check",
        "find_root": "check",
        "root": "check",
    }


def test_humaneval_plus_golds_pass_without_numpy(mirror: Path, pool: VerifierPool) -> None:
    samples = list(_humaneval(mirror).values())
    assert "numpy" not in "".join(s.task.reference_json() for s in samples)
    verdicts = pool.score([(s.metadata["gold_response"], s.task) for s in samples])
    assert [v.reason for v in verdicts if v.reward != 1.0] == []


@pytest.mark.parametrize(
    ("name", "body", "reward"),
    [
        ("double_all", "return [2.0 * n for n in numbers]", 1.0),
        ("double_all", "return tuple(2 * n for n in numbers)", 0.0),
        ("third", "return x / 3 + 1e-9", 1.0),
        ("third", "return x / 3 + 1e-4", 0.0),
        ("swap", "return [pair[1], pair[0]]", 0.0),
        ("rows_of", "return [str(i) for i in range(n)]", 0.0),
        ("find_root", "return -xs[0] / xs[1] - 1", 0.0),
        ("find_root", "return 100.0", 0.0),
        ("root", "return x ** 0.5 + 0.005", 1.0),
        ("root", "return x ** 0.5 + 0.05", 0.0),
    ],
)
def test_humaneval_plus_judges_as_upstream_does(
    mirror: Path, pool: VerifierPool, name: str, body: str, reward: float
) -> None:
    sample = _humaneval(mirror)[name]
    head = str(sample.metadata["question"]).rsplit('"""', 2)[0].rstrip()
    response = f"```python\n{head}\n    {body}\n```"
    assert pool.score([(response, sample.task)])[0].reward == reward


def test_numpy_beyond_the_usual_helpers_is_unreadable() -> None:
    source = "import numpy as np\ndef check(candidate):\n    assert np.sum(candidate(1)) == 3\n"
    with pytest.raises(UnreadableTests, match="numpy"):
        as_tests(source, "f")


def test_test_source_is_read_and_never_run(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    source = f"open({str(marker)!r}, 'w')\ndef check(candidate):\n    assert candidate(1) == 2\n"
    assert as_tests(source, "f") == [{"assert": "assert f(1) == 2"}]
    assert not marker.exists()


def test_plain_humaneval_asserts_beyond_a_literal_make_one_check() -> None:
    source = "def check(candidate):\n    assert abs(candidate(1.0) - 2) < 1e-6\n    assert True\n"
    (test,) = as_tests(source, "f")
    assert "candidate(1.0)" in test["check"]


def test_a_check_gets_the_helpers_that_the_prompt_defines() -> None:
    head = 'def enc(s):\n    return s[::-1]\n\ndef dec(s):\n    """Undo enc."""\n'
    source = (
        "def check(candidate):\n    for s in 'ab', 'c':\n        assert candidate(enc(s)) == s\n"
    )
    (test,) = as_tests(source, "dec", head)
    assert "def enc" in test["check"] and "def dec" not in test["check"]


def test_eurus_rows_are_split_by_source_and_lose_system_turn_and_wrapper(mirror: Path) -> None:
    apps = load_benchmark("prime_apps", mirror=mirror)
    assert len(apps) == 2 and len({s.id for s in apps}) == 2
    assert apps[0].prompt[0]["role"] == "user" and len(apps[0].prompt) == 1
    assert apps[0].metadata["question"] == "Read a number and print it squared."
    assert apps[1].task.reference["tests"] == [{"stdin": "a\nb", "stdout": "a\nb"}]
    assert {s.gold_check for s in apps} == {"self-consistent"}


def test_eurus_function_rows_take_arguments_by_place_and_wrapped_outputs(
    mirror: Path, pool: VerifierPool
) -> None:
    add, flat = load_benchmark("prime_taco", mirror=mirror)
    pairs = [
        ("```python\ndef add_up(a, b):\n    return a + b\n```", add.task),
        ("```python\ndef add_up(a, b):\n    return a + b if a < 3 else 0\n```", add.task),
        ("```python\ndef flat(xs):\n    return [x for x in xs if x]\n```", flat.task),
    ]
    assert [v.reward for v in pool.score(pairs)] == [1.0, 0.0, 1.0]


def test_the_other_two_eurus_sources_have_their_row(mirror: Path) -> None:
    for name in ("prime_codecontests", "prime_codeforces"):
        assert len(load_benchmark(name, mirror=mirror)) == 1


def test_too_many_unusable_rows_are_an_error_with_the_first_reason(tmp_path: Path) -> None:
    row = (ROWS / "eurus_validation.jsonl").read_text().splitlines()[1]
    bad = row.replace('\\"outputs\\": [\\"9\\\\n\\", ', '\\"outputs\\": [')
    assert bad != row
    (tmp_path / "prime_apps.jsonl").write_text(bad + "\n")
    with pytest.raises(DatasetError, match="1 of 1 rows cannot be used, more than unusable_max"):
        load_benchmark("prime_apps", mirror=tmp_path)


def test_a_limit_that_ends_soon_after_an_unusable_row_does_not_make_the_benchmark_unusable(
    tmp_path: Path,
) -> None:
    row = (ROWS / "eurus_validation.jsonl").read_text().splitlines()[1]
    bad = row.replace('\\"outputs\\": [\\"9\\\\n\\", ', '\\"outputs\\": [')
    assert bad != row
    good = [row.replace("Read a number", f"Read a number (task {n})") for n in range(3)]
    (tmp_path / "prime_apps.jsonl").write_text("\n".join([bad, *good]) + "\n")
    loaded = read_benchmark("prime_apps", mirror=tmp_path, limit=2)
    assert len(loaded.samples) == 2 and len(loaded.unusable) == 1
    with pytest.raises(DatasetError, match="1 of 4 rows cannot be used, more than unusable_max"):
        read_benchmark("prime_apps", mirror=tmp_path, limit=4)


def test_livecodebench_windows_include_both_days(mirror: Path) -> None:
    def ids(window: tuple[str, str] | None) -> list[str]:
        found = load_benchmark("livecodebench", mirror=mirror, window=window)
        return [s.id.removeprefix("livecodebench-") for s in found]

    assert ids(None) == ["atcoder-p2", "leetcode-p3"]
    assert ids(("2024-07-31", "2024-07-31")) == ["atcoder-p1"]
    assert len(ids(("2020-01-01", "2030-01-01"))) == 4


def test_a_window_that_is_none_is_refused(mirror: Path) -> None:
    with pytest.raises(DatasetError, match="YYYY-MM-DD"):
        load_benchmark("livecodebench", mirror=mirror, window=("x", "y"))
    with pytest.raises(DatasetError, match="before it begins"):
        load_benchmark("livecodebench", mirror=mirror, window=("2025-01-01", "2024-01-01"))
    with pytest.raises(DatasetError, match="has no dates"):
        load_benchmark("humaneval_plus", mirror=mirror, window=("2024-01-01", "2025-01-01"))


def test_livecodebench_as_tests_all_forms_score_a_right_program(
    mirror: Path, pool: VerifierPool
) -> None:
    every = ("2020-01-01", "2030-01-01")
    one, two, three, _ = load_benchmark("livecodebench", mirror=mirror, window=every)
    assert len(two.task.reference["tests"]) == 3
    cat = "```python\nimport sys\nsys.stdout.write(sys.stdin.read())\n```"
    both = "```python\nclass Solution:\n    def both(self, a, b):\n        return [a] + b\n```"
    verdicts = pool.score([(cat, one.task), (cat, two.task), (both, three.task), (cat, three.task)])
    assert [v.reward for v in verdicts] == [1.0, 1.0, 1.0, 0.0]
    assert "class Solution" in three.prompt[0]["content"]
    assert "standard input" in one.prompt[0]["content"]


def test_a_row_with_a_dangerous_pickle_is_left_out_with_its_reason(tmp_path: Path) -> None:
    import base64
    import json
    import pickle
    import zlib

    rows = [json.loads(x) for x in (ROWS / "livecodebench.jsonl").read_text().splitlines()]
    evil = base64.b64encode(zlib.compress(pickle.dumps(print))).decode()
    rows[1]["private_test_cases"] = evil
    many = [{**rows[2], "question_id": f"q{i}"} for i in range(60)]
    text = "".join(json.dumps(r) + "\n" for r in [rows[1], *many])
    (tmp_path / "livecodebench.jsonl").write_text(text)
    loaded = read_benchmark("livecodebench", mirror=tmp_path)
    assert len(loaded.samples) == 60
    assert [u.reason for u in loaded.unusable] == [
        "tests: pickle opcode STACK_GLOBAL is not allowed"
    ]


def test_questions_for_decontamination_are_of_every_date_and_unpack_nothing(mirror: Path) -> None:
    found = list(benchmark_questions("livecodebench", mirror=mirror))
    assert len(found) == 4
    assert all(text.startswith("Made-up problem") for _, text in found)
    assert found[1][0] == "livecodebench-atcoder-p2"
    asked = list(benchmark_questions("prime_apps", mirror=mirror))
    samples = load_benchmark("prime_apps", mirror=mirror)
    assert asked == [(s.id, s.metadata["question"]) for s in samples]


def _pack(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data)).decode()


class _Evil:
    """An object whose unpickling creates the marker."""

    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.marker,))


@pytest.mark.parametrize("protocol", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("text", ["[]", "ü" * 300, "x" * 70_000, ""])
def test_one_text_is_read_in_every_binary_protocol(protocol: int, text: str) -> None:
    assert unpack_text(_pack(pickle.dumps(text, protocol=protocol))) == text


@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_a_pickle_that_would_run_code_is_refused_and_runs_nothing(
    protocol: int, tmp_path: Path
) -> None:
    marker = tmp_path / "marker"
    data = pickle.dumps(_Evil(marker), protocol=protocol)
    with pytest.raises(PackedError, match="is not allowed"):
        unpack_text(_pack(data))
    assert not marker.exists()
    pickle.loads(data)
    assert marker.exists()  # the payload works if it is unpickled


def test_code_hidden_behind_a_harmless_text_is_refused(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    for value in (["[]", _Evil(marker)], {"input_output": _Evil(marker)}):
        with pytest.raises(PackedError, match="is not allowed"):
            pickled_text(pickle.dumps(value))
    evil = pickle.dumps(_Evil(marker))
    with pytest.raises(PackedError, match="followed by other bytes"):
        pickled_text(pickle.dumps("[]") + evil)
    assert not marker.exists()


@pytest.mark.parametrize(
    "value", [["a"], 1, b"bytes", None, ("a", "b"), {"other": "a"}, {"a": "b", "c": "d"}]
)
def test_anything_but_one_text_is_refused(value: Any) -> None:
    with pytest.raises(PackedError):
        pickled_text(pickle.dumps(value))


def test_sandboxfusions_pair_is_read() -> None:
    assert pickled_text(pickle.dumps({"input_output": "{}"})) == "{}"


def test_a_stream_that_unpacks_to_more_than_the_limit_is_refused() -> None:
    bomb = _pack(b"0" * 10_000_000)
    assert len(bomb) < 20_000
    with pytest.raises(PackedError, match="more than 1,000,000 bytes"):
        unpack_text(bomb, limit=1_000_000)


@pytest.mark.parametrize(
    ("packed", "message"),
    [
        ("%%%", "not base64"),
        (base64.b64encode(b"plain").decode(), "not a zlib stream"),
        (base64.b64encode(zlib.compress(b"x" * 100)[:-6]).decode(), "cut off"),
        (base64.b64encode(zlib.compress(b"x") + b"more").decode(), "followed by other bytes"),
        (_pack(pickle.dumps("abc" * 100)[:-20]), "not a valid pickle"),
        (_pack(b""), "not a valid pickle"),
    ],
)
def test_damaged_packing_is_refused_with_its_reason(packed: str, message: str) -> None:
    with pytest.raises(PackedError, match=message):
        unpack_text(packed)

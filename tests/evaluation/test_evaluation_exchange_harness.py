"""Tasks of lm-evaluation-harness: read without running anything, as suites of ours."""

from __future__ import annotations

import json
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from prorl_cli.main import build_app
from prorl_datasets import load
from prorl_evaluation import EvaluationError
from prorl_evaluation.exchange.golds import gold_notes
from prorl_evaluation.exchange.harness_problems import harness_suite
from prorl_evaluation.exchange.harness_task import RefusedTask, read_harness_task
from prorl_evaluation.exchange.suite_files import ForeignProblem, write_suite
from prorl_evaluation.exchange.templates import fill
from prorl_evaluation.suites import load_suite
from prorl_verifiers import Task
from prorl_verifiers.exact_match.spec import SPEC, score

TASK = """
task: Sums-One
dataset_path: someone/sums
test_split: test
fewshot_split: train
doc_to_text: "Q: {{question}}\\nA:"
doc_to_target: "{{answer.split('= ')[-1]}}"
num_fewshot: 2
fewshot_config: {sampler: first_n}
metric_list:
  - {metric: exact_match, aggregation: mean, higher_is_better: true, ignore_case: true, regexes_to_ignore: [","]}
generation_kwargs: {until: ["Q:"], do_sample: false, max_gen_toks: 99}
filter_list:
  - name: strict
    filter: [{function: regex, regex_pattern: "so (\\\\S+)"}, {function: take_first}]
  - name: loose
    filter: [{function: regex, regex_pattern: "(-?\\\\d+)", group_select: -1}, {function: take_first}]
metadata: {version: 3.0}
"""
ROWS = [{"question": f"{i} + {i}?", "answer": f"{i} + {i} = {2 * i}"} for i in range(6)]


def write(folder: Path, text: str = TASK, **changed: Any) -> Path:
    """Write a task, some of its keys changed (None: taken out)."""
    row = {**yaml.safe_load(text), **changed}
    file = folder / "task.yaml"
    file.write_text(yaml.safe_dump({k: v for k, v in row.items() if v is not None}))
    return file


@pytest.fixture
def data(tmp_path: Path) -> dict[str, Path]:
    """Rows of two splits."""
    files = {}
    for split, rows in (("test", ROWS[:4]), ("train", ROWS[4:])):
        files[split] = tmp_path / f"{split}.jsonl"
        files[split].write_text("".join(json.dumps(r) + "\n" for r in rows))
    return files


def text_of(problem: ForeignProblem) -> str:
    return problem.prompt[-1]["content"]


def test_a_task_becomes_prompts_with_examples_and_a_verifier(
    tmp_path: Path, data: dict[str, Path]
) -> None:
    found = harness_suite(read_harness_task(write(tmp_path)), data)
    assert text_of(found.problems[1]) == ("Q: 4 + 4?\nA: 8\n\nQ: 5 + 5?\nA: 10\n\nQ: 1 + 1?\nA:")
    assert found.sampling == {"n": 1, "temperature": 0.0, "top_p": 1.0, "max_tokens": 99}
    reference = found.problems[1].task.reference
    assert reference["answer"] == "2" and reference["filter_name"] == "strict"
    assert score("so 2", reference).reward == 1.0
    assert score("it is 2", reference).status == "unparsable"
    assert score("well Q: so 2", reference).reward == 0.0  # cut at the stop text
    loose = harness_suite(read_harness_task(write(tmp_path)), data, pipeline="loose")
    assert score("1 and 2", loose.problems[1].task.reference).reward == 1.0
    assert "its other filters: loose (--filter)" in found.notes


def test_examples_are_drawn_as_the_harness_draws_them(
    tmp_path: Path, data: dict[str, Path]
) -> None:
    file = write(tmp_path, fewshot_config=None, fewshot_split="test", num_fewshot=1)
    found = harness_suite(read_harness_task(file), data)
    random, rows = Random(1234), ROWS[:4]
    for row, problem in zip(rows, found.problems, strict=True):
        drawn = next(r for r in random.sample(rows, 2) if r != row)
        assert text_of(problem).startswith(f"Q: {drawn['question']}\nA: ")
        assert text_of(problem).count("Q: ") == 2


@pytest.mark.parametrize(
    ("said", "beside"),
    [
        ({"test_split": "test", "fewshot_split": "test"}, True),
        ({"test_split": "test", "fewshot_split": "train"}, False),
        ({"validation_split": "test", "training_split": "train"}, True),  # neither of two is named
        ({"validation_split": "test", "fewshot_split": "test"}, False),
    ],
)
def test_the_row_itself_is_left_out_where_the_harness_leaves_it_out(
    tmp_path: Path, said: dict[str, str], beside: bool
) -> None:
    rows = [{"question": f"{i}?", "answer": str(i)} for i in range(20)]
    data = {"test": tmp_path / "test.jsonl", "train": tmp_path / "train.jsonl"}
    data["test"].write_text("".join(json.dumps(r) + "\n" for r in rows[:10]))
    data["train"].write_text("".join(json.dumps(r) + "\n" for r in rows[10:]))
    changed: dict[str, Any] = {"test_split": None, "fewshot_split": None, "fewshot_config": None}
    changed |= said
    found = harness_suite(read_harness_task(write(tmp_path, num_fewshot=1, **changed)), data)
    random, pool = Random(1234), rows[:10] if said.get("fewshot_split") == "test" else rows[10:]
    for row, problem in zip(rows, found.problems, strict=False):
        drawn = random.sample(pool, 2 if beside else 1)
        shown = next(r for r in drawn if not beside or r != row)
        assert text_of(problem).startswith(f"Q: {shown['question']}\nA: ")


def test_first_examples_need_no_spare_and_one_without_an_answer_has_no_delimiters(
    tmp_path: Path, data: dict[str, Path]
) -> None:
    samples = [{"question": "a?", "answer": ""}, {"question": "b?", "answer": "1"}]
    changed: dict[str, Any] = {"test_split": None, "validation_split": "test"}
    changed |= {"fewshot_split": None, "fewshot_config": {"sampler": "first_n", "samples": samples}}
    found = harness_suite(read_harness_task(write(tmp_path, **changed)), data)
    assert text_of(found.problems[0]) == "Q: a?\nA:Q: b?\nA: 1\n\nQ: 0 + 0?\nA:"


def test_fewshot_indices_are_not_applied_as_there_and_it_is_said(
    tmp_path: Path, data: dict[str, Path]
) -> None:
    task = read_harness_task(
        write(tmp_path, fewshot_config={"sampler": "first_n", "fewshot_indices": [1, 0]})
    )
    assert text_of(harness_suite(task, data).problems[0]).startswith("Q: 4 + 4?")
    assert "fewshot_indices is not applied, as in lm-evaluation-harness" in task.notes


def test_the_first_row_decides_whether_a_list_holds_several_answers(tmp_path: Path) -> None:
    def answers(*golds: str) -> list[Any]:
        rows = tmp_path / "test.jsonl"
        rows.write_text("".join(json.dumps({"question": "?", "answer": g}) + "\n" for g in golds))
        task = read_harness_task(write(tmp_path, num_fewshot=None, doc_to_target="{{answer}}"))
        return [p.task.reference["answer"] for p in harness_suite(task, {"test": rows}).problems]

    assert answers("['a', 'b']", "['c', 1]", "d") == [["a", "b"], ["c", "1"], "d"]
    assert answers("d", "['a','b']", "[1,2]", "[]") == ["d", "['a', 'b']", "[1, 2]", "[]"]


def test_a_column_that_the_first_row_lacks_and_an_empty_cell_of_a_csv_file(tmp_path: Path) -> None:
    rows = tmp_path / "test.jsonl"
    rows.write_text('{"question": "a", "say": null}\n{"question": "b", "answer": "2"}\n')
    task = read_harness_task(
        write(tmp_path, num_fewshot=None, doc_to_target="1", description="say")
    )
    first = harness_suite(task, {"test": rows}, limit=1).problems[0]
    assert [message["role"] for message in first.prompt] == ["user"]
    task = read_harness_task(write(tmp_path, num_fewshot=None, doc_to_target="answer"))
    with pytest.raises(EvaluationError, match="row 0: doc_to_target gives no answer"):
        harness_suite(task, {"test": rows})  # not the word "answer" as everyone's gold
    rows = tmp_path / "test.csv"
    rows.write_text("question,answer,number\na,,7\nb,2,8\n")
    target = "{% if answer is not none %}{{answer}}{% else %}{{number}}{% endif %}"
    task = read_harness_task(write(tmp_path, num_fewshot=None, doc_to_target=target))
    found = harness_suite(task, {"test": rows})
    assert [p.task.reference["answer"] for p in found.problems] == ["7", "2"]


def test_exact_match_is_the_metric_of_a_task_that_lists_none_and_the_last_of_two_counts(
    tmp_path: Path,
) -> None:
    assert read_harness_task(write(tmp_path, metric_list=None)).comparing == {}
    two = [{"metric": "exact_match", "ignore_case": True}, {"metric": "exact_match"}]
    assert read_harness_task(write(tmp_path, metric_list=two)).comparing == {}


def test_a_text_where_true_belongs_counts_as_true_as_there_and_it_is_said(tmp_path: Path) -> None:
    metric = {"metric": "exact_match", "ignore_punctuation": 'true - "."'}
    task = read_harness_task(write(tmp_path, metric_list=[metric]))
    assert task.comparing == {"ignore_punctuation": True}
    assert any("which counts as true, as there" in note for note in task.notes)


def test_choices_lists_and_descriptions_are_read(tmp_path: Path, data: dict[str, Path]) -> None:
    file = write(
        tmp_path,
        num_fewshot=None,
        doc_to_text="question",
        doc_to_choice=["no", "yes"],
        doc_to_target="{{1 if question.startswith('2') else 0}}",
        description="Add {{question[0]}}.",
    )
    found = harness_suite(read_harness_task(file), data)
    assert [p.task.reference["answer"] for p in found.problems] == ["no", "no", "yes", "no"]
    assert found.problems[2].prompt[0] == {"role": "system", "content": "Add 2."}
    file = write(tmp_path, num_fewshot=None, doc_to_target="{{[question, 'b']}}")
    assert harness_suite(read_harness_task(file), data).problems[0].task.reference["answer"] == [
        "0 + 0?",
        "b",
    ]


def test_a_true_label_is_the_second_choice(tmp_path: Path) -> None:
    rows = tmp_path / "test.jsonl"
    rows.write_text('{"question": "a", "label": true}\n{"question": "b", "label": false}\n')
    changed: dict[str, Any] = {"num_fewshot": None, "doc_to_choice": ["no", "yes"]}
    changed["doc_to_target"] = "label"
    found = harness_suite(read_harness_task(write(tmp_path, **changed)), {"test": rows})
    assert [p.task.reference["answer"] for p in found.problems] == ["yes", "no"]


def test_included_files_give_what_a_task_does_not_say(
    tmp_path: Path, data: dict[str, Path]
) -> None:
    (tmp_path / "_base").write_text(TASK)
    task = tmp_path / "own.yaml"
    task.write_text("include: _base\ntask: own\nnum_fewshot: 0\n")
    found = harness_suite(read_harness_task(task), data)
    assert (found.name, text_of(found.problems[0])) == ("own", "Q: 0 + 0?\nA:")
    (tmp_path / "_base").write_text("include: own.yaml\n")
    with pytest.raises(EvaluationError, match="circle"):
        read_harness_task(task)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"output_type": "multiple_choice"}, "multiple_choice compares log-likelihoods"),
        ({"metric_list": [{"metric": "bleu"}]}, r"not exact_match \(bleu\)"),
        ({"metric_list": []}, r"not exact_match \(none is named\)"),
        ({"gen_prefix": "The answer"}, "begins the model's answer"),
        ({"use_prompt": "promptsource:GPT"}, "promptsource"),
        ({"generation_kwargs": {"num_beams": 4}}, "not understood: num_beams"),
        (
            {
                "filter_list": [
                    {"name": "c", "filter": [{"function": "take_first"}, {"function": "lowercase"}]}
                ]
            },
            "filter c has functions after take_first, which there read single characters",
        ),
        (
            {"filter_list": [{"name": "v", "filter": [{"function": "majority_vote"}]}]},
            "filter v takes majority_vote",
        ),
        (
            {
                "filter_list": [
                    {"name": "r", "filter": [{"function": "regex", "regex_pattern": "("}]}
                ]
            },
            "no regular expression",
        ),
        ({"task": ["a", "b"]}, "a group"),
        ({"test_split": None}, "neither test_split nor validation_split"),
    ],
)
def test_what_is_not_programmatic_is_refused_with_the_reason(
    tmp_path: Path, changed: dict[str, Any], reason: str
) -> None:
    with pytest.raises(RefusedTask, match=reason):
        read_harness_task(write(tmp_path, **changed))


def test_python_is_named_and_never_imported(tmp_path: Path) -> None:
    (tmp_path / "utils.py").write_text("open('ran', 'w')")
    file = tmp_path / "task.yaml"
    file.write_text(TASK + "process_docs: !function utils.process\nrepeats: 1\n")
    with pytest.raises(RefusedTask, match=r"process_docs is Python \(!function utils.process\)"):
        read_harness_task(file)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("beside", "note"),
    [
        (
            "metric_list: [{metric: exact_match}, {metric: f1, aggregation: !function utils.f1}]",
            "left out: metrics f1",
        ),
        (
            "metric_list: [{metric: !function utils.m}, {metric: exact_match}]",
            "left out: metrics Python (!function utils.m)",
        ),
        (
            "filter_list: [{name: own, filter: [{function: !function utils.Own}]}, {name: r, filter: []}]",
            "left out: filter own.function is Python (!function utils.Own), which is never run",
        ),
    ],
)
def test_python_beside_what_is_taken_is_left_out_and_said(
    tmp_path: Path, beside: str, note: str
) -> None:
    plain = yaml.safe_load(TASK)
    file = tmp_path / "task.yaml"
    rest = {key: value for key, value in plain.items() if key != beside.partition(":")[0]}
    file.write_text(yaml.safe_dump(rest) + beside + "\n")
    assert note in read_harness_task(file).notes


@pytest.mark.parametrize(
    "line",
    [
        "metric_list: [{metric: exact_match, aggregation: !function utils.f1}]",
        "metric_list: [{metric: !function utils.m}]",
        "metric_list: [{metric: exact_match}, {metric: !function utils.exact_match}]",
        "filter_list: [{name: own, filter: [{function: regex, regex_pattern: !function utils.p}]}]",
    ],
)
def test_python_in_the_only_metric_or_filter_is_refused(tmp_path: Path, line: str) -> None:
    plain = yaml.safe_load(TASK)
    file = tmp_path / "task.yaml"
    rest = {key: value for key, value in plain.items() if key != line.partition(":")[0]}
    file.write_text(yaml.safe_dump(rest) + line + "\n")
    with pytest.raises(RefusedTask, match=r"is Python|not exact_match"):
        read_harness_task(file)


def test_other_tags_and_aliases_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "task.yaml"
    file.write_text("task: !!python/object/apply:os.system [echo]\n")
    with pytest.raises(EvaluationError, match="could not determine a constructor"):
        read_harness_task(file)
    file.write_text("a: &a [x, x]\nb: [*a, *a]\n")
    with pytest.raises(EvaluationError, match="aliases"):
        read_harness_task(file)


@pytest.mark.parametrize(
    "template",
    [
        "{% for i in range(90000) %}{% for j in range(90000) %}{% endfor %}{% endfor %}",
        "{{ 'a' * 10000000000 }}",
        "{{ ''.__class__.__mro__ }}",
        "{{ 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab' | regex_replace('(a+)+$', '') }}",
    ],
)
def test_hostile_templates_end_with_one_line(template: str) -> None:
    started = time.monotonic()
    with pytest.raises(EvaluationError):
        fill([(template, {})], seconds=1.0)
    assert time.monotonic() - started < 60


def test_templates_have_what_the_harness_gives_them() -> None:
    row = {"a": "x-y", "n": 3}
    assert fill([("{{a | regex_replace('-', '+')}}\n", row), ("{{n + 1}}", row)]) == ["x+y\n", "4"]
    assert fill([("{{a | regex_replace(pattern='-', repl='+')}}", row)]) == ["x+y"]
    with pytest.raises(EvaluationError, match=r"of row 0: UndefinedError: 'b' is undefined"):
        fill([("{{b}}", row)])
    with pytest.raises(EvaluationError, match="TemplateSyntaxError"):
        fill([("{{a", row)])


def test_the_command_writes_a_suite_that_loads(tmp_path: Path, data: dict[str, Path]) -> None:
    file, out = write(tmp_path), tmp_path / "out"
    splits = [w for split, path in data.items() for w in ("--data", f"{split}={path}")]
    done = CliRunner().invoke(
        build_app(), ["eval", "import", str(file), "--out", str(out), *splits, "--domain", "math"]
    )
    assert done.exit_code == 0, done.output
    suite = load_suite(done.stdout.strip())
    assert suite.name == "sums_one" and suite.sampling.max_tokens == 99
    samples = load(out / "sums_one.parquet", "test")
    assert [s.id for s in samples] == [f"sums_one-{i}" for i in range(4)]
    assert {s.domain for s in samples} == {"math"}
    assert samples[0].task.verifier == "exact_match"


def test_a_filter_that_was_left_out_is_named_with_the_reason(
    tmp_path: Path, data: dict[str, Path]
) -> None:
    filters = [
        {"name": n, "filter": [{"function": f}]} for n, f in (("a", "b"), ("c", "lowercase"))
    ]
    task = read_harness_task(write(tmp_path, filter_list=filters))
    with pytest.raises(EvaluationError, match=r"it has c; left out: filter a takes b"):
        harness_suite(task, data, pipeline="a")


def test_a_missing_split_names_the_option_that_gives_it(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match=r"--data test=FILE"):
        harness_suite(read_harness_task(write(tmp_path)), {})


def test_own_data_files_are_found_beside_the_task(tmp_path: Path, data: dict[str, Path]) -> None:
    files = {split: path.name for split, path in data.items()}
    task = read_harness_task(write(tmp_path, dataset_kwargs={"data_files": files}))
    found = harness_suite(task, {}, limit=2)
    assert len(found.problems) == 2
    assert write_suite(found, tmp_path / "o").name == "sums_one.yaml"
    assert {s.domain for s in load(tmp_path / "o" / "sums_one.parquet", "test")} == {"exact_match"}
    with pytest.raises(EvaluationError, match="did you mean 'math'"):
        write_suite(found, tmp_path / "other", domain="maths")
    assert not (tmp_path / "other").exists()


def refused(folder: Path, data: dict[str, Path], **changed: Any) -> str:
    """Return what is said of the task with these keys changed."""
    with pytest.raises(EvaluationError) as error:
        harness_suite(read_harness_task(write(folder, **changed)), data)
    return str(error.value)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"repeats": "abc"}, "repeats is abc"),
        ({"repeats": float("inf")}, "repeats is inf"),
        ({"repeats": [1]}, "repeats is [1]"),
        ({"generation_kwargs": {"max_gen_toks": float("inf")}}, "max_gen_toks is inf"),
        ({"generation_kwargs": {"temperature": float("nan")}}, "temperature is nan"),
        ({"generation_kwargs": {"top_p": 7}}, "top_p is 7"),
        ({"filter_list": [{"name": "f", "filter": [{"function": ["x"]}]}]}, "filter f takes"),
        ({"doc_to_target": "²", "doc_to_choice": ["a"]}, "no place among the choices"),
        ({"doc_to_target": "{{'[0x' + 'F' * 6000 + ']'}}"}, "over 4,300 digits"),
        ({"doc_to_target": "[1, 2]"}, "a list without a text"),
        ({"dataset_kwargs": {"data_files": {"test": "../../etc/x.json"}}}, "outside its folder"),
    ],
)
def test_a_value_that_makes_no_sense_is_a_reason(
    tmp_path: Path, data: dict[str, Path], changed: dict[str, Any], said: str
) -> None:
    assert said in refused(tmp_path, data, **changed)


@pytest.mark.parametrize(
    "number", ["1" + ":1" * 10_000, "0x" + "F" * 9000, "1:1" + ":1" * 999 + ".5"]
)
def test_numbers_that_take_hours_to_read_are_refused(tmp_path: Path, number: str) -> None:
    file = tmp_path / "task.yaml"
    file.write_text(f"{TASK}\noutput_type: {number}\n")
    with pytest.raises(EvaluationError, match="longer than 40 characters"):
        read_harness_task(file)


def test_includes_that_branch_at_every_depth_and_devices_end_at_once(tmp_path: Path) -> None:
    for depth in range(10):
        (tmp_path / f"{depth}.yaml").write_text(f"include: {[f'{depth + 1}.yaml'] * 10}\n")
    (tmp_path / "10.yaml").write_text("a: 1\n")
    with pytest.raises(EvaluationError, match="more than 64 files"):
        read_harness_task(tmp_path / "0.yaml")
    (tmp_path / "0.yaml").write_text("include: /dev/zero\n")
    with pytest.raises(EvaluationError, match="no file"):
        read_harness_task(tmp_path / "0.yaml")


def test_dates_are_written_as_templates_would_and_half_characters_are_refused(
    tmp_path: Path,
) -> None:
    import datetime

    assert fill([("{{d}}", {"d": datetime.date(2024, 2, 1)})]) == ["2024-02-01"]
    rows = tmp_path / "test.jsonl"
    rows.write_text('{"question": "\\ud800", "answer": "= 1"}\n')
    found = harness_suite(read_harness_task(write(tmp_path, num_fewshot=0)), {"test": rows})
    with pytest.raises(EvaluationError, match="row 0: it holds half a character"):
        write_suite(found, tmp_path / "out")


def test_an_expression_that_does_not_end_on_a_gold_answer_is_said_and_holds_up_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("prorl_evaluation.exchange.golds.SECONDS", 0.3)
    hostile = {"filters": [{"function": "regex", "regex_pattern": "(a+)+$"}]}
    problem = ForeignProblem((), Task("exact_match", {"answer": "a" * 40 + "!", **hostile}))
    assert "does not end on a gold answer" in gold_notes([problem])[0]
    assert SPEC.gold(problem.task.reference) is None  # tried in no other place

"""Results in the JSON of other harnesses: what we know, and nothing else."""

from __future__ import annotations

import dataclasses
import json
import math
import re
import statistics
from pathlib import Path

import pytest
from typer.testing import CliRunner

from prorl_cli.main import build_app
from prorl_common import NullProgress, UserError
from prorl_evaluation import EvalResult, EvalSettings, EvaluationError, evaluate
from prorl_evaluation.testing import FakeGenerator, FakeScorer, make_samples
from prorl_verifiers import Task


def result(out: Path, *, exact: bool = False, broken: str | None = None) -> EvalResult:
    """Eight problems, four answers each."""
    samples = make_samples(8)
    if exact:
        task = Task("exact_match", {"answer": "yes", "filter_name": "strict-match"})
        samples = [dataclasses.replace(s, task=task) for s in samples]
    origin = {"path": f"mine/{out.name}", "manifest_sha256": out.name, "split": "test"}
    settings = EvalSettings(n=4, k=2, draws=200, label="my model", dataset=origin)
    generator = FakeGenerator(model_id="org/model", percent=50)
    return evaluate(generator, samples, settings, out, FakeScorer(broken), NullProgress())


def export(*arguments: str) -> list[Path]:
    done = CliRunner().invoke(build_app(), ["eval", "export", *arguments])
    assert done.exit_code == 0, done.output
    return [Path(line) for line in done.stdout.splitlines()]


def test_lm_eval_gets_metrics_with_the_standard_error_of_the_mean(tmp_path: Path) -> None:
    found = result(tmp_path / "sums")
    files = export(str(tmp_path / "sums"), "--out", str(tmp_path / "out"))
    assert [f.name.partition("_20")[0] for f in files] == ["results", "samples_sums"]
    assert files[0].parent.name == "org__model"
    value = json.loads(files[0].read_text())
    row = value["results"]["sums"]
    rates = [p.c / p.n for p in found.problems]
    assert row["pass@1,none"] == pytest.approx(statistics.fmean(rates))
    error = statistics.stdev(rates) / math.sqrt(len(rates))
    assert row["pass@1_stderr,none"] == pytest.approx(error)
    assert {"pass@2,none", "pass@4,none"} < row.keys() and row["sample_len"] == 8
    assert (value["versions"], value["n-shot"]) == ({}, {})
    assert value["n-samples"]["sums"] == {"original": 8, "effective": 8}
    assert value["configs"]["sums"]["generation_kwargs"]["max_gen_toks"] == 512


def test_lm_eval_samples_hold_every_answer_and_the_problems_score(tmp_path: Path) -> None:
    found = result(tmp_path / "sums")
    samples = export(str(tmp_path / "sums"), "--out", str(tmp_path / "out"))[1]
    rows = [json.loads(line) for line in samples.read_text().splitlines()]
    assert [r["doc"]["id"] for r in rows] == [p.id for p in found.problems]
    assert [r["pass@1"] for r in rows] == [p.c / p.n for p in found.problems]
    assert all(len(r["resps"][0]) == len(r["filtered_resps"]) == 4 for r in rows)
    assert all(len(r[h]) == 64 for r in rows for h in ("doc_hash", "prompt_hash", "target_hash"))


def test_answers_without_verdict_are_kept_and_journals_stay_as_they_are(tmp_path: Path) -> None:
    found = result(tmp_path / "sums", broken="no")
    assert found.overall.infra_errors > 0
    before = {f.name: f.read_bytes() for f in (tmp_path / "sums").iterdir()}
    samples = export(str(tmp_path / "sums"), "--out", str(tmp_path / "out"))[1]
    rows = [json.loads(line) for line in samples.read_text().splitlines()]
    answers = [a for r in rows for a in r["filtered_resps"]]
    assert answers.count(None) == found.overall.infra_errors
    assert {f.name: f.read_bytes() for f in (tmp_path / "sums").iterdir()} == before


def test_an_imported_task_keeps_its_metric_and_filter(tmp_path: Path) -> None:
    found = result(tmp_path / "gsm", exact=True)
    (file, samples) = export(str(tmp_path / "gsm"), "--out", str(tmp_path / "out"))
    row = json.loads(file.read_text())["results"]["gsm"]
    assert row["exact_match,strict-match"] == found.overall.pass_at_k[1].value
    assert "pass@1,strict-match" not in row and "pass@2,strict-match" in row
    assert json.loads(samples.read_text().splitlines()[0])["filter"] == "strict-match"


def test_lighteval_gets_numbers_alone_and_several_tasks_in_one_file(tmp_path: Path) -> None:
    for name in ("a", "b"):
        result(tmp_path / name)
    folders = [str(tmp_path / name) for name in ("a", "b")]
    (file,) = export(*folders, "--format", "lighteval", "--out", str(tmp_path / "out"))
    assert file.parent == tmp_path / "out" / "results" / "org" / "model"
    value = json.loads(file.read_text())
    assert list(value["results"]) == ["a", "b"]
    assert all(isinstance(v, float) for row in value["results"].values() for v in row.values())
    assert "pass@1_stderr" in value["results"]["a"]


def test_an_unknown_format_names_the_nearest(tmp_path: Path) -> None:
    done = CliRunner().invoke(build_app(), ["eval", "export", str(tmp_path), "--format", "lmeval"])
    assert "did you mean 'lm-eval'" in str(done.exception)


@pytest.mark.parametrize("form", ["lm-eval", "lighteval"])
@pytest.mark.parametrize("name", ["../../../escaped", "..", "", "m" * 400, "a\0b"])
def test_a_model_that_a_server_named_oddly_stays_in_the_folder(
    tmp_path: Path, form: str, name: str
) -> None:
    result(tmp_path / "sums")
    file = tmp_path / "sums" / "result.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "model_id": name}))
    for written in export(str(tmp_path / "sums"), "--format", form, "--out", str(tmp_path / "out")):
        assert written.resolve().is_relative_to(tmp_path / "out") and "/../" not in str(written)


@pytest.mark.parametrize("form", ["lm-eval", "lighteval"])
def test_a_damaged_result_is_said_in_one_line(tmp_path: Path, form: str) -> None:
    result(tmp_path / "sums")
    file = tmp_path / "sums" / "result.json"
    whole = json.loads(file.read_text())
    first, *others = whole["problems"]
    for changed in (
        {"created": 5},
        {"problems": [{**first, "c": 99}, *others]},
        {"problems": [{**first, "id": "another"}, *others]},
    ):
        file.write_text(json.dumps({**whole, **changed}))
        words = [str(tmp_path / "sums"), "--format", form, "--out", str(tmp_path / "out")]
        done = CliRunner().invoke(build_app(), ["eval", "export", *words])
        assert isinstance(done.exception, EvaluationError) and "command again" in str(
            done.exception
        )


def test_half_a_character_in_an_answer_is_exported(tmp_path: Path) -> None:
    result(tmp_path / "sums")
    journal = tmp_path / "sums" / "samples.jsonl"
    journal.write_text(re.sub(r'"text": "[^"]*"', r'"text": "\\ud800"', journal.read_text()))
    samples = export(str(tmp_path / "sums"), "--out", str(tmp_path / "out"))[1]
    assert json.loads(samples.read_text().splitlines()[0])["resps"] == [["\ud800"] * 4]


def test_nothing_is_written_where_one_of_several_results_lacks_its_answers(tmp_path: Path) -> None:
    for name in ("whole", "cut"):
        result(tmp_path / name)
    file = tmp_path / "cut" / "result.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "model_id": "another"}))
    (tmp_path / "cut" / "samples.jsonl").unlink()
    words = [*(str(tmp_path / n) for n in ("whole", "cut")), "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(build_app(), ["eval", "export", *words])
    assert isinstance(done.exception, EvaluationError)
    assert "lacks samples.jsonl" in str(done.exception)
    assert not [f for f in (tmp_path / "out").rglob("*") if f.is_file()]


def test_two_models_of_one_name_and_second_do_not_overwrite_each_other(tmp_path: Path) -> None:
    created = result(tmp_path / "a").created
    result(tmp_path / "b")
    file = tmp_path / "b" / "result.json"
    other = {"model_digest": "other", "created": created}
    file.write_text(json.dumps({**json.loads(file.read_text()), **other}))
    words = [*(str(tmp_path / n) for n in "ab"), "--format", "lighteval", "--out", str(tmp_path)]
    done = CliRunner().invoke(build_app(), ["eval", "export", *words])
    assert isinstance(done.exception, UserError) and "two models would be" in str(done.exception)
    assert not (tmp_path / "results").exists()

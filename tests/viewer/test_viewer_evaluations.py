from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

import pytest
from doubles import TALK

from prorl_common import NullProgress, UserError
from prorl_datasets import Sample
from prorl_evaluation import EvalSettings, boundary_report, evaluate, load_result, solvable_changes
from prorl_evaluation.boundary.boundary import align
from prorl_evaluation.boundary.types import Regime
from prorl_evaluation.sampling.pipeline import Scorer
from prorl_evaluation.testing import FakeGenerator, FakeScorer, make_samples
from prorl_verifiers import Task
from prorl_viewer.answering import encode
from prorl_viewer.evaluations.subject import EvaluationSubject, looks_like, open_subjects
from prorl_viewer.subject import Json, NotFoundError, Private

N = 8
SETTINGS = EvalSettings(
    n=N, k=2, batch_rows=16, draws=200, dataset={"path": "data/small", "split": "test"}
)
SECRET = "the prompt's own words"


def samples(count: int = 12) -> list[Sample]:
    """Return problems of two domains with a benchmark, a family and a level."""
    found = [*make_samples(count), *make_samples(count, "stem")]
    return [
        dataclasses.replace(
            s,
            prompt=({"role": "user", "content": f"{SECRET}, number {i}"},),
            metadata={"benchmark": f"bench-{i % 2}", "family": f"family-{i % 3}", "level": i % 4},
        )
        for i, s in enumerate(found)
    ]


def write(
    folder: Path,
    label: str,
    percent: int = 40,
    problems: Sequence[Sample] | None = None,
    settings: EvalSettings = SETTINGS,
    scorer: Scorer | None = None,
) -> Path:
    """Write an evaluation folder of a model that says "yes" to `percent` % of the problems."""
    model = FakeGenerator(model_id=label, model_digest=label, percent=percent)
    how = dataclasses.replace(settings, label=label)
    given = samples() if problems is None else problems
    evaluate(model, given, how, folder, scorer or FakeScorer(), NullProgress())
    return folder


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run's folder with evaluations of its base and a step."""
    root = tmp_path_factory.mktemp("runs") / "demo"
    write(root / "eval" / "step_000012-0123abcd", "demo step 12", 90)
    write(root / "eval" / "base-0123abcd", "base tiny", 20)
    (root / "config.yaml").write_text("model: {path: tiny}\n")
    return root / "eval"


def opened(root: Path) -> EvaluationSubject:
    """Return the only evaluation below ``root``."""
    (subject,) = open_subjects([p for p in sorted(root.rglob("*")) if p.is_dir() and looks_like(p)])
    return subject


def ask(subject: EvaluationSubject, page: str, **query: str) -> Json:
    """Return a page's answer, waiting for what is computed."""
    for _ in range(600):
        answer = subject.pages()[page](query)
        if answer.get("state") != "computing":
            return answer
    raise AssertionError(f"{page} is still computing")


def test_models_of_a_run_are_one_evaluation_with_the_base_first(two: Path) -> None:
    subject = opened(two)
    summary = ask(subject, "summary")
    assert (subject.kind, subject.name) == ("evaluation", "demo-eval")
    assert [m["key"] for m in summary["each"]] == ["base", "step_000012"]
    assert summary["baseline"] == "base tiny"
    assert summary["answers"] == 2 * 24 * N


def test_the_model_from_before_rl_is_the_baseline(tmp_path: Path) -> None:
    for place, label in (
        ("base", "tiny"),
        ("step_000000", "demo (before RL)"),
        ("step_12", "demo"),
    ):
        write(tmp_path / "eval" / f"{place}-0123abcd", label, 20)
    subject = opened(tmp_path)
    for page in ("summary", "claims"):
        assert ask(subject, page)["baseline"] == "demo (before RL)"


def test_a_cell_counts_what_the_result_counts(two: Path) -> None:
    rows = {row["id"]: row for row in ask(opened(two), "matrix")["rows"]}
    results = [load_result(two / name) for name in ("base-0123abcd", "step_000012-0123abcd")]
    for at, result in enumerate(results):
        for problem in result.problems:
            assert rows[problem.id]["cells"][at] == [problem.c, problem.n]
    assert rows["stem-3"]["domain"] == "stem"
    assert (rows["stem-3"]["benchmark"], rows["stem-3"]["family"]) == ("bench-1", "family-0")


def test_the_text_filter_finds_prompts_and_ids_in_large_and_small_letters(two: Path) -> None:
    subject = opened(two)
    assert ask(subject, "search", q="NUMBER 13")["ids"] == ["stem-1"]
    assert ask(subject, "search", q="stem-1")["ids"] == ["stem-1", "stem-10", "stem-11"]
    assert ask(subject, "search", q="nowhere")["ids"] == []


def test_claims_and_curves_are_those_of_the_boundary_report(two: Path) -> None:
    subject = opened(two)
    results = [load_result(two / name) for name in ("base-0123abcd", "step_000012-0123abcd")]
    report = boundary_report(results)
    claims = ask(subject, "claims")
    assert [(c["kind"], c["name"], c["regime"]) for c in claims["claims"]] == [
        (c.kind, c.group, c.regime) for c in report.claims
    ]
    overall = report.groups[0]
    curves = ask(subject, "curves")
    for line, curve in zip(curves["lines"], overall.curves, strict=True):
        assert line["points"] == [
            [k, i.value, i.low, i.high, i.count] for k, i in sorted(curve.points.items())
        ]
    change = claims["claims"][0]["changes"]["pass@1"]
    found = next(c.interval for c in overall.changes[0] if c.metric == "pass@1")
    assert (change["value"], change["low"], change["high"]) == (found.value, found.low, found.high)


def test_claims_say_which_comparisons_are_corrected_for_their_number(two: Path) -> None:
    said = ask(opened(two), "claims")
    assert f"{len(said['claims'])} groups by 1 model against base tiny" in said["multiple"]
    assert "Holm" in said["multiple"]
    assert set(said["meaning"]) == set(get_args(Regime))


def test_a_group_that_is_not_there_is_named(two: Path) -> None:
    with pytest.raises(NotFoundError, match="domain:poetry"):
        ask(opened(two), "curves", group="domain:poetry")


def test_solvable_sets_are_those_of_the_room(two: Path) -> None:
    results = [load_result(two / name) for name in ("base-0123abcd", "step_000012-0123abcd")]
    aligned, _ = align(results)
    expected = solvable_changes([(a, b) for a, b in aligned], ("base tiny", "demo step 12"))
    (found,) = ask(opened(two), "solvable")["changes"]
    assert (tuple(found["gained"]), tuple(found["lost"])) == (expected.gained, expected.lost)
    assert (found["kept"], found["never"]) == (expected.both, expected.neither)


def test_models_are_chosen_by_key_and_the_first_is_the_baseline(two: Path) -> None:
    subject = opened(two)
    assert ask(subject, "claims", models="step_000012,base")["baseline"] == "demo step 12"
    assert ask(subject, "claims", models="base")["claims"] == []
    with pytest.raises(NotFoundError, match="step_000012"):
        ask(subject, "claims", models="base,step_12")


def test_an_answer_stands_with_its_verdict_and_its_whole_text(two: Path) -> None:
    subject = opened(two)
    listed = ask(subject, "samples", problem="math-0", model="base")
    assert [s["index"] for s in listed["samples"]] == list(range(N))
    own = next(p for p in load_result(two / "base-0123abcd").problems if p.id == "math-0")
    assert listed["counts"].get("right", 0) == own.c
    one = ask(subject, "sample", problem="math-0", model="base", index="3")
    right = one["text"].text.startswith("yes")
    assert one["kinds"][0] == ("right" if right else "wrong")
    assert one["reward"] == float(right)
    assert one["extracted"] == Private(one["text"].text[:3])


def test_answers_are_filtered_by_their_text(two: Path) -> None:
    subject = opened(two)
    every = ask(subject, "samples", problem="math-0", model="base")["samples"]
    yes = ask(subject, "samples", problem="math-0", model="base", q="YES")
    assert yes["samples"] == [s for s in every if "right" in s["kinds"]]
    assert yes["all"] == N


def test_a_conversation_is_shown_searched_and_checked_in_full(tmp_path: Path) -> None:
    task = Task("tool-arithmetic", {"answer": "4"})
    played = [dataclasses.replace(sample, task=task) for sample in make_samples(1)]
    folder = write(tmp_path / "eval" / "base-0123abcd", "base", problems=played)
    rows = [json.loads(line) for line in (folder / "samples.jsonl").read_text().splitlines()]
    lines = [json.dumps(row | {"turns": TALK, "text": "\\boxed{4}"}) for row in rows]
    (folder / "samples.jsonl").write_text("\n".join(lines) + "\n")
    subject, where = opened(tmp_path / "eval"), {"problem": "math-0", "model": "base"}
    with contextlib.closing(subject):
        page = ask(subject, "sample", **where, index="0")
        assert [turn["role"] for turn in page["turns"]] == ["assistant", "tool", "assistant"]
        assert len(ask(subject, "samples", **where, q="CALCULATOR")["samples"]) == N
        assert subject.actions()["check"]({**where, "index": "0"})["now"]["reward"] == 1.0


def test_a_sample_is_judged_again_by_its_recorded_task_and_the_verdict_explained(two: Path) -> None:
    subject = opened(two)
    listed = ask(subject, "samples", problem="math-0", model="base")["samples"]
    wrong = next(s["index"] for s in listed if "wrong" in s["kinds"])
    try:
        found = subject.actions()["check"](
            {"problem": "math-0", "model": "base", "index": str(wrong)}
        )
    finally:
        subject.close()
    assert found["same"] is True
    assert (found["stored"]["reward"], found["now"]["reward"]) == (0.0, 0.0)
    assert found["now"]["findings"]


def test_a_problem_a_sample_or_a_model_that_is_not_there_is_named(two: Path) -> None:
    subject = opened(two)
    for page, query in (
        ("problem", {"problem": "math-99"}),
        ("sample", {"problem": "math-0", "model": "base", "index": "99"}),
        ("samples", {"problem": "math-0", "model": "bass"}),
    ):
        with pytest.raises(NotFoundError):
            ask(subject, page, **query)


def test_a_problem_shows_its_prompt_its_reference_and_every_models_counts(two: Path) -> None:
    page = ask(opened(two), "problem", problem="math-0")
    assert page["prompt"] == [{"role": "user", "content": Private(f"{SECRET}, number 0")}]
    assert json.loads(page["reference"].text) == {"answer": "yes"}
    assert [m["key"] for m in page["models"]] == ["base", "step_000012"]


def test_no_text_of_model_or_dataset_leaves_a_share_safe_page(two: Path) -> None:
    subject = opened(two)
    pages = subject.pages()
    shown = b"".join(encode(pages[page](query), True) for page, query in subject.snapshot())
    open_page = b"".join(encode(pages[page](query)) for page, query in subject.snapshot())
    for words in (SECRET.encode(), b'"yes ', b"compared"):
        assert words in open_page
        assert words not in shown


def test_an_exported_page_holds_what_was_computed(two: Path) -> None:
    subject = opened(two)
    pages = subject.pages()
    states = [pages[page](query).get("state") for page, query in subject.snapshot()]
    assert "ready" in states
    assert "computing" not in states


def test_a_begun_evaluation_shows_what_is_judged_so_far_and_grows(tmp_path: Path) -> None:
    folder = write(tmp_path / "base", "base")
    (folder / "result.json").unlink()
    verdicts = (folder / "verdicts.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "verdicts.jsonl").write_bytes(b"".join(verdicts[:50]))
    subject = opened(tmp_path)
    before = ask(subject, "summary")["each"][0]
    assert not before["finished"]
    assert (before["done"], before["total"]) == (50, 24 * N)
    with pytest.raises(UserError, match="no result yet"):
        ask(subject, "claims")
    version = subject.version()
    write(folder, "base")
    assert subject.version() != version
    after = ask(subject, "summary")["each"][0]
    assert after["finished"]
    assert after["done"] == after["total"]


def test_counts_of_a_begun_evaluation_are_those_of_its_result(tmp_path: Path) -> None:
    folder = write(tmp_path / "base", "base", scorer=FakeScorer(broken="no"))
    result = load_result(folder)
    (folder / "result.json").unlink()
    rows = {row["id"]: row for row in ask(opened(tmp_path), "matrix")["rows"]}
    assert {p.id: [p.c, p.n] for p in result.problems} == {
        i: r["cells"][0] for i, r in rows.items()
    }


def test_a_torn_last_line_is_waited_for(tmp_path: Path) -> None:
    folder = write(tmp_path / "base", "base")
    verdicts = folder / "verdicts.jsonl"
    (folder / "result.json").unlink()
    whole = verdicts.read_bytes()
    last = whole[:-1].rfind(b"\n") + 1
    verdicts.write_bytes(whole[: last + 40])
    subject = opened(tmp_path)
    assert ask(subject, "summary")["each"][0]["done"] == 24 * N - 1
    with verdicts.open("ab") as file:
        file.write(whole[last + 40 :])
    assert ask(subject, "summary")["each"][0]["done"] == 24 * N


def test_a_journal_is_read_while_its_writer_holds_it(tmp_path: Path) -> None:
    from prorl_evaluation.sampling.job import read_job
    from prorl_evaluation.sampling.journal import EvalJournal, Keys

    folder = write(tmp_path / "base", "base")
    job, _ = read_job(folder)
    with EvalJournal(folder, Keys(job.model_digest, job.settings)):
        listed = ask(opened(tmp_path), "samples", problem="math-0", model="base")
    assert listed["all"] == N


def test_results_without_journals_show_matrix_and_claims_and_say_that_answers_are_missing(
    two: Path, tmp_path: Path
) -> None:
    for name in ("base-0123abcd", "step_000012-0123abcd"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "result.json").write_bytes((two / name / "result.json").read_bytes())
    subject = opened(tmp_path)
    assert len(ask(subject, "matrix")["rows"]) == 24
    assert ask(subject, "claims")["claims"]
    assert ask(subject, "problem", problem="math-0")["prompt"] == []
    with pytest.raises(NotFoundError):
        ask(subject, "samples", problem="math-0", model="base")


def test_folders_of_other_settings_are_another_evaluation_unless_both_were_given(
    tmp_path: Path,
) -> None:
    warm = dataclasses.replace(SETTINGS, temperature=1.0)
    a, b = write(tmp_path / "a", "a"), write(tmp_path / "b", "b", settings=warm)
    assert len(open_subjects([a, b])) == 2
    (subject,) = open_subjects([b, a], named=[b, a])
    assert [m["key"] for m in ask(subject, "summary")["each"]] == ["b", "a"]
    assert any("temperature differs" in line for line in ask(subject, "claims")["caveats"])


def test_a_suites_benchmarks_are_one_model_with_ids_of_both(tmp_path: Path) -> None:
    root = tmp_path / "suites"
    for model, percent in (("base", 20), ("tuned", 80)):
        for benchmark in ("arith", "logic"):
            how = dataclasses.replace(
                SETTINGS, dataset={"path": f"quick/{benchmark}", "split": "test"}
            )
            folder = root / model / f"{benchmark}-0123abcd"
            write(folder, model, percent, problems=make_samples(12), settings=how)
    subject = opened(root)
    rows = ask(subject, "matrix")["rows"]
    assert {row["benchmark"] for row in rows} == {"arith", "logic"}
    assert {row["id"].partition("/")[0] for row in rows} == {"arith", "logic"}
    page = ask(subject, "sample", problem="logic/math-3", model="tuned", index="0")
    assert page["text"].text.startswith(("yes", "no"))
    groups = {(c["kind"], c["name"]) for c in ask(subject, "claims")["claims"]}
    assert {("overall", "overall"), ("benchmark", "arith"), ("benchmark", "logic")} <= groups


def test_models_of_one_label_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    write(tmp_path / "first", "same")
    write(tmp_path / "second", "same", 60)
    labels = [m["label"] for m in ask(opened(tmp_path), "summary")["each"]]
    assert labels == ["same (first)", "same (second)"]

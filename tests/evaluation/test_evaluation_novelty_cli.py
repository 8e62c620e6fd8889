"""``prorl eval novelty``: models beside a corpus or the base's own samples, and its complaints."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from prorl_cli.main import build_app
from prorl_common import NullProgress, UserError
from prorl_evaluation import EvalSettings, evaluate
from prorl_evaluation.novelty import read_responses
from prorl_evaluation.novelty.against import against_base
from prorl_evaluation.testing import FakeGenerator, FakeScorer, make_samples
from prorl_inference import Completion

KNOWN = "one two three four five six seven eight nine ten eleven twelve thirteen"
NEW = "uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici"


class Says(FakeGenerator):
    """Says the known words for some seeds and new ones for the rest."""

    def _answer(self, seed: int, batch: int) -> Completion:
        text = KNOWN if seed % 100 < self.percent else f"{NEW} {seed}"
        return Completion(text, (1, 2), (-0.5, -0.5), "stop")


def call(*arguments: object) -> Result:
    return CliRunner().invoke(build_app(), ["eval", "novelty", *map(str, arguments)])


def fails(*arguments: object) -> str:
    error = call(*arguments).exception
    assert isinstance(error, UserError), repr(error)
    assert "\n" not in str(error)
    return str(error)


def lines(path: Path, texts: dict[str, list[str]]) -> Path:
    rows = [{"id": i, "response": t} for i, several in texts.items() for t in several]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "corpus.txt").write_text(f"before. {KNOWN}. after")
    lines(tmp_path / "old.jsonl", {f"p{i}": [KNOWN, KNOWN] for i in range(12)})
    lines(tmp_path / "new.jsonl", {f"p{i}": [NEW, KNOWN] for i in range(12)})
    return tmp_path


def test_models_are_measured_beside_a_corpus_and_paired_with_the_first(folder: Path) -> None:
    done = call("old.jsonl", "new.jsonl", "--corpus", "corpus.txt", "--json")
    assert done.exit_code == 0, done.output
    value = json.loads(done.stdout)
    old, new = value["groups"]
    assert (old["creativity"]["value"], new["creativity"]["value"]) == (0.0, 4.0)
    assert new["uniqueness"]["5"]["value"] == 0.5 and new["found"]["12"]["value"] == 0.5
    (change,) = value["changes"]
    assert change["interval"]["value"] == 4.0 and change["interval"]["count"] == 12
    assert value["read"] == {"documents": 1, "words": 15}


def test_a_file_of_settings_names_the_corpus(folder: Path) -> None:
    Path("eval.yaml").write_text("novelty: {corpus: [corpus.txt], lengths: 5-6}\n")
    done = call("old.jsonl", "--config", "eval.yaml", "--set", "novelty.lengths=5-7", "--json")
    assert done.exit_code == 0, done.output
    value = json.loads(done.stdout)
    assert (value["corpus"], value["lengths"]) == ("corpus.txt (1 file)", [5, 6, 7])


def test_tables_name_the_corpus_and_each_response_can_be_written(folder: Path) -> None:
    done = call("new.jsonl", "--corpus", "corpus.txt", "--each", "each.jsonl")
    assert done.exit_code == 0, done.output
    assert "corpus.txt (1 file)" in done.stdout and "index (0-8)" in done.stdout
    rows = [json.loads(line) for line in Path("each.jsonl").read_text().splitlines()]
    assert [r["creativity"] for r in rows[:2]] == [8.0, 0.0]


def test_short_responses_are_said_and_do_not_count(folder: Path) -> None:
    lines(folder / "short.jsonl", {"a": ["too short"], "b": [KNOWN]})
    done = call("short.jsonl", "--corpus", "corpus.txt", "--json")
    (group,) = json.loads(done.stdout)["groups"]
    assert group["short"] == 1 and group["creativity"]["count"] == 1
    shown = call("short.jsonl", "--corpus", "corpus.txt")
    assert "1 of 2 responses have fewer than 12 words" in shown.stderr


def evaluated(folder: Path, name: str, percent: int, n: int = 4) -> Path:
    out = folder / name
    settings = EvalSettings(n, 1, max_tokens=8, draws=100, label=name)
    generator = Says(name, f"digest of {name}", percent)
    evaluate(generator, make_samples(20), settings, out, FakeScorer(), NullProgress())
    return out


def benchmark(folder: Path, name: str, start: int, model: str = "m", **named: Any) -> Path:
    """A benchmark of two problems in a model's folder of a suite."""
    settings = EvalSettings(2, 1, max_tokens=8, draws=100, label=model, **named)
    generator = Says(model, f"digest of {model}", 50)
    samples = make_samples(2, start=start)
    evaluate(generator, samples, settings, folder / name, FakeScorer(), NullProgress())
    return folder / name


def test_against_the_base_the_held_out_half_of_its_samples_is_the_control(folder: Path) -> None:
    base, trained = evaluated(folder, "base", 100), evaluated(folder, "trained", 0)
    done = call(trained, "--against", base, "--json")
    assert done.exit_code == 0, done.output
    value = json.loads(done.stdout)
    labels = [g["label"] for g in value["groups"]]
    assert labels == ["base (held-out half)", "trained"]
    assert [g["creativity"]["value"] for g in value["groups"]] == [0.0, 8.0]
    assert [g["responses"] for g in value["groups"]] == [40, 80]
    assert value["corpus"] == "40 responses of base"
    assert value["changes"][0]["interval"]["low"] > 0


def test_one_sample_a_problem_leaves_no_control_and_other_problems_are_refused(
    folder: Path,
) -> None:
    base, trained = evaluated(folder, "base", 100, 1), evaluated(folder, "trained", 0)
    done = call(trained, "--against", base)
    assert done.exit_code == 0 and "no half is left as a control" in done.stderr
    other = read_responses(Path("old.jsonl"))
    with pytest.raises(UserError, match="share no problem"):
        against_base(read_responses(base), [other])


def test_a_folder_of_evaluations_is_one_set_and_samples_limits_it(folder: Path) -> None:
    (folder / "suite").mkdir()
    evaluated(folder / "suite", "a", 100)
    found = read_responses(folder / "suite")
    assert len(found.responses) == 80 and {r.group for r in found.responses} == {"math"}
    assert len(read_responses(folder / "suite", 1).responses) == 20


def test_the_benchmarks_of_a_suite_are_one_set(folder: Path) -> None:
    benchmark(folder / "suite", "sums-1", 0, dataset={"path": "mine/sums"})
    benchmark(folder / "suite", "facts-2", 10, dataset={"path": "mine/facts"})
    assert len(read_responses(folder / "suite").responses) == 8


def test_a_benchmark_that_was_evaluated_twice_is_not_counted_twice(folder: Path) -> None:
    suite = folder / "suite"
    benchmark(suite, "sums-1", 0, dataset={"path": "mine/sums", "limit": "1"})
    benchmark(suite, "sums-2", 0, dataset={"path": "mine/sums", "limit": "2"})
    benchmark(suite, "facts-2", 10, dataset={"path": "mine/facts"})
    said = fails("suite", "--corpus", "corpus.txt")
    assert "mine/sums is there more than once" in said
    assert "sums-1 (limit 1) and sums-2 (limit 2): name one of these folders" in said


def test_problems_that_two_folders_share_are_not_counted_twice(folder: Path) -> None:
    benchmark(folder / "suite", "sums-1", 0)
    benchmark(folder / "suite", "sums-2", 1)
    said = fails("suite", "--corpus", "corpus.txt")
    assert "sums-1 and sums-2 share problems (math-1): name one of these folders" in said


@pytest.mark.parametrize("other", [{"temperature": 1.0}, {"top_p": 1.0}, {"extra": {"a": 1}}])
def test_benchmarks_that_were_sampled_differently_are_no_one_set(
    folder: Path, other: dict[str, Any]
) -> None:
    benchmark(folder / "suite", "sums-1", 0)
    benchmark(folder / "suite", "facts-2", 10, **other)
    said = fails("old.jsonl", "--against", "suite")
    assert "facts-2 and sums-1 were sampled differently" in said and next(iter(other)) in said
    assert "name one of these folders" in said


def test_two_models_are_no_one_set(folder: Path) -> None:
    benchmark(folder / "evals", "base-1", 0, "base")
    benchmark(folder / "evals", "step-1", 10, "step")
    said = fails("evals", "--corpus", "corpus.txt")
    assert "base-1 and step-1 are of two models: name one of these folders" in said


def test_a_corrupt_corpus_file_is_named_in_one_line(folder: Path) -> None:
    packed = bytearray(gzip.compress(b"words of many kinds " * 4000))
    packed[20:60] = bytes(40)
    Path("bad.txt.gz").write_bytes(packed)
    assert "bad.txt.gz cannot be read" in fails("old.jsonl", "--corpus", "bad.txt.gz")
    Path("short.txt.gz").write_bytes(gzip.compress(b"words " * 4000)[:-9])
    assert "short.txt.gz cannot be read" in fails("old.jsonl", "--corpus", "short.txt.gz")


def test_mistakes_are_one_line_with_the_cure(folder: Path) -> None:
    assert "one of the two" in fails("old.jsonl")
    assert "one of the two" in fails("old.jsonl", "--corpus", "corpus.txt", "--against", "x")
    assert "no such corpus" in fails("old.jsonl", "--corpus", "gone.txt")
    assert "holds no responses" in fails("gone", "--corpus", "corpus.txt")
    assert "5-12" in fails("old.jsonl", "--corpus", "corpus.txt", "--lengths", "five")
    assert "ascend" in fails("old.jsonl", "--corpus", "corpus.txt", "--lengths", "9-5")
    Path("bad.jsonl").write_text('{"id": "a", "text": "b"}\n')
    assert "bad.jsonl:1: expected" in fails("bad.jsonl", "--corpus", "corpus.txt")

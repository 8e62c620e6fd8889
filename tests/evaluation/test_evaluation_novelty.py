from __future__ import annotations

import gzip
import json
import math
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from prorl_cli.main import build_app
from prorl_common import NullProgress, UserError
from prorl_evaluation import EvalSettings, EvaluationError, evaluate
from prorl_evaluation.novelty import corpus as corpus_module
from prorl_evaluation.novelty.corpus import FileCorpus, Read, TextCorpus, gram_hashes, word_hashes
from prorl_evaluation.novelty.coverage import LENGTHS, measure
from prorl_evaluation.novelty.responses import Response, against_base, read_responses
from prorl_evaluation.testing import FakeGenerator, FakeScorer, make_samples
from prorl_inference import Completion

FOX = "the quick brown fox jumps over the lazy dog and runs far away"  # 13 words


def one(text: str, *documents: str, lengths: tuple[int, ...] = LENGTHS) -> tuple[float, ...]:
    (row,) = measure([Response("p", "g", 0, text)], TextCorpus(documents), lengths)[0]
    return row.uniqueness


def plain_words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+|[-+*/=<>^]", text.lower())


def by_hand(text: str, documents: list[str], length: int) -> float:
    """Compute L-uniqueness with sets of tuples."""
    known: set[tuple[str, ...]] = set()
    for document in documents:
        w = plain_words(document)
        known |= {tuple(w[i : i + length]) for i in range(len(w) - length + 1)}
    words = plain_words(text)
    covered = [False] * len(words)
    for i in range(len(words) - length + 1):
        if tuple(words[i : i + length]) in known:
            covered[i : i + length] = [True] * length
    return 1 - sum(covered) / len(words)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(corpus_module, "BLOCK", 64)
    yield


def test_case_and_punctuation_do_not_count_and_signs_do() -> None:
    assert one(FOX, FOX.upper().replace(" ", ",\n")) == (0.0,) * 8
    sums = "x + 2 = 7 so x = 5 and y = 1 now"
    assert one(sums, sums) == (0.0,) * 8
    assert one(sums, sums.replace("+", "-"))[-1] == 1.0 - 12 / 14


def test_a_response_shorter_than_the_longest_run_has_no_novelty() -> None:
    (row,) = measure([Response("p", "g", 0, "only four words here")], TextCorpus([FOX]))[0]
    assert row.words == 4 and math.isnan(row.creativity)
    (empty,) = measure([Response("p", "g", 0, "")], TextCorpus([FOX]))[0]
    assert empty.words == 0 and math.isnan(empty.creativity)


def test_an_empty_corpus_makes_everything_new() -> None:
    assert one(FOX) == (1.0,) * 8 and one(FOX, "", "  ") == (1.0,) * 8


@pytest.mark.parametrize("seed", range(6))
def test_it_equals_counting_by_brute_force_with_any_block_size(
    seed: int, small_blocks: None
) -> None:
    rng = random.Random(seed)
    vocabulary = ["alpha", "Beta", "x", "7", "-"]

    def text(low: int, high: int) -> str:
        return " ".join(rng.choices(vocabulary, k=rng.randint(low, high)))

    documents = [text(0, 90) for _ in range(10)]
    responses = [Response(f"p{i}", "g", 0, text(12, 50)) for i in range(6)]
    rows, read = measure(responses, TextCorpus(documents))
    assert read.documents == 10
    for response, row in zip(responses, rows, strict=True):
        wanted = [by_hand(response.text, documents, n) for n in LENGTHS]
        assert row.uniqueness == pytest.approx(wanted)
        assert row.creativity == pytest.approx(sum(wanted))


def test_every_kind_of_file_holds_the_same_corpus(tmp_path: Path, small_blocks: None) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    (tmp_path / "a.txt").write_text(FOX)
    with gzip.open(tmp_path / "b.txt.gz", "wt") as packed:
        packed.write(FOX)
    (tmp_path / "c.jsonl").write_text(json.dumps({"text": FOX}) + "\n")
    (tmp_path / "d.json").write_text(json.dumps([{"text": FOX, "n": 1}]))
    (tmp_path / "e.csv").write_text(f"n,text\n1,{FOX}\n")
    parquet.write_table(pa.table({"text": [FOX, None]}), tmp_path / "f.parquet")
    response = [Response("p", "g", 0, FOX)]
    for file in sorted(tmp_path.iterdir()):
        (row,), read = measure(response, FileCorpus([file]))
        assert row.creativity == 0.0, file.name
        assert (read.documents, read.words) == (1, 13), file.name
    (tmp_path / "notes.bin").write_bytes(b"\0")
    assert len(FileCorpus([tmp_path]).files()) == 6


def test_a_long_text_file_in_blocks_has_the_words_of_the_whole(
    tmp_path: Path, small_blocks: None
) -> None:
    text = " ".join(f"word{i}" for i in range(500)) + " " + "y" * 700 + " end"
    (tmp_path / "a.txt").write_text(text)
    read = Read()
    blocks = list(FileCorpus([tmp_path / "a.txt"]).blocks(read))
    assert b"".join(blocks) == text.encode() + b"\0" and len(blocks) > 20


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.jsonl", '{"body": "x"}\n', "no column text, content, response; the columns are body"),
        ("a.jsonl", '{"text": 3}\n', "column text is int, not text"),
        ("a.jsonl", '{"text": "x"\n', "a.jsonl:1"),
        ("a.pdf", "x", "a corpus file must end in"),
        ("b.txt.gz", "not packed", "cannot be read"),
    ],
)
def test_a_corpus_that_cannot_be_read_says_why(
    tmp_path: Path, name: str, content: str, said: str
) -> None:
    from prorl_common import UserError

    file = tmp_path / name
    file.write_text(content)
    with pytest.raises(UserError) as error:
        measure([Response("p", "g", 0, FOX)], FileCorpus([file]))
    assert said in str(error.value)


def test_a_missing_corpus_and_a_folder_without_texts_name_the_cure(tmp_path: Path) -> None:
    for path, said in ((tmp_path / "gone.txt", "no such corpus"), (tmp_path, "has no file")):
        with pytest.raises(EvaluationError, match=said):
            FileCorpus([path]).files()
    with pytest.raises(EvaluationError, match="no corpus"):
        FileCorpus([]).files()


def test_words_are_hashed_by_their_letters_alone_wherever_they_stand() -> None:
    a, b = word_hashes(b"alpha beta alpha"), word_hashes(b"(Beta);ALPHA")
    assert len(a) == 3 and len(b) == 2
    assert a[0] == a[2] == b[1] and a[1] == b[0] and a[0] != a[1]
    assert len(word_hashes("naïve Straße 价格".encode())) == 3
    assert len(word_hashes(b"")) == 0 and len(word_hashes(b" .,")) == 0


def test_a_grams_hash_is_the_same_from_both_ways_and_at_any_place() -> None:
    words = word_hashes(FOX.encode() * 3)
    grams = gram_hashes(words, 7)
    assert (grams == gram_hashes(words, 7, np.arange(len(words) - 6))).all()
    assert (gram_hashes(words[5:], 7) == grams[5:]).all()
    assert len(np.unique(word_hashes(" ".join(map(str, range(200_000))).encode()))) == 200_000


# ``prorl eval novelty``: models compared with a corpus or the base's samples, and its error messages


KNOWN = "one two three four five six seven eight nine ten eleven twelve thirteen"
NEW = "uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici"


class Says(FakeGenerator):
    """Answer with known words for some seeds and new ones for the rest."""

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
    assert new["uniqueness"]["5"]["value"] == 0.5
    (change,) = value["changes"]
    assert change["interval"]["value"] == 4.0 and change["interval"]["count"] == 12
    assert value["read"] == {"documents": 1, "words": 15}


def test_settings_name_the_corpus(folder: Path) -> None:
    settings = ("--set", "novelty.corpus=[corpus.txt]", "--set", "novelty.lengths=5-7")
    done = call("old.jsonl", *settings, "--json")
    assert done.exit_code == 0, done.output
    value = json.loads(done.stdout)
    assert (value["corpus"], value["lengths"]) == ("corpus.txt (1 file)", [5, 6, 7])


def test_tables_name_the_corpus(folder: Path) -> None:
    done = call("new.jsonl", "--corpus", "corpus.txt")
    assert done.exit_code == 0, done.output
    assert "corpus.txt (1 file)" in done.stdout and "index (0-8)" in done.stdout


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
    """Write a benchmark of two problems in a model's folder of a suite."""
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
    assert done.exit_code == 0 and "no control can be split off" in done.stderr
    other = read_responses(Path("old.jsonl"))
    with pytest.raises(UserError, match="no problem in common"):
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


def test_problems_that_two_folders_share_are_not_counted_twice(folder: Path) -> None:
    benchmark(folder / "suite", "sums-1", 0)
    benchmark(folder / "suite", "sums-2", 1)
    said = fails("suite", "--corpus", "corpus.txt")
    assert "sums-1 and sums-2 in suite have problems in common (e.g. math-1): name one" in said


@pytest.mark.parametrize("other", [{"temperature": 1.0}, {"top_p": 1.0}, {"extra": {"a": 1}}])
def test_benchmarks_that_were_sampled_differently_are_no_one_set(
    folder: Path, other: dict[str, Any]
) -> None:
    benchmark(folder / "suite", "sums-1", 0)
    benchmark(folder / "suite", "facts-2", 10, **other)
    said = fails("old.jsonl", "--against", "suite")
    assert (
        "facts-2 and sums-1 in suite were sampled differently" in said and next(iter(other)) in said
    )
    assert "name one of these folders instead" in said


def test_two_models_are_no_one_set(folder: Path) -> None:
    benchmark(folder / "evals", "base-1", 0, "base")
    benchmark(folder / "evals", "step-1", 10, "step")
    said = fails("evals", "--corpus", "corpus.txt")
    assert (
        "base-1 and step-1 in evals are of two models: name the folder of one model instead" in said
    )


def test_a_corrupt_corpus_file_is_named_in_one_line(folder: Path) -> None:
    packed = bytearray(gzip.compress(b"words of many kinds " * 4000))
    packed[20:60] = bytes(40)
    Path("bad.txt.gz").write_bytes(packed)
    assert "bad.txt.gz cannot be read" in fails("old.jsonl", "--corpus", "bad.txt.gz")
    Path("short.txt.gz").write_bytes(gzip.compress(b"words " * 4000)[:-9])
    assert "short.txt.gz cannot be read" in fails("old.jsonl", "--corpus", "short.txt.gz")


def test_mistakes_are_one_line_with_the_cure(folder: Path) -> None:
    assert "give either --corpus" in fails("old.jsonl")
    assert "give either --corpus" in fails("old.jsonl", "--corpus", "corpus.txt", "--against", "x")
    assert "no such corpus" in fails("old.jsonl", "--corpus", "gone.txt")
    assert "has no responses" in fails("gone", "--corpus", "corpus.txt")
    assert "5-12" in fails("old.jsonl", "--corpus", "corpus.txt", "--set", "novelty.lengths=five")
    assert "ascend" in fails("old.jsonl", "--corpus", "corpus.txt", "--set", "novelty.lengths=9-5")
    Path("bad.jsonl").write_text('{"id": "a", "text": "b"}\n')
    assert "bad.jsonl:1: expected" in fails("bad.jsonl", "--corpus", "corpus.txt")

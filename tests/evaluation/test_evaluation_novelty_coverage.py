"""Novelty against counting by hand, by brute force, and however the corpus is cut or stored."""

from __future__ import annotations

import gzip
import json
import math
import random
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from prorl_evaluation import EvaluationError
from prorl_evaluation.novelty import (
    LENGTHS,
    FileCorpus,
    Read,
    Response,
    TextCorpus,
    measure,
)
from prorl_evaluation.novelty import corpus as corpus_module
from prorl_evaluation.novelty.hashing import Grams, word_hashes

FOX = "the quick brown fox jumps over the lazy dog and runs far away"  # 13 words


def one(text: str, *documents: str, lengths: tuple[int, ...] = LENGTHS) -> tuple[float, ...]:
    (row,) = measure([Response("p", "g", 0, text)], TextCorpus(documents), lengths).rows
    return row.uniqueness


def plain_words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+|[-+*/=<>^]", text.lower())


def by_hand(text: str, documents: list[str], length: int) -> float:
    """L-uniqueness with sets of tuples."""
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


def test_a_copy_has_index_zero_and_a_new_text_has_the_number_of_lengths() -> None:
    assert one(FOX, FOX) == (0.0,) * 8
    assert one(FOX, "nothing in common here at all, not a single run of words") == (1.0,) * 8


def test_a_shared_run_covers_its_words_up_to_its_length_and_no_longer() -> None:
    shared = "fox jumps over the lazy dog"  # 6 of the 13 words
    found = dict(zip(LENGTHS, one(FOX, f"a {shared} today"), strict=True))
    assert found[5] == found[6] == pytest.approx(7 / 13)
    assert found[7] == found[12] == 1.0


def test_case_and_punctuation_do_not_count_and_signs_do() -> None:
    assert one(FOX, FOX.upper().replace(" ", ",\n")) == (0.0,) * 8
    sums = "x + 2 = 7 so x = 5 and y = 1 now"
    assert one(sums, sums) == (0.0,) * 8
    assert one(sums, sums.replace("+", "-"))[-1] == 1.0 - 12 / 14


def test_no_run_goes_across_the_end_of_a_document() -> None:
    first, second = FOX.split(" over ")
    assert one(FOX, f"{first} over", second, lengths=(5,)) == (0.0,)
    assert one(FOX, first, f"over {second}", lengths=(6,))[0] == pytest.approx(5 / 13)


def test_a_response_shorter_than_the_longest_run_has_no_novelty() -> None:
    (row,) = measure([Response("p", "g", 0, "only four words here")], TextCorpus([FOX])).rows
    assert row.words == 4 and math.isnan(row.creativity)
    (empty,) = measure([Response("p", "g", 0, "")], TextCorpus([FOX])).rows
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
    measured = measure(responses, TextCorpus(documents))
    assert measured.read.documents == 10
    for response, row in zip(responses, measured.rows, strict=True):
        wanted = [by_hand(response.text, documents, n) for n in LENGTHS]
        assert row.uniqueness == pytest.approx(wanted)
        assert row.creativity == pytest.approx(sum(wanted))


def test_less_memory_reads_the_corpus_again_and_changes_no_number(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = random.Random(3)
    words = [f"w{i}" for i in range(12)]
    texts = [" ".join(rng.choices(words, k=40)) for _ in range(20)]
    responses = [Response(f"p{i}", "g", 0, t) for i, t in enumerate(texts)]
    documents = TextCorpus([" ".join(rng.choices(words, k=3000))])
    whole = measure(responses, documents, (2, 3, 4))
    monkeypatch.setattr("prorl_evaluation.novelty.coverage.BYTES_A_WORD", 10_000)
    parts = measure(responses, documents, (2, 3, 4), memory_mb=1)
    assert whole.passes == 1 and parts.passes == 10
    assert parts.rows == whole.rows and parts.read == whole.read


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
        measured = measure(response, FileCorpus([file]))
        assert measured.rows[0].creativity == 0.0, file.name
        assert (measured.read.documents, measured.read.words) == (1, 13), file.name
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
        ("a.jsonl", '{"body": "x"}\n', "no column text, content, response; it has body"),
        ("a.jsonl", '{"text": 3}\n', "column text is int, not text"),
        ("a.jsonl", '{"text": "x"\n', "a.jsonl:1"),
        ("a.pdf", "x", "a corpus file ends in"),
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
    for path, said in ((tmp_path / "gone.txt", "no such corpus"), (tmp_path, "holds no file")):
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
    grams = Grams(words)
    starts = np.arange(len(words) - 6)
    assert (grams.all(7) == grams.at(starts, 7)).all()
    assert (Grams(words[5:]).all(7) == grams.all(7)[5:]).all()
    assert len(np.unique(word_hashes(" ".join(map(str, range(200_000))).encode()))) == 200_000

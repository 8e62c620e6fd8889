from __future__ import annotations

import gzip
import hashlib
import json
import re
import time
from pathlib import Path

import numpy as np
import pytest

from prorl_common import PluginError, UnknownNameError, use_plugins
from prorl_datasets.text.canonical import canonical_words
from prorl_datasets.text.duplicates import Edges, near_duplicates, rows_for
from prorl_datasets.text.hashing import (
    EMPTY,
    NGRAM,
    Profile,
    Signature,
    runs_of,
    signature_of,
    template_ngrams,
    word_hashes,
)
from prorl_datasets.text.index import BenchmarkIndex, Match
from prorl_datasets.text.view_index import Rules
from prorl_datasets.text.words import SUFFIXES, normalise_question, words

TRAIN = (
    "A train leaves Ghent at 9 o'clock with 120 passengers, loses a third of them at Bruges, takes "
    "on 45 more at Ostend and turns back. How many passengers arrive in Ghent when nobody leaves?"
)
CONE = (
    "A right circular cone of radius 7 lies on its side on a flat table and rolls without slipping "
    "until it is back where it began. How many turns about its own axis did it make if its height "
    "is 24?"
)
SHORT = "Compute the sum of all odd divisors of 360."
MANY = "the quick brown fox jumps over a lazy dog while nine grey cats sleep under that old tree"
PINNED_NGRAMS = [6048776477580754285, 8719671766644030614]
PINNED_NGRAM_DIGEST = "6121d2dd482f365fd50d2d92aeac35a7606e681064396ef7dd9ce92ea979b529"
PINNED_SIGNATURE_DIGEST = "d422e368bc9d375772f7be654f0930972d49d84f68a30f8a0b507775214a1112"

ITEMS = [("A", "1", TRAIN), ("A", "2", CONE), ("B", "1", SHORT), ("B", "2", "Find $x$.")]


@pytest.fixture(scope="module")
def index() -> BenchmarkIndex:
    return BenchmarkIndex.build(ITEMS)


def names(matches: list[Match]) -> set[tuple[str, str, str]]:
    return {(m.benchmark, m.item_id, m.rule) for m in matches}


def rows_of(data: Path, name: str) -> list[dict[str, object]]:
    with gzip.open(data / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def random_signatures(rows: int, seed: int = 0) -> Signature:
    return np.random.default_rng(seed).integers(0, 2**32, (rows, 128), dtype=np.uint32)


def changed(table: Signature, places: int, seed: int) -> Signature:
    """Return a copy with ``places`` random places of every row replaced."""
    result = table.copy()
    rng = np.random.default_rng(seed)
    for row in result:
        row[rng.permutation(128)[:places]] = rng.integers(0, 2**32, places, dtype=np.uint32)
    return result


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (r"The value of $\frac{1}{2}x$", "the value of 1/2 x"),
        (r"\(\dfrac12\)", r"$\tfrac{1}{2}$"),
        ("$1{,}000$ and $10,\\!000$", "1,000 and 10000"),
        (r"$\alpha \le \beta$", "α ≤ β"),
        (r"$\varphi(x^2)$", "φ(x²)"),
        (r"\left( x \right)\, \text{if } x<3", "(x) if x < 3"),
        ("Let’s don’t", "let's DON'T"),
        ("$x−5$", "x - 5"),
        ("A [asy]draw((0,0)--(1,1));[/asy] figure", "a figure"),
        (r"\begin{array}{cc} 1 & 2 \end{array}", "1 2"),
        ("ﬁnd ½", "find 1⁄2"),
        ("f\u0456nd the sum \u043ef \u0410\u0412", "find the sum of AB"),
        ("fi\u200bnd x\u00ad", "find x"),
    ],
)
def test_texts_that_print_alike_have_the_same_words(left: str, right: str) -> None:
    assert words(left) == words(right) != []


def test_signs_numbers_and_chinese_characters_are_words() -> None:
    assert words("$x^2-5x+6 < 3.14$") == ["x", "2", "-", "5", "x", "+", "6", "<", "3.14"]
    assert words("a right-angled 5-digit") == ["a", "right", "angled", "5", "digit"]
    assert words("大众 theory") == ["大", "众", "theory"]
    assert words("!? ...") == []


def test_hostile_texts_take_linear_time() -> None:
    start = time.monotonic()
    for text in ("[asy]", "[/asy] [asy]", "\\begin{", "-  ", "\\left\\begin {a} {", "1,000,", "x'"):
        words(text * (100_000 // len(text)))
    words("- " + " " * 400_000 + "x")
    assert time.monotonic() - start < 30


def test_problems_that_differ_in_a_sign_or_number_stay_different() -> None:
    forms = {normalise_question(f"Factor x^2{s}5x+{n}.") for s in "+-" for n in (4, 6)}
    assert len(forms) == 4


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_known_suffixes_do_not_count(suffix: str) -> None:
    assert normalise_question(f"What is 2 + 3?\n{suffix}") == "what is 2 + 3"
    assert normalise_question(f"{suffix}\n\nWhat is 2 + 3?") == "what is 2 + 3"


def test_hashes_are_pinned() -> None:
    text = f"{TRAIN} ½ α 大众 $x^2$"
    found = words(text)
    ngrams = runs_of(word_hashes(found), NGRAM)
    assert ngrams[:2].tolist() == PINNED_NGRAMS
    digest = hashlib.sha256(ngrams.astype("<u8").tobytes()).hexdigest()
    assert digest == PINNED_NGRAM_DIGEST
    digest = hashlib.sha256(Profile(text).exact.signature.astype("<u4").tobytes()).hexdigest()
    assert digest == PINNED_SIGNATURE_DIGEST


def test_an_ngram_hash_does_not_depend_on_where_it_stands() -> None:
    hashes = word_hashes(words(MANY))
    inside = runs_of(word_hashes(words(f"one two three {MANY} four five")), NGRAM)
    assert set(runs_of(hashes, NGRAM).tolist()) <= set(inside.tolist())
    assert len(np.unique(inside)) == len(inside)
    assert len(runs_of(hashes[:12], NGRAM)) == 0
    assert not set(runs_of(hashes, 5).tolist()) & set(inside.tolist())


def test_signatures_estimate_jaccard_similarity() -> None:
    rng = np.random.default_rng(1)
    pool = [f"w{i}" for i in range(3000)]
    for _ in range(5):
        cut = int(rng.integers(100, 900))
        left, right = pool[:1000], pool[cut : cut + 1000]
        true = (1000 - cut - 2) / (1000 + cut - 2)
        pair = [signature_of(word_hashes(w)) for w in (left, right)]
        assert abs(float((pair[0] == pair[1]).mean()) - true) < 0.15


def test_texts_of_any_length_have_a_signature() -> None:
    assert (Profile("…").exact.signature == EMPTY).all()
    assert not (Profile("yes").exact.signature == EMPTY).any()
    assert (Profile("yes no").exact.signature != Profile("no yes").exact.signature).any()
    long = " ".join(f"word{i}" for i in range(10_000))
    assert (Profile(long).exact.signature == Profile(f"{long}.").exact.signature).all()


def test_a_lone_surrogate_is_text_like_any_other(tmp_path: Path) -> None:
    text = f"\ud800 {TRAIN}"
    index = BenchmarkIndex.build([("A", "1", text)])
    index.save(tmp_path / "index.npz")
    assert BenchmarkIndex.load(tmp_path / "index.npz").matches(text)


def test_a_copy_sets_off_every_rule(index: BenchmarkIndex) -> None:
    found = index.matches(CONE)
    assert names(found) == {("A", "2", rule) for rule in ("question", "13-gram", "minhash")}
    assert {m.score for m in found} == {1.0}
    assert all("right circular cone" in m.shared for m in found)
    assert all(len(m.shared.split()) <= 40 for m in found)


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        (TRAIN.upper().replace(" ", "\n"), {"question", "13-gram", "minhash"}),
        (f"{TRAIN} {SUFFIXES[0]}", {"question", "13-gram", "minhash"}),
        (f"{MANY}. {TRAIN} {MANY} and so on {CONE[:40]} {MANY[:50]}", {"question", "13-gram"}),
        (TRAIN.replace("45", "54"), {"13-gram", "minhash"}),
        (TRAIN.replace("more ", "").replace("with ", ""), {"minhash"}),
        (TRAIN[: len(TRAIN) // 2], {"13-gram"}),
    ],
)
def test_planted_copies_are_found(index: BenchmarkIndex, text: str, rules: set[str]) -> None:
    found = {m.rule for m in index.matches(text) if (m.benchmark, m.item_id) == ("A", "1")}
    assert rules <= found


def test_other_problems_are_clean(index: BenchmarkIndex) -> None:
    assert index.matches(f"A train of ideas: {MANY}. How many passengers are cats?") == []
    assert index.matches("Compute the sum of all even divisors of 24.") == []
    assert index.matches("?!") == []
    assert index.matches("") == []


def test_short_questions_match_when_equal_and_from_eight_words_inside_a_text(
    index: BenchmarkIndex,
) -> None:
    assert names(index.matches("find X")) == {("B", "2", "question")}
    assert index.matches("Find x. Then find y.") == []
    found = index.matches(f"{MANY}. compute the sum of all odd divisors of $360$! {MANY}")
    assert names(found) == {("B", "1", "question")}


def test_boilerplate_of_many_questions_does_not_count() -> None:
    tail = "where m and n are relatively prime positive integers and find m + n as a number"
    items = [("A", str(i), f"Problem about thing{i} and other{i} {tail}") for i in range(6)]
    row = f"A wholly new question on {MANY} {tail}"
    strict = Rules(ngram_share=0.01, common=5)
    assert BenchmarkIndex.build(items, strict).matches(row) == []
    lax = Rules(ngram_share=0.01, common=7)
    assert {m.rule for m in BenchmarkIndex.build(items, lax).matches(row)} == {"13-gram"}


def test_copies_of_one_question_in_many_benchmarks_are_no_boilerplate() -> None:
    index = BenchmarkIndex.build((f"set {i}", "1", TRAIN) for i in range(9))
    found = [m for m in index.matches(f"{MANY} {TRAIN} {MANY}") if m.rule == "13-gram"]
    assert len(found) == 9


def test_template_ngrams_are_ignored(index: BenchmarkIndex) -> None:
    probes = [f"{TRAIN.replace('120', str(n))} Tell {n} cats." for n in (200, 300, 400)]
    template = template_ngrams(probes)
    assert (np.diff(template.astype(object)) > 0).all()
    row = probes[0]
    assert "13-gram" in {m.rule for m in index.matches(row)}
    assert "13-gram" not in {m.rule for m in index.matches(row, ignore=template)}
    assert "13-gram" in {m.rule for m in index.matches(row, ignore=template[:0])}
    assert len(template_ngrams([])) == len(template_ngrams([TRAIN])) == 0


def test_rules_are_configurable() -> None:
    row = TRAIN.replace("45", "54")
    everything = Rules(minhash=1.0, canonical_minhash=1.0, ngram_share=1.0, row_share=1.0)
    strict = BenchmarkIndex.build(ITEMS, everything)
    assert strict.matches(row) == []
    five = BenchmarkIndex.build(ITEMS, Rules(ngram=5))
    assert "5-gram" in {m.rule for m in five.matches(TRAIN)}
    with pytest.raises(ValueError, match="13-grams, but the index has 5-grams"):
        five.matches(Profile(TRAIN))


def test_an_empty_index_matches_nothing() -> None:
    assert BenchmarkIndex.build([]).matches(TRAIN) == []


def test_a_saved_index_has_the_same_bytes_and_matches(
    index: BenchmarkIndex, tmp_path: Path
) -> None:
    one, two, three = (tmp_path / name for name in ("one.npz", "two.npz", "three.npz"))
    index.save(one)
    BenchmarkIndex.build(ITEMS).save(two)
    BenchmarkIndex.load(one).save(three)
    assert one.read_bytes() == two.read_bytes() == three.read_bytes()
    loaded = BenchmarkIndex.load(one)
    assert loaded.rules == index.rules and len(loaded) == len(ITEMS)
    assert loaded.matches(TRAIN) == index.matches(TRAIN)


def test_bands_find_pairs_at_the_threshold() -> None:
    assert [rows_for(t) for t in (0.5, 0.8, 1.0)] == [3, 6, 128]
    for threshold in (0.0, 1.5):
        with pytest.raises(ValueError, match="threshold"):
            rows_for(threshold)


def test_near_duplicates_are_found_and_others_are_not() -> None:
    base = random_signatures(300)
    near, far = changed(base, 16, 1), changed(base, 48, 2)
    edges = near_duplicates(np.concatenate([base, near, far]), 0.8)
    assert [(e["early"], e["late"]) for e in edges] == [(i, 300 + i) for i in range(300)]
    assert np.allclose(edges["score"], 1 - 16 / 128)


def test_rows_without_words_are_no_duplicates() -> None:
    empty = np.full((3, 128), EMPTY)
    assert len(near_duplicates(empty, 0.8)) == 0
    assert len(near_duplicates(random_signatures(0), 0.8)) == 0


def kept_rows(edges: Edges, rows: int) -> list[int]:
    """Return for each row the first kept one that it duplicates, or itself."""
    kept = list(range(rows))
    pairs = [sorted((early, late)) for early, late, _ in edges.tolist()]
    for first, second in sorted(pairs, key=lambda pair: pair[::-1]):
        if kept[first] == first and kept[second] == second:
            kept[second] = first
    return kept


@pytest.mark.parametrize(("share", "most"), [(0.0, 1), (0.08, 1000), (0.23, 20_000)])
def test_twenty_thousand_alike_rows_do_not_explode(share: float, most: int) -> None:
    table = np.repeat(random_signatures(1), 20_000, axis=0)
    new = np.flatnonzero(np.random.default_rng(3).random(table.size) < share)
    table.ravel()[new] = new.astype(np.uint32)
    start = time.monotonic()
    edges = near_duplicates(table, 0.8)
    kept = kept_rows(edges, len(table))
    assert time.monotonic() - start < 60
    assert len(edges) < 20 * len(table)
    assert kept[0] == 0 and len(set(kept)) <= most


def test_pairs_inside_a_crowded_template_are_found() -> None:
    base = changed(np.repeat(random_signatures(1), 3000, axis=0), 32, 4)
    table = np.concatenate([base, changed(base, 6, 5)])
    kept = kept_rows(near_duplicates(table, 0.8), 6000)
    assert (np.array(kept[3000:]) == np.arange(3000)).mean() > 0.98


def test_signatures_of_another_shape_are_refused() -> None:
    with pytest.raises(ValueError, match="must be"):
        near_duplicates(np.zeros((3, 64), dtype=np.uint32), 0.8)


def test_one_problem_repeated_128_times_is_kept_once(test_data: Path) -> None:
    rows = rows_of(test_data, "contamination/pi1_repeated_128")
    texts = [row["prompt"][0]["content"] for row in rows]  # type: ignore[index]
    table = np.array([Profile(text).exact.signature for text in texts])
    assert set(kept_rows(near_duplicates(table, 0.8), 128)) == {0}


def test_real_leaks_are_found_and_unrelated_rows_are_clean(test_data: Path) -> None:
    amc = rows_of(test_data, "math/aimo_amc_2022_23")
    index = BenchmarkIndex.build(("AMC", str(i), str(r["question"])) for i, r in enumerate(amc))
    gaokao = rows_of(test_data, "math/gaokao2023en")
    leaked = [i for i, r in enumerate(gaokao) if index.matches(str(r["question"]))]
    assert {298, 301, 317, 324, 348} <= set(leaked)
    assert 25 <= len(leaked) <= 35
    college = rows_of(test_data, "math/college_math")[::8]
    assert not [r for r in college if index.matches(str(r["question"]))]


def test_model_made_paraphrases_are_found_by_their_stage_alone(test_data: Path) -> None:
    pairs = rows_of(test_data, "contamination/gsm8k_rephrase_pairs_even")[:100]
    index = BenchmarkIndex.build(
        ("GSM8K", str(i), str(r["gsm8k_test_question"])) for i, r in enumerate(pairs)
    )
    rewritten = [(str(i), str(r["rephrased"]).split("\nAnswer:")[0]) for i, r in enumerate(pairs)]
    assert not [text for _, text in rewritten if index.matches(text)]
    told = BenchmarkIndex(Rules(paraphrases=True), index.contents)
    found = [i for i, text in rewritten if i in {m.item_id for m in told.matches(text)}]
    assert len(found) >= 75


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Let $x$ and $y$ be real, $xy + y^2 = 7$.", "Let $k$ and $t$ be real, $kt + t^2 = 7$."),
        ("Triangle $ABC$ has $AB = 5$.", "Triangle $PQR$ has $PQ = 5$."),
        ("Ann gave Bob 3 pens. She left.", "Yusuf gave Mei 3 pens. He left."),
        ("$1,000.50$ or 1{,}000.5", "1000.50 or 1000.5"),
        ("twenty-five cats, one hundred and two dogs", "25 cats, 102 dogs"),
        ("two thousand five hundred of 3 million", "2500 of 3000000"),
        ("half of it, twice 5 hours, 60 mph", "1/2 of it, 2 times 5 h, 60 miles per hour"),
        ("$5 and 20%", "5 dollars and 20 percent"),
        (r"$\dbinom{5}{2} + x_{12}$", r"$\binom{5}{2} + y_1$"),
        ("def area(width): return width * 2", "def f(w): return w * 2"),
    ],
)
def test_texts_that_differ_in_names_and_numerals_have_the_same_canonical_words(
    left: str, right: str
) -> None:
    assert canonical_words(left) == canonical_words(right) != []


def test_canonical_words_keep_numbers_signs_and_telling_words() -> None:
    forms = {
        tuple(canonical_words(text))
        for text in ("Factor $x^2+5x$.", "Factor $x^2-5x$.", "Factor $x^2+6x$.", "Expand $x^2+5x$")
    }
    assert len(forms) == 4 - 1  # "Factor" and "Expand", capitalised, could be names
    assert canonical_words("one hundred and the rest") == ["100", "and", "rest"]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_known_suffixes_are_no_canonical_words(suffix: str) -> None:
    assert canonical_words(f"What is 2 + 3?\n{suffix}") == ["what", "is", "2", "+", "3"]


@pytest.mark.parametrize(
    "text", ["million ", "a1", "Ab", "aB_", "a(", "x_{", "def f(a, ", "one hundred and "]
)
def test_canonical_words_of_a_hostile_text_take_linear_time(text: str) -> None:
    start = time.process_time()
    canonical_words(text * (100_000 // len(text)))
    assert time.process_time() - start < 10


def test_a_renamed_copy_is_found_by_the_canonical_view_and_says_so() -> None:
    text = "Let $x$ and $y$ be such that $x^3 + 3xy = 14$ and $y = x - 2$. Find all $x + y$."
    renamed = text
    for old, new in (("x", "q"), ("y", "m")):
        renamed = re.sub(rf"(?<![A-Za-z]){old}(?![A-Za-z])", new, renamed.replace("xy", "x y"))
    index = BenchmarkIndex.build([("A", "1", text), *ITEMS[:2]])
    assert {m.view for m in index.matches(text)} == {"exact"}
    assert {(m.item_id, m.view, m.numbers) for m in index.matches(renamed)} == {
        ("1", "canonical", "same")
    }


def test_other_numbers_make_a_variant(index: BenchmarkIndex) -> None:
    assert {m.numbers for m in index.matches(TRAIN)} == {"same"}
    assert {m.numbers for m in index.matches(TRAIN[: len(TRAIN) // 2])} == {"same"}
    assert {m.numbers for m in index.matches(TRAIN.replace("45", "54"))} == {"other"}


@pytest.mark.parametrize(
    "text",
    [
        "Here is one for you: simplify $\\sqrt{242}$. Good luck!",
        "Simplify\n$\\sqrt{242}$\nand explain.",
        f"{TRAIN} Simplify $\\sqrt{{242}}$. {CONE}",
        "I must convert 57/160 to a terminating decimal by tomorrow.",
    ],
)
def test_a_short_question_is_found_in_company(text: str) -> None:
    items = ["Simplify $\\sqrt{242}$.", "Convert $57/160$ to a terminating decimal."]
    index = BenchmarkIndex.build(("S", str(i), item) for i, item in enumerate(items))
    assert {m.rule for m in index.matches(text)} == {"question"}


def test_a_short_question_that_says_little_or_goes_on_is_not_found_in_company() -> None:
    items = ["Simplify $\\sqrt{242}$.", "What is the value of $x$?"]
    items += [f"What is the value of {thing}?" for thing in ("gold", "two apples", "art", "time")]
    index = BenchmarkIndex.build(("S", str(i), item) for i, item in enumerate(items))
    assert index.matches("Simplify $\\sqrt{242 n}$ for me.") == []
    assert index.matches("If $3x = 12$, then how big is it? What is the value of $x$?") == []


def test_the_paraphrase_stage_finds_a_problem_in_other_words_when_it_is_on() -> None:
    told = (
        "From Ghent a train sets out at 9 o'clock carrying 120 passengers. A third of the passengers "
        "get off in Bruges, and in Ostend another 45 board before it turns. With how many does it "
        "come back to Ghent?"
    )
    off, on = (BenchmarkIndex.build(ITEMS, Rules(paraphrases=flag)) for flag in (False, True))
    assert off.matches(told) == []
    assert {(m.item_id, m.rule) for m in on.matches(told)} == {("1", "paraphrase")}
    assert on.matches(told.replace("120", "75").replace("45", "8")) == []
    assert on.matches("Nine of 120 passengers paid 45 dollars a third time.") == []


LETTERS_PLUGIN = """
from prorl_datasets import EmbedderSpec

def embed(texts):
    return [[text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]

LETTERS = EmbedderSpec("letters", embed, similarity=0.999)
BROKEN = EmbedderSpec("broken", lambda texts: [[1.0]] * (len(texts) + 1))
"""


def test_an_embedder_of_a_plugin_is_a_stage_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(LETTERS_PLUGIN)
    use_plugins([file])
    index = BenchmarkIndex.build(ITEMS, Rules(embedding="letters"))
    index.save(tmp_path / "index.npz")
    loaded = BenchmarkIndex.load(tmp_path / "index.npz")
    turned = " ".join(reversed(CONE.split()))
    for found in (index.matches(turned), loaded.matches(turned)):
        assert [(m.item_id, m.rule, m.score > 0.999) for m in found] == [("2", "embedding", True)]
    assert index.matches("Nothing of the kind.") == []
    with pytest.raises(PluginError, match="'broken' must give a finite vector for each of 4"):
        BenchmarkIndex.build(ITEMS, Rules(embedding="broken"))
    with pytest.raises(UnknownNameError, match="lettrs"):
        BenchmarkIndex.build(ITEMS, Rules(embedding="lettrs"))

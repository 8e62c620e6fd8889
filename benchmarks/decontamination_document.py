"""The text of docs/reference/decontamination.md around the measured tables.

Leaves out measuring (``decontamination.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import Any

_HEAD = r"""# Decontamination and near-duplicate search

When a training question counts as a copy of a benchmark question, and how well that works: for whoever reports a
benchmark number. `prorl_datasets.text` does it with numpy alone; hashes are equal on every machine.
`benchmarks/decontamination.py` measures and writes this page.

## Rules

A text is read in two views:

- **exact**: words in lower case after Unicode normalisation (NFKC, zero-width and lookalike letters), without LaTeX
  delimiters, spacing and font commands, figures (`[asy]`), punctuation and the sentences that data sets put around a
  question. `\frac{1}{2}` and `1/2`, `\alpha` and `α` agree; numbers and the signs + - < > are words.
- **canonical**: then variables, points, people, places and identifiers of code are one placeholder, numbers have one form
  (`1,000`, `1000.0`, `one thousand`), units are short, articles go.

On each view one rule is enough to drop a row; `decontamination.jsonl` says which (`rule`, `view`; the canonical view is
named for items that the exact one does not find):

| rule | the row is dropped when | default |
|---|---|---|
| question | its words equal the item's, or it holds the item as a whole (of at least `least_words` words) | 8 |
| | or a shorter item that has a number or two words that few items have: as whole sentences, or from 5 words on | |
| 13-gram (13 words in a row) | it has at least `ngram_share` of the item's distinct 13-grams, | 0.3 |
| | or `row_share` of its own 13-grams (and `row_ngrams` of them) are the item's | 0.6, 3 |
| minhash (estimates the share of common 3-word *shingles*) | signatures of 128 places agree in `minhash` of them (`canonical_minhash` on the canonical view); both texts of at least `least_words` words | 0.5, 0.6 |
| paraphrase (off; `decontamination: {paraphrases: true}`) | its numbers agree with the item's to 0.75 of their weight, and the words they share weigh as much as 2.4 words of one item alone and 0.15 of all their words; two numbers at least | |

All values but the last rule's are fields of `Rules`. Not counted: 13-grams that at least `common` (5) questions of the
index share, and those that `template_ngrams` finds in the texts of one generated family.

**The same problem with other numbers** is a variant. By default it counts: what differs from a test item in a few
constants teaches that item. `decontamination: {variants: keep}` keeps such rows and lists them with `dropped: false`;
`numbers: other` marks them in either case (neither text has all numbers of the other).

"""


_EMBEDDING = """A sentence-embedding model can be a stage of its own (`decontamination: {embedding: NAME}`, an `EmbedderSpec` of yours;
prorl ships none). With all-MiniLM-L6-v2 (22 million weights, mean of the tokens; `benchmarks/decontamination_embedding.py`),
by least cosine: the share of pairs found, and rows of GSM8K train (every eighth) that would go:

| cosine | GSM8K, rephrased | MMLU sociology, rephrased | MMLU sociology, in Chinese | GSM8K train dropped |
|---|---|---|---|---|
| 0.75 | 0.989 | 0.853 | 0.000 | 50 of 935 |
| 0.8 | 0.971 | 0.787 | 0.000 | 4 of 935 |
| 0.85 | 0.898 | 0.680 | 0.000 | 0 of 935 |
| 0.9 | 0.626 | 0.518 | 0.000 | 0 of 935 |

It reaches what has no numbers, at about 17 ms of one core a text; English alone. The default similarity is 0.85.

"""


def document(report: dict[str, Any], kinds: Sequence[str]) -> str:
    """Return the document of ``report``."""
    sections = [
        _HEAD,
        _what_was_measured(report),
        _recall(report),
        _paraphrases(report),
        _drops(report),
        _choice(report, kinds),
        _speed(report),
    ]
    return "".join(sections)


def table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return a Markdown table; shares are shown with three digits."""
    lines = [f"| {' | '.join(header)} |", "|" + "---|" * len(header)]
    lines += [f"| {' | '.join(map(_cell, row))} |" for row in rows]
    return "\n".join(lines) + "\n\n"


def _cell(value: Any) -> str:
    return (
        f"{value:.3f}"
        if isinstance(value, float)
        else f"{value:,}"
        if isinstance(value, int)
        else str(value)
    )


def _filled(text: str) -> str:
    return fill(text, 118, break_long_words=False, break_on_hyphens=False) + "\n\n"


def _what_was_measured(report: dict[str, Any]) -> str:
    counts = ", ".join(f"{name} {count:,}" for name, count in report["items"].items())
    return "## Recall\n\n" + _filled(
        f"The index holds {sum(report['items'].values()):,} public questions ({counts}). Rules and thresholds were chosen on "
        "items of even number; the probes below are made of those of odd number (of GSM8K every eighth), each found when "
        "its own item is matched. (One exception: that arguments of Python functions are names was added after misses on odd "
        "items.) `benchmarks/decontamination_changes.py` has the changes. Columns add up: the exact "
        "view, both views (what a build does), both views and the paraphrase stage."
    )


_STAGES = ("exact view", "both views", "with paraphrases")


def _recall(report: dict[str, Any]) -> str:
    return (
        table(["planted copy", "probes", *_STAGES], report["recall"])
        + "All numbers changed is a variant, not a copy (above). A question of few words has too little left when words go or half\n"
        "of it is cut.\n\n"
        + "Items with their options in the text (MMLU-STEM; our own benchmarks hold the question alone, so that options do not\n"
        "matter there):\n\n" + table(["planted copy", "probes", *_STAGES], report["choices"])
    )


def _paraphrases(report: dict[str, Any]) -> str:
    return (
        "## Paraphrases and translations\n\n"
        "Published pairs of lm-sys/llm-decontaminator (test questions rewritten by a model with the meaning kept, and\n"
        "translated). The stage was chosen on every other pair; the last column is the rest.\n\n"
        + table(["pairs", "number", *_STAGES, "of the rest"], report["pairs"])
        + "Questions without two numbers, and translations, are beyond the stage. So a clean report means no copy and no near\n"
        "copy, not that no test problem is known in other words. The published set of one problem repeated 128 times is\n"
        f"reduced to {report['pi1']} row.\n\n" + _EMBEDDING
    )


def _drops(report: dict[str, Any]) -> str:
    none = ", ".join(f"{name} {rows:,}" for name, rows, *by in report["drops"] if not _sum(by))
    shown = [
        [name, rows, *(_cell_of(counts) for counts in by)]
        for name, rows, *by in report["drops"]
        if _sum(by)
    ]
    unread = sum(counts[3] for _, _, *by in report["drops"] for counts in by)
    return (
        "## False drops\n\n"
        "What is dropped of other corpora, "
        + (f"all but {unread} read" if unread else "each read")
        + " by one reader: the same problem (a true leak), a *variant* (other\n"
        "numbers, or another last sentence to the same set-up), or another problem in the same *frame* (an option list, an\n"
        "answer format, a reminder), which is a false drop. Each cell: same / variant / frame; the second and third columns\n"
        "are what that stage adds.\n\n"
        + table(["corpus", "rows", "exact view", "canonical view adds", "paraphrases add"], shown)
        + _filled(f"Nothing dropped: {none}.")
        + _rates(report)
        + "- Variants are dropped on purpose (above).\n"
        "- The Gaokao 2023 file holds AMC 12 problems of 2023 under its own name, some in other words, which the paraphrase\n"
        "  stage finds; three MMLU questions are MATH-500's.\n"
        f"- Of our own generators (math, stem, instruction; twelve rows an entry, `prorl-136k-procedural`) "
        f"{report['generated'][1]} of {report['generated'][0]:,} rows\n"
        f"  would be dropped with all stages on, {report['generated'][2]} of these with an item's numbers.\n\n"
    )


def _sum(by: Sequence[Sequence[int]]) -> int:
    return sum(map(sum, by))


def _cell_of(counts: Sequence[int]) -> str:
    return " / ".join(map(str, counts[:3])) if sum(counts) else "-"


def _rates(report: dict[str, Any]) -> str:
    """Return the false drops of each set of stages, with Wilson's 95% interval."""
    lines = []
    for kind, chosen in (("unrelated corpora", True), ("corpora akin to a benchmark", False)):
        rows = [row for row in report["drops"] if (row[0] in report["unrelated"]) == chosen]
        total = sum(row[1] for row in rows)
        for name, last in zip(_STAGES, (1, 2, 3), strict=True):
            for what, labels in (("frame", (2, 3)), ("frame and variant", (1, 2, 3))):
                false = sum(c[label] for row in rows for c in row[2 : 2 + last] for label in labels)
                low, high = wilson(false, total)
                if what == "frame":
                    cells = [kind, name, f"{false} of {total:,}", f"{low:.3%} - {high:.3%}"]
                else:
                    cells.append(f"{false}")
            lines.append(cells)
    head = ["", "stages", "false drops", "95% interval", "with variants counted too"]
    return table(head, lines)


def wilson(hits: int, total: int, z: float = 1.96) -> tuple[float, float]:
    """Return Wilson's (1927) interval of a share."""
    share, square = hits / total, z * z / total
    middle = (share + square / 2) / (1 + square)
    half = z * ((share * (1 - share) + square / 4) / total) ** 0.5 / (1 + square)
    return max(0.0, middle - half), min(1.0, middle + half)


def _choice(report: dict[str, Any], kinds: Sequence[str]) -> str:
    sweep = [
        [f"{title} {threshold}", *values]
        for title, rows in report["sweep"].items()
        for threshold, *values in rows
    ]
    return (
        "## Choice of thresholds\n\n"
        "Each rule alone on its view (every sixth probe): recall by kind, then rows dropped of an eighth of the unrelated\n"
        "corpora, of the MATH test set outside MATH-500, and of half of the benchmark items, those that an item with another\n"
        "question would drop.\n\n"
        + table(["threshold", *kinds, "unrelated", "MATH rest", "among items"], sweep)
        + "- Canonical MinHash counts only what the exact view leaves; below 0.6 it drops problems of the same frame.\n"
        "- A single shared 13-gram, the rule of the GPT-3 paper, drops more than twice as many MATH rows as a share of 0.3,\n"
        "  most of the difference for answer formats and other boilerplate.\n"
        "- The share is of the item: a long row holds more chance overlaps. The row's own share finds pieces of an item.\n"
        "- MinHash at 0.5 is what finds changed numbers and deleted words.\n\n"
        "### Shingles of a signature\n\n"
        "Recall on MATH-500 at the threshold where each way drops 60 of the 4,500 other MATH rows. Wider shingles find more\n"
        "pieces, narrower ones more small changes.\n\n"
        + table(["shingle", "threshold", *kinds], report["shingles"])
    )


def _speed(report: dict[str, Any]) -> str:
    steps = dict(report["speed"])
    libraries = ", ".join(f"{name} {seconds}" for name, seconds in report["minhash"])
    return (
        f"## Speed\n\nCPU time of one process on a shared machine ({report['machine']}), best of five. Other work shares the\n"
        "cores: compare the stages, not the seconds.\n\n"
        + "\n".join(f"- {name}: {value}" for name, value in steps.items())
        + f"\n- one signature of 200 words, tokenised: {libraries}.\n"
        "  Ours pins its constants and its word hash (blake2b), so signatures are equal over versions and machines, which\n"
        "  neither library promises.\n\n"
        "Near-duplicate search at similarity 0.8 with the greedy choice of what stays:\n\n"
        + table(["signatures", "edges", "kept", "time"], report["duplicates"])
        + "A bucket is compared with eight centres and between neighbours, so time grows with rows, not with their square.\n"
        "The price: where similarity is not transitive, a pair in a crowded bucket can be missed; no pair below the\n"
        "threshold is ever reported.\n"
    )

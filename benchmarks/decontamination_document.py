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

Words are compared in lower case after Unicode normalisation (NFKC), without LaTeX delimiters, spacing and font
commands, figures (`[asy]`), punctuation and the sentences that data sets put around a question. `\frac{1}{2}` and
`1/2`, `\alpha` and `α` agree; numbers and the signs + - < > are words. One rule is enough to drop a row:

| rule | the row is dropped when | default |
|---|---|---|
| question | its words equal the item's, or it holds the item as a whole (of at least `least_words` words) | 8 |
| 13-gram (13 words in a row) | it has at least `ngram_share` of the item's distinct 13-grams, | 0.3 |
| | or `row_share` of its own 13-grams (and `row_ngrams` of them) are the item's | 0.6, 3 |
| minhash (estimates the share of common 3-word *shingles*) | signatures of 128 places agree in `minhash` of them; both texts of at least `least_words` words | 0.5 |

All values are fields of `Rules`. Not counted: 13-grams that at least `common` (5) questions of the index share, and
those that `template_ngrams` finds in the texts of one generated family. Texts below 13 words have no 13-gram; those
below 8 are dropped for equality alone.

"""


def document(report: dict[str, Any], kinds: Sequence[str]) -> str:
    """Return the document of ``report``."""
    sections = [
        _HEAD,
        _what_was_measured(report),
        _recall(report),
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
        f"The index holds {sum(report['items'].values()):,} public questions ({counts}). From each (of GSM8K every "
        "fourth) one probe of each kind was made, found when its own item is matched. The thresholds were chosen on these "
        "probes, so on other copies the rates may be lower."
    )


def _recall(report: dict[str, Any]) -> str:
    header = ["planted copy", "probes", "question", "13-gram", "minhash", "any rule"]
    lost = "\n".join(
        f"- {name}: {_cell(any_rule)} of {number:,} pairs (median similarity {_cell(similar)})"
        for name, number, *_, any_rule, similar in report["pairs"]
    )
    return (
        table(header, report["recall"])
        + "**What the rules cannot find:** paraphrases and translations. Published pairs of lm-sys/llm-decontaminator (test\n"
        "questions rewritten by a model with the meaning kept, and translated), share found by any rule:\n\n"
        f"{lost}\n\n"
        "So a clean report means no copy and no near copy, not that no test problem is known in other words. The published\n"
        f"set of one problem repeated 128 times is reduced to {report['pi1']} row.\n\n"
    )


def _drops(report: dict[str, Any]) -> str:
    header = ["corpus", "rows", "dropped", "same problem", "variant", "same frame only"]
    unread = sum(row[6] for row in report["drops"])
    none = ", ".join(f"{row[0]} {row[1]:,}" for row in report["drops"] if not row[2])
    return (
        "## False drops\n\n"
        "What the default rules drop of other corpora, "
        + (f"all but {unread} read" if unread else "each read")
        + " by one reader: the same problem (a true leak), a\n"
        "*variant* (other numbers, or another last sentence to the same set-up), or another problem in the same *frame* (an\n"
        "option list, an answer format, a reminder), which is a false drop.\n\n"
        + table(header, [row[:6] for row in report["drops"] if row[2]])
        + _filled(f"Nothing dropped: {none}.")
        + f"- False drops: {report['false']['unrelated']} of {report['false']['unrelated_rows']:,} rows of unrelated corpora, "
        f"{report['false']['related']} of {report['false']['related_rows']:,} of corpora akin to a benchmark.\n"
        "  The thresholds were chosen on these corpora too.\n"
        "- Variants are dropped on purpose: a question that differs from a test item in one constant teaches that item.\n"
        + _strict(report["drops"])
        + "- The Gaokao 2023 file holds AMC 12 problems of 2023 under its own name; three MMLU questions are MATH-500's.\n\n"
    )


def _strict(drops: Sequence[Sequence[Any]]) -> str:
    """Return what the rates are when a variant counts as a false drop as well."""
    rows, dropped, same = (sum(row[i] for row in drops) for i in (1, 2, 3))
    return f"  Who counts them as false drops too has {dropped - same} in {rows:,} rows.\n"


def _choice(report: dict[str, Any], kinds: Sequence[str]) -> str:
    sweep = [
        [f"{title} {threshold}", *values]
        for title, rows in report["sweep"].items()
        for threshold, *values in rows
    ]
    return (
        "## Choice of thresholds\n\n"
        "Each rule alone (every fourth probe), on the data it was chosen on: recall by kind, then rows dropped of the\n"
        "unrelated corpora, of the MATH test set outside MATH-500, and benchmark items that an item with another question\n"
        "would drop.\n\n"
        + table(["threshold", *kinds, "unrelated", "MATH rest", "among items"], sweep)
        + "- A single shared 13-gram, the rule of the GPT-3 paper, drops more than twice as many MATH rows as a share of 0.3,\n"
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
        f"## Speed\n\nCPU time of one process on a shared machine ({report['machine']}), best of five.\n\n"
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

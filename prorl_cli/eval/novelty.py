"""``prorl eval novelty``: how much of the responses occurs in a corpus or in the base's responses.

Tables and JSON go to stdout, messages to stderr. Leaves out: the numbers (``prorl_evaluation.novelty``).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from prorl_cli.console import make_progress, print_json, say, warn
from prorl_cli.eval import options as o
from prorl_cli.eval.tables import print_table
from prorl_cli.options import JsonNotTables, PluginOption, file_to_write
from prorl_common import UserError

if TYPE_CHECKING:
    from prorl_evaluation.novelty import Corpus

Results = Annotated[
    list[Path], typer.Argument(help="Result folders or .jsonl files, the first is the reference.")
]
CorpusPaths = Annotated[
    list[Path] | None,
    typer.Option(
        "--corpus",
        metavar="PATH",
        help="File or folder: text, JSON lines, CSV, Parquet; repeatable.",
    ),
]
AgainstPath = Annotated[
    Path | None, typer.Option("--against", help="The base's result folder, instead of a corpus.")
]
Lengths = Annotated[str, typer.Option(help="Shortest and longest n-gram in words.")]
Samples = Annotated[int | None, typer.Option(min=1, help="Only the first so many of a problem.")]
Each = Annotated[
    Path | None,
    typer.Option(
        help="Write each response's novelty to this .jsonl; prorl view shows novelty*.jsonl beside results.",
        callback=file_to_write,
    ),
]


def novelty_command(
    context: typer.Context,
    results: Results,
    corpus: CorpusPaths = None,
    column: Annotated[str | None, typer.Option(help="Column that holds the corpus text.")] = None,
    against: AgainstPath = None,
    lengths: Lengths = "5-12",
    samples: Samples = None,
    memory: Annotated[int, typer.Option(min=16, help="MB for the responses' n-grams.")] = 1024,
    seed: Annotated[int, typer.Option(help="Seed of the intervals.")] = 0,
    each: Each = None,
    json_out: JsonNotTables = False,
    plugin: PluginOption = None,
    config: o.ConfigFile = None,
    overrides: o.Sets = None,
) -> None:
    """Measure how much of the answers is in no text of a corpus.

    Creativity-index style: the share of words in no n-gram that the corpus has. Give --corpus, or --against with the base's results; nothing is downloaded.
    """
    from prorl_evaluation.novelty import FileCorpus, measure, read_responses
    from prorl_evaluation.novelty.against import against_base
    from prorl_evaluation.novelty.each import write_each
    from prorl_evaluation.novelty.summary import (
        change_table,
        changes,
        novelty_table,
        summarise,
        to_json,
    )
    from prorl_evaluation.stats.intervals import Resampling

    asked = o.settings(context, config, overrides, ("novelty",)).novelty
    sizes = _sizes(asked.lengths)
    if (asked.corpus is None) == (asked.against is None):
        raise UserError("give --corpus FILE_OR_FOLDER, or --against RESULT_FOLDER, one of the two")
    models = [read_responses(path, asked.samples) for path in results]
    held: Corpus
    if asked.against is None:
        paths = asked.corpus or []
        held = FileCorpus(paths, asked.column)
        count = len(held.files())
        called = paths[0].name if len(paths) == 1 else f"{len(paths)} corpora"
        called += f" ({count} file{'' if count == 1 else 's'})"
    else:
        base = read_responses(asked.against)
        split = against_base(base, models)
        held, called = split.corpus, split.described
        if split.control is None:
            warn(f"{base.label} has one sample a problem: no half is left as a control")
        else:
            models = [split.control, *models]
    responses = [r for m in models for r in m.responses]
    measured = measure(responses, held, sizes, asked.memory, make_progress())
    read = measured.read
    again = "" if measured.passes == 1 else f", read {measured.passes} times for want of memory"
    size = f"{read.words:,} words, {read.bytes / 1e6:,.1f} MB{again}"
    say(f"corpus: {read.documents:,} documents, {size}")
    if not read.words:
        warn("the corpus holds no words: everything is new beside nothing")
    if each is not None:
        labels = [m.label for m in models for _ in m.responses]
        write_each(zip(labels, measured.rows, strict=True), each)
        say(f"each response: {each}")

    how = Resampling(seed=asked.seed)
    rows = iter(measured.rows)
    scored = [(m.label, [next(rows) for _ in m.responses]) for m in models]
    groups = [g for label, own in scored for g in summarise(label, own, sizes, how)]
    found = changes(scored, sizes, how)
    if json_out:
        print_json(
            {
                "corpus": called,
                "read": {"documents": read.documents, "words": read.words},
                "lengths": list(sizes),
                "groups": [to_json(g) for g in groups],
                "changes": [to_json(c) for c in found],
            }
        )
        return
    print_table(novelty_table(groups, called))
    if found:
        print_table(change_table(found))
    for g in groups:
        if g.short:
            warn(
                f"{g.label}, {g.group}: {g.short} of {g.responses} responses have fewer than "
                f"{sizes[-1]} words and do not count"
            )


def _sizes(lengths: str) -> tuple[int, ...]:
    first, _, last = lengths.partition("-")
    if not (first.isdigit() and (last or first).isdigit()):
        raise UserError(f"--lengths is '{lengths}': give two numbers of words such as 5-12")
    low, high = int(first), int(last or first)
    if not 1 <= low <= high <= 64:
        raise UserError(f"--lengths is '{lengths}': they ascend and lie between 1 and 64")
    return tuple(range(low, high + 1))

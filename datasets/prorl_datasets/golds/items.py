"""The golds to audit: of a built dataset, of a recipe's sources before anything is built, or of a lone file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from prorl_common import NullProgress, UserError, nearest
from prorl_datasets.golds.audit import UNUSABLE, GoldItem, item_of
from prorl_datasets.recipe.recipe import Recipe, load_recipe, recipe_names
from prorl_datasets.rows.row import BadRow, Row
from prorl_datasets.sources.columns import map_row
from prorl_datasets.sources.file import SUFFIXES
from prorl_datasets.sources.readers import iter_rows
from prorl_datasets.sources.row_files import RowFileSettings
from prorl_datasets.sources.sources import find_files, raw_rows, row_of
from prorl_datasets.storage import COLUMNS, stream
from prorl_datasets.types import DatasetError

QUESTIONS = ("prompt", "problem", "question")
ANSWERS = ("answer", "final_answer", "expected_answer", "gold", "label")
"""Columns of a lone file that are taken for question and gold, the first that is there."""


def gold_items(
    target: str,
    *,
    prompt: str | None = None,
    answer: str | None = None,
    verifier: str = "math",
    mirror: Path | None = None,
) -> Iterator[GoldItem]:
    """Yield the golds of ``target``: a dataset (folder or Parquet file), a recipe (its sources that are not
    generated), or a file of rows, whose columns are named or found.

    Raises DatasetError: no such thing, a damaged file, columns that are not there.
    """
    path = Path(target)
    if path.is_dir() or (path.suffix == ".parquet" and _is_dataset(path)):
        for sample in stream(path):
            question = "\n".join(m["content"] for m in sample.prompt)
            response = sample.metadata.get("gold_response")
            text = response if isinstance(response, str) else None
            yield item_of(sample.id, sample.source, question, sample.task, text)
    elif path.name.endswith(SUFFIXES):
        yield from _of_file(path, prompt, answer, verifier)
    elif target.endswith((".yaml", ".yml")) or target in recipe_names():
        yield from _of_recipe(load_recipe(target), mirror)
    else:
        raise DatasetError(
            f"no dataset, recipe or file of rows: {target}{nearest(target, recipe_names())}; a file ends in "
            f"{', '.join(SUFFIXES)}"
        )


def _is_dataset(path: Path) -> bool:
    import pyarrow
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path) as file:
            return {*COLUMNS} <= {*file.schema_arrow.names}
    except (pyarrow.ArrowException, OSError):
        return False


def _of_file(
    path: Path, prompt: str | None, answer: str | None, verifier: str
) -> Iterator[GoldItem]:
    settings: RowFileSettings | None = None
    for number, (where, raw) in enumerate(iter_rows(path)):
        if settings is None:
            columns = {
                "prompt": _column(prompt, QUESTIONS, [*raw], "--prompt", where),
                "answer": _column(answer, ANSWERS, [*raw], "--answer", where),
            }
            settings = RowFileSettings(kind="file", columns=columns, keep=[])
        try:
            row = map_row(verifier, settings, raw, where, number)
        except BadRow as error:
            yield _bad(error, where, path.name)
            continue
        yield item_of(_place(where), path.name, row.question, row.task, row.gold)


def _column(
    asked: str | None, usual: tuple[str, ...], there: list[str], option: str, where: str
) -> str:
    found = asked if asked is not None else next((name for name in usual if name in there), None)
    if found is None or found not in there:
        name = asked or usual[0]
        raise DatasetError(
            f"{where}: no column '{name}'{nearest(name, there)}; columns here: {', '.join(there)}; name one with {option}"
        )
    return found


def _of_recipe(recipe: Recipe, mirror: Path | None) -> Iterator[GoldItem]:
    entries = [entry for entry in recipe.entries if not entry.generated]
    if not entries:
        raise DatasetError(
            f"recipe {recipe.name} has generators alone; their golds are audited in the dataset: "
            f"prorl data audit-golds data/{recipe.name}"
        )
    lock = Path("data") / f"{recipe.name}.lock.json"
    files = find_files(recipe, entries, lock, mirror, False, NullProgress())
    if files.failed:
        raise DatasetError(next(iter(files.failed.values())))
    for entry in entries:
        for index, (where, raw, *problem) in enumerate(raw_rows(entry, files)):
            try:
                if problem:
                    raise BadRow(where, problem[0], UNUSABLE)
                row = row_of(entry, raw, where, index)
            except UserError as error:
                yield _bad(error, where, entry.name)
                continue
            if isinstance(row, Row):
                yield item_of(_place(where), entry.name, row.question, row.task, row.gold)
            elif row.reason.startswith("gold: "):
                yield GoldItem(_place(where), entry.name, problem=(row.reason[6:], row.detail))


def _bad(error: UserError, where: str, source: str) -> GoldItem:
    reason = error.reason if isinstance(error, BadRow) else UNUSABLE
    detail = str(error).removeprefix(f"{where}: ")
    if reason.startswith("gold: "):
        rule = reason.removeprefix("gold: ")
    elif reason.endswith("is empty") and "prompt" not in detail:
        rule = "empty"
    else:
        rule = UNUSABLE
    return GoldItem(_place(where), source, problem=(rule, detail))


def _place(where: str) -> str:
    return where.rpartition("/")[2]

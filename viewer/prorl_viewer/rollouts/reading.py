"""Single rows of a step's rollout file, with all that it holds of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import compute, parquet

from prorl_common import UserError
from prorl_common.rollout_files import COLUMNS, read_rollouts, schema
from prorl_viewer.subject import NotFoundError

BATCH = 64
"""Rows that are read at a time to find one."""
COLUMNS_OF_TOKENS = tuple(name for name, column in COLUMNS.items() if column.kind.endswith("[]"))


def read_row(
    file: Path, row: int, columns: Sequence[str] | None = None, without: Sequence[str] = ()
) -> dict[str, Any]:
    """Return one row of a step's file: ``columns`` (None: all) but those ``without``; what the file lacks is null.

    The file is read in batches, as the tokens of a large step would fill the memory. Raises UserError for what is no
    such file, NotFoundError for a row that it does not have.
    """
    wanted = schema([name for name in columns or COLUMNS if name not in without])
    try:
        with parquet.ParquetFile(file) as found:
            there = [name for name in wanted.names if name in found.schema_arrow.names]
            first = 0
            for group in range(found.num_row_groups):
                rows = found.metadata.row_group(group).num_rows
                if first <= row < first + rows:
                    for batch in found.iter_batches(BATCH, [group], there):
                        if row < first + batch.num_rows:
                            one = pa.Table.from_batches([batch]).slice(row - first, 1)
                            cast = {n: one[n].cast(wanted.field(n).type)[0].as_py() for n in there}
                            return dict.fromkeys(wanted.names) | cast
                        first += batch.num_rows
                first += rows
    except FileNotFoundError:
        pass
    except (pa.ArrowException, OSError, ValueError) as error:
        line = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(f"{file}: not a readable rollouts file ({line})") from error
    raise NotFoundError(f"{file.name} has no row {row}")


def read_group(file: Path, sample_id: str) -> list[dict[str, Any]]:
    """Return the rows of a step's file that answer one prompt, without their tokens, with "row", their number in the file.

    Raises UserError for what is no such file, NotFoundError where there are none.
    """
    if not file.is_file():
        raise NotFoundError(f"the run has no rollouts of that step: {file.name} is not there")
    names = [name for name in COLUMNS if name not in COLUMNS_OF_TOKENS]
    table = read_rollouts(file, names, carried=True)
    table = table.append_column("row", pa.array(range(table.num_rows), pa.int64()))
    try:
        rows = table.filter(compute.equal(table["sample_id"], sample_id)).to_pylist()
    except UnicodeDecodeError as error:
        raise UserError(f"{file}: a text in it is not UTF-8") from error
    if not rows:
        raise NotFoundError(f"{file.name} has no responses to '{sample_id}'")
    return [dict(row) for row in rows]

"""Columns of a run's rollout files (``rollouts/step_000012.parquet``), and a reader."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from prorl_common.errors import UserError, nearest

if TYPE_CHECKING:
    import pyarrow as pa


class Column(NamedTuple):
    """Type (``[]`` marks a list) and meaning of a column; ``first`` says whether all prorl versions wrote it."""

    kind: str
    meaning: str
    first: bool = False


COLUMNS = {
    "step": Column(
        "int64", "the step of the file, in which the response's group was completed", True
    ),
    "sample_id": Column("string", "id of the row of the dataset", True),
    "sample_index": Column("int64", "number of the response in its group", True),
    "domain": Column("string", "the row's domain", True),
    "task": Column("string", "the row's task: the family of a generated row, else the source"),
    "level": Column("string", "size within the family: `level 3`, or a configuration as JSON"),
    "verifier": Column("string", "name of the verifier that scored the response", True),
    "reference": Column("string", "reference answer of the verifier, JSON", True),
    "prompt": Column("string", "chat messages, JSON, before the chat template"),
    "response": Column(
        "string", "text without special tokens; of an environment's rollout, the last turn", True
    ),
    "tokens": Column("int64", "tokens of the response, the end token included", True),
    "finish_reason": Column("string", "`stop`, or `length` if the token limit cut it", True),
    "reward": Column("float64", "raw reward; null without a verdict", True),
    "shaped_reward": Column("float64", "reward from which the advantage is computed", True),
    "advantage": Column("float32", "advantage; null if the step did not train on the group"),
    "status": Column("string", "status of the verdict", True),
    "reason": Column("string", "reason of the verdict, one line", True),
    "extracted": Column("string", "the answer that was scored; null if none was found"),
    "isolation": Column("string", "how code was run", True),
    "seconds": Column("float32", "time that the verdict took"),
    "metrics": Column("string", "the verifier's other numbers, JSON"),
    "kept": Column("bool_", "whether the step trained on the group", True),
    "carried": Column("bool_", "whether an earlier step sampled it; that step's file has it too"),
    "place": Column("int64", "number of the response in the update; null if it was not part of it"),
    "policy_first": Column(
        "int64", "step of the policy that sampled the first token (0: the start)"
    ),
    "policy_last": Column("int64", "step of the policy that sampled the last token"),
    "turns": Column(
        "string", "environments: the conversation after the prompt, chat messages as JSON"
    ),
    "ended": Column("string", "environments: what ended it (`answer`, `turns` or `tokens`)"),
    "token_ids": Column("int32[]", "the response's tokens"),
    "token_policies": Column("int32[]", "step of the policy that sampled each token"),
    "given": Column("int32[]", "start and stop of each range of tokens an environment wrote"),
    "sampler_logprobs": Column("float32[]", "the sampler's log-prob of each token, in nats"),
    "trainer_logprobs": Column("float32[]", "the trainer's log-probs before the update"),
}
"""The columns of a rollout file by name, in order."""


def schema(columns: Sequence[str] | None = None) -> pa.Schema:
    """Return the pyarrow schema of ``columns`` (default: all). Raises UserError for an unknown name."""
    import pyarrow as pa

    names = list(COLUMNS if columns is None else columns)
    for name in names:
        if name not in COLUMNS:
            raise UserError(f"rollouts have no column '{name}'{nearest(name, list(COLUMNS))}")

    def kind_of(name: str) -> Any:
        single, many, _ = COLUMNS[name].kind.partition("[")
        kind = getattr(pa, single)()
        return pa.list_(kind) if many else kind

    return pa.schema([(name, kind_of(name)) for name in names])


def rollout_files(run: Path) -> dict[int, Path]:
    """Return {step: path} of a run's rollout files, ordered by step."""
    named = (run / "rollouts").glob("step_*.parquet")
    files = {step_of(p): p for p in named if p.stem[5:].isdecimal() and p.is_file()}
    return dict(sorted(files.items()))


def rollout_file(run: Path, step: int) -> Path:
    return run / "rollouts" / f"step_{step:06d}.parquet"


def step_of(file: Path) -> int:
    """Return the step of a rollout file. Raises UserError for other names."""
    number = file.stem.removeprefix("step_")
    if not number.isdecimal():
        raise UserError(
            f"{file}: not a rollouts file, which has a name such as step_000012.parquet"
        )
    return int(number)


def read_rollouts(
    file: Path, columns: Sequence[str] | None = None, carried: bool = False
) -> pa.Table:
    """Read ``columns`` (default: all) of a rollout file, with the types of :func:`schema`.

    Columns that an older file lacks are null. Responses carried over from an earlier step are left out unless
    ``carried``, because that step's file has them too. Raises UserError if ``file`` is not a rollout file.
    """
    import pyarrow as pa
    from pyarrow import compute, parquet

    expected = schema(columns)
    try:
        with parquet.ParquetFile(file) as parquet_file:
            present = parquet_file.schema_arrow.names
            lacking = [
                name for name in expected.names if COLUMNS[name].first and name not in present
            ]
            if lacking:
                raise UserError(
                    f"{file} is not a rollouts file: it has no column {', '.join(lacking)}"
                )
            read = {*expected.names, "carried"} & {*present}
            table = parquet_file.read(columns=sorted(read))
        rows = table.num_rows
        if not carried and "carried" in read:
            table = table.filter(compute.invert(compute.fill_null(table["carried"], False)))
            rows = table.num_rows
        arrays = [
            table[field.name].cast(field.type) if field.name in read else pa.nulls(rows, field.type)
            for field in expected
        ]
    except (pa.ArrowException, OSError) as error:
        first = (str(error).splitlines() or [type(error).__name__])[0]
        raise UserError(f"{file}: not a readable Parquet file ({first})") from error
    return pa.Table.from_arrays(arrays, schema=expected)

"""Read a task file of lm-evaluation-harness: YAML with ``include`` and ``!function``, of which nothing is run.

Leaves out: what its keys mean (``harness_task``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from prorl_common import why_unreadable
from prorl_evaluation.types import EvaluationError

MAX_BYTES = 2**20
MAX_INCLUDES = 16
MAX_FILES = 64
"""Files that one task may be made of, each inclusion counted."""
MAX_DIGITS = 40
"""Characters of a number: ``1:1:1...`` is one as well, and takes hours where it is long."""


class Code(str):
    """What a ``!function`` tag names: Python code, which is never imported."""

    __slots__ = ()


class _Loader(yaml.SafeLoader):
    """Plain values and ``!function``; aliases are refused, as a few of them can stand for gigabytes."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.events.AliasEvent):
            raise yaml.composer.ComposerError(None, None, "aliases (*name) are not read")
        return super().compose_node(parent, index)


def _code(loader: yaml.SafeLoader, node: yaml.Node) -> Code:
    return Code(node.value if isinstance(node, yaml.ScalarNode) else "...")


def _number(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> int | float:
    if len(str(node.value)) > MAX_DIGITS:
        raise yaml.constructor.ConstructorError(
            None, None, f"a number is longer than {MAX_DIGITS} characters", node.start_mark
        )
    if node.tag == "tag:yaml.org,2002:int":
        return int(loader.construct_yaml_int(node))
    return float(loader.construct_yaml_float(node))


_Loader.add_constructor("!function", _code)
for _kind in ("int", "float"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_kind}", _number)


def read_task_file(path: Path) -> dict[str, Any]:
    """Return the file's keys over those of the files it includes (the later of them wins).

    Raises EvaluationError in one line for a file that is missing, damaged, too large or includes itself.
    """
    return _read(path, (), [])


def _read(path: Path, within: tuple[Path, ...], seen: list[Path]) -> dict[str, Any]:
    where = path.resolve()
    if where in within or len(within) >= MAX_INCLUDES:
        raise EvaluationError(f"{path}: include goes in a circle or deeper than {MAX_INCLUDES}")
    seen.append(where)
    if len(seen) > MAX_FILES:
        raise EvaluationError(f"{path}: the task is made of more than {MAX_FILES} files")
    try:
        if not where.is_file():  # a device or a pipe would never end
            raise EvaluationError(f"{path}: no file")
        if path.stat().st_size > MAX_BYTES:
            raise EvaluationError(f"{path} is larger than {MAX_BYTES // 2**20} MiB: no task file")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise EvaluationError(f"{path} cannot be read: {why_unreadable(error)}") from error
    try:
        found = yaml.load(text, Loader=_Loader)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise EvaluationError(f"{path}: not valid YAML ({' '.join(str(error).split())})") from error
    if not isinstance(found, dict):
        raise EvaluationError(f"{path}: no task of lm-evaluation-harness, it holds no keys")
    includes = found.pop("include", [])
    merged: dict[str, Any] = {}
    for name in includes if isinstance(includes, list) else [includes]:
        inherited = _read(path.parent / str(name), (*within, where), seen)
        inherited.pop("task_list", None)
        merged.update(inherited)
    return {**merged, **found}

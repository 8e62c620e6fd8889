from __future__ import annotations

import ast
import re
import types
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from prorl_evaluation.config import EvalConfig
from prorl_training.config import TrainConfig

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("common", "sandbox", "verifiers", "datasets", "inference", "training", "evaluation")
TREES: tuple[type[BaseModel], ...] = (TrainConfig, EvalConfig)
NAME = r"[a-z_]+(?:\.[\w-]+)*"
ASSIGNED = re.compile(rf"(?<![\w./?&\[(])({NAME}\.[a-z_]+)=(?=[\w\[{{'\".])")
SET = re.compile(rf"--set\s+['\"]?({NAME})=")
CODE = re.compile(rf"`({NAME}\.[a-z_]+)(?:=[^`]*)?`")
NOT_OURS = {
    "section.key",
    "a.b",
    "model.generate",
    "kernel.apparmor_restrict_unprivileged_userns",
    "kernel.unprivileged_userns_clone",
    "actor_rollout_ref.actor.use_kl_loss",
    "trainer.v1.trainer_mode",
    "reward.custom_reward_function.name",
    "reward.custom_reward_function.path",
    "reward.custom_reward_function.reward_kwargs.url",
}
"""Placeholders, a method of Transformers, and settings of the kernel and of verl."""
FILES = {
    "json", "jsonl", "yaml", "parquet", "safetensors", "py", "md", "svg", "txt", "html", "toml",
}  # fmt: skip


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield the models in a field's annotation, at any depth."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in typing.get_args(annotation):
        yield from _models(part)


def _exists(names: list[str], model: type[BaseModel]) -> bool:
    """Return whether the path leads to a field; list items and mapping keys may have any name."""
    field = model.model_fields.get(names[0])
    if field is None:
        return False
    annotation, rest = field.annotation, names[1:]
    parts = [annotation]
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        parts = list(typing.get_args(annotation))
    origins = {typing.get_origin(part) or part for part in parts}
    if not rest or origins & {dict, Mapping, Any}:
        return True
    if origins & {list, tuple}:
        return len(rest) == 1 or any(_exists(rest[1:], inner) for inner in _models(annotation))
    return any(_exists(rest, inner) for inner in _models(annotation))


def _is_setting(name: str) -> bool:
    return any(_exists(name.split("."), tree) for tree in TREES)


def _looks_like_one(name: str) -> bool:
    """Return whether a dotted name looks like a setting: its first part is a section."""
    first, *_, last = name.split(".")
    return last not in FILES and any(first in tree.model_fields for tree in TREES)


def _wrong(text: str) -> set[str]:
    names = {*ASSIGNED.findall(text), *SET.findall(text)}
    names |= {name for name in CODE.findall(text) if _looks_like_one(name)}
    return {name for name in names - NOT_OURS if not _is_setting(name)}


def _wrong_in_strings(source: str) -> set[str]:
    """Return the unknown settings in a module's strings, without docstrings, which name modules too."""
    if not _wrong(source):
        return set()
    tree = ast.parse(source)
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    strings = [node.value for node in nodes if isinstance(node.value, str) and id(node) not in docs]
    return set().union(*map(_wrong, strings))


def _pages() -> list[Path]:
    rooms = [*PACKAGES, "viewer", "prorl", "prorl_cli", "examples"]
    files = [path for room in rooms for path in sorted((ROOT / room).rglob("*.py"))]
    return [*files, *sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("[!C]*.md"))]


@pytest.mark.parametrize(
    "name", ["reward.allow_weak", "phases.0.steps", "data.domain_weights.code"]
)
def test_a_setting_is_known(name: str) -> None:
    assert _is_setting(name)


def test_every_setting_that_a_text_names_exists() -> None:
    wrong: list[str] = []
    for path in _pages():
        text = path.read_text()
        names = _wrong(text) if path.suffix == ".md" else _wrong_in_strings(text)
        wrong += [f"{path.relative_to(ROOT)}: {name}" for name in sorted(names)]
    assert not wrong, "\n".join(wrong)

"""Which evaluation folders are shown together, as the models of one evaluation, and in which order.

Together are: the folders of one run (or, outside runs, below one folder) of one dataset sampled in one way; the
benchmarks of a suite; and all folders that were given by name. The baseline comes first: the order given, else a run's
base, then its steps, else as they were made.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prorl_evaluation.sampling.choose import settings_hash
from prorl_evaluation.sampling.job import EVAL_FILE
from prorl_evaluation.suites.runner import SUITES
from prorl_evaluation.types import RESULT_FILE, EvalSettings
from prorl_viewer.evaluations.models import Model
from prorl_viewer.evaluations.parts import Part

DAMAGED = (ValueError, KeyError, TypeError, AttributeError, ArithmeticError)
"""What settings of other types than prorl writes lead to."""


@dataclass(frozen=True, slots=True)
class Group:
    """The models of one evaluation, the baseline first, under the name and folder they have in common."""

    name: str
    path: Path
    models: tuple[Model, ...]


@dataclass(frozen=True, slots=True)
class _Found:
    """An evaluation folder; ``benchmark`` of a suite or empty, ``root`` is what holds all models."""

    folder: Path
    settings: EvalSettings | None
    benchmark: str
    root: Path


def group(folders: Sequence[Path], given: Sequence[Path] = ()) -> list[Group]:
    """Return the evaluations in ``folders``; ``given`` are those that the user named one by one."""
    named = {path.resolve() for path in given}
    found = [_look(folder) for folder in folders]
    chosen = [f for f in found if f.folder.resolve() in named]
    together: dict[Any, list[_Found]] = {}
    for one in found:
        key = "given" if len(chosen) > 1 and one in chosen else _key(one)
        together.setdefault(key, []).append(one)
    return [_group(own, in_order=key == "given") for key, own in together.items()]


def _look(folder: Path) -> _Found:
    """Read what says where a folder belongs; what is damaged is said when it is opened."""
    for name in (EVAL_FILE, RESULT_FILE):
        try:
            row = json.loads((folder / name).read_text(encoding="utf-8"))
            found = _placed(folder, EvalSettings(**row["settings"]))
            hash(_key(found))
        except (OSError, RecursionError, *DAMAGED):
            continue
        return found
    return _Found(folder, None, "", folder.parent)


def _placed(folder: Path, settings: EvalSettings) -> _Found:
    path = settings.dataset.get("path", "")
    benchmark, above = path.partition("/")[2], folder.parent.parent
    # a suite writes <root>/<model>/<benchmark>-<hash>
    if benchmark and folder.name.startswith(f"{benchmark}-") and _holds_suites(above):
        return _Found(folder, settings, benchmark, above)
    return _Found(folder, settings, "", folder.parent)


def _holds_suites(root: Path) -> bool:
    return root.name == SUITES or next(root.glob("suite-*.json"), None) is not None


def _key(found: _Found) -> tuple[object, ...]:
    s = found.settings
    if s is None:
        return (found.folder,)
    if found.benchmark:
        limit = s.dataset.get("limit")
        suite = s.dataset.get("path", "").partition("/")[0]
        sampled = (s.temperature, s.top_p, s.max_tokens, s.seed, s.backend, str(dict(s.extra)))
        return (found.root, suite, limit, sampled)
    return (
        found.root,
        settings_hash(s, None),
        s.dataset.get("limit"),
        s.backend,
        str(dict(s.extra)),
    )


def _group(found: Sequence[_Found], in_order: bool) -> Group:
    by_model: dict[Path, list[_Found]] = {}
    for one in found:
        by_model.setdefault(one.folder.parent if one.benchmark else one.folder, []).append(one)
    places = list(by_model)
    if not in_order:
        places.sort(key=_order)
    keys = _keys(places)
    models = []
    for place, key in zip(places, keys, strict=True):
        parts = {one.benchmark: Part(one.folder) for one in by_model[place]}
        models.append(Model(key, parts))
    roots = list(dict.fromkeys(one.root for one in found))
    root = roots[0] if len(roots) == 1 else _common(roots)
    return Group(_name(found, root), root if len(found) > 1 else found[0].folder, tuple(models))


def _order(place: Path) -> tuple[bool, str, float, str]:
    """Order a run's base first, then its steps; others by the time they were begun."""
    slug = _slug(place)
    if slug == "base":
        return (False, "", 0.0, "")
    if slug.startswith("step_"):
        return (True, slug, 0.0, "")
    times = [f.stat().st_mtime for f in place.rglob(EVAL_FILE)] or [0.0]
    return (True, "~", min(times), place.name)


def _slug(place: Path) -> str:
    """Return a model's name in ``<model>-<hash>``; in a suite and below ``--out`` the folder is the name."""
    slug, dash, suffix = place.name.rpartition("-")
    is_hash = len(suffix) == 8 and all(c in "0123456789abcdef" for c in suffix)
    return slug if dash and is_hash else place.name


def _keys(places: Sequence[Path]) -> list[str]:
    """Return a short name for each model's folder, all different."""
    by_parent = [f"{p.parent.name}-{_slug(p)}" for p in places]
    for names in ([_slug(p) for p in places], [p.name for p in places], by_parent):
        if len(set(names)) == len(names):
            return names
    return [f"{name}-{at}" for at, name in enumerate(by_parent, start=1)]


def _common(roots: Sequence[Path]) -> Path:
    common = roots[0]
    while not all(root.is_relative_to(common) for root in roots):
        common = common.parent
    return common


def _name(found: Sequence[_Found], root: Path) -> str:
    """Return the evaluation's name: the folder's, a run's name before ``eval`` or ``suites``."""
    if len(found) == 1:
        return found[0].folder.name
    inside = root.name in ("eval", SUITES) and (root.parent / "config.yaml").is_file()
    return f"{root.parent.name}-{root.name}" if inside else root.name or "evaluations"

"""Makes a ladder: a recipe with every generator at each of its sizes, so that a model can rate them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from prorl_common import Progress, nearest
from prorl_datasets.recipe.recipe import Recipe
from prorl_datasets.types import DatasetError, Split


def ladder(
    recipe: Recipe, items: int, split: Split, only: Sequence[str], progress: Progress
) -> dict[str, Any]:
    """Return a recipe file's contents, with ``items`` rows of each problem size of each generated entry.

    The sizes of entry ``logic-gcd`` become entries ``logic-gcd.now``, ``logic-gcd.l0`` and so on. ``only`` names
    entries (empty: all). Raises DatasetError for an unknown name, or if no entry has sizes.
    """
    generated = {entry.name: entry for entry in recipe.entries if entry.spec.rungs is not None}
    for name in only:
        if name not in generated:
            raise DatasetError(
                f"recipe {recipe.name} has no generated entry '{name}'{nearest(name, generated)}"
            )
    chosen = [generated[name] for name in only] if only else list(generated.values())
    if not chosen:
        raise DatasetError(f"recipe {recipe.name} has no generated entries, so it has no ladder")
    progress.start("sizes of each generator", len(chosen))
    entries: list[dict[str, Any]] = []
    for entry in chosen:
        assert entry.spec.rungs is not None
        about = entry.model_dump(
            mode="json", exclude={"name", "source", "count"}, exclude_defaults=True
        )
        for label, settings in entry.spec.rungs(entry.source).items():
            entries.append(
                {
                    "name": f"{entry.name}.{label}",
                    **about,
                    "source": settings.model_dump(mode="json"),
                    "count": {split: items},
                }
            )
        progress.advance()
    progress.finish()
    return {
        "name": f"{recipe.name}-ladder",
        "description": f"Every generator of {recipe.name} at each of its sizes, to be rated.",
        "seed": recipe.seed,
        "prompts": dict(recipe.prompts),
        "decontamination": {"benchmarks": []},
        "max_loss": 1.0,
        "plugins": [str((recipe.base or Path()) / path) for path in recipe.plugins],
        "entries": entries,
    }


def rungs_taken(
    manifest: Mapping[str, Any], names: Collection[str], count: Mapping[Split, int]
) -> dict[str, Any]:
    """Return the dataset's recipe with only the entries ``names``, ``count`` rows each. Raises DatasetError."""
    recipe = _without_nulls(manifest["resolved_recipe"])
    taken = [
        _without_nulls(entry) | {"count": dict(count)}
        for entry in recipe["entries"]
        if entry["name"] in names
    ]
    if not taken:
        raise DatasetError(
            f"no size of {recipe['name']} is in the band, so there is no recipe to write"
        )
    about = f"The sizes of {recipe['name']} whose pass rate is in a band."
    return recipe | {"name": f"{recipe['name']}-tuned", "description": about, "entries": taken}


def _without_nulls(settings: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in settings.items() if value is not None}

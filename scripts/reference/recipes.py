"""Tables of the packaged recipes, adapters, columns of files and datasets, and default prompts."""

from __future__ import annotations

from prorl_datasets import ADAPTERS, RECIPES
from prorl_datasets.recipe.recipe import load_recipe
from prorl_datasets.storage import COLUMNS
from prorl_datasets.types import DOMAINS
from prorl_verifiers import VERIFIERS
from reference.markdown import code_list, table


def packaged() -> str:
    """Return prorl's recipes with their descriptions, as in ``prorl data recipes``."""
    ours = [name for name in RECIPES.names() if RECIPES.find(name)[1].is_ours]
    rows = [(f"`{name}`", load_recipe(name).description) for name in ours]
    return table(("recipe", "what it is"), rows)


def prompts() -> str:
    """Return the text that each domain's default prompt adds after the question."""
    said = {
        domain: VERIFIERS.get(domain).data.prompt.format(question="").strip() for domain in DOMAINS
    }
    rows = [(domain, f"`{words}`" if words else "nothing") for domain, words in said.items()]
    return table(("domain", "behind the question"), rows)


def file_columns() -> str:
    """Return the required and optional file columns of each of prorl's verifiers, the five domains first."""
    ours = [name for name in VERIFIERS.names() if VERIFIERS.origin(name).is_ours]
    specs = [VERIFIERS.get(name) for name in dict.fromkeys((*DOMAINS, *ours))]
    rows = [
        (
            spec.name,
            code_list(("prompt", *spec.data.columns)),
            code_list(spec.data.optional_columns),
        )
        for spec in specs
    ]
    return table(("verifier", "needed", "if there"), rows)


def adapters() -> str:
    """Return prorl's adapters for recipes with the columns that they read.

    ``[column]`` is optional; of ``a / b``, the first present one is read.
    """
    ours = [ADAPTERS.get(name) for name in ADAPTERS.names() if ADAPTERS.origin(name).is_ours]
    rows = [
        (
            f"`{spec.name}`",
            spec.domain or "any",
            ", ".join(_column(names) for names in spec.columns),
            spec.summary,
        )
        for spec in sorted(ours, key=lambda spec: (spec.domain or "", spec.name))
        if spec.convert is not None
    ]
    return table(("adapter", "domain", "columns", "data set"), rows)


def _column(names: tuple[str, ...]) -> str:
    shown = " / ".join(name for name in names if name)
    return shown if names[0] else f"[{shown}]"


def dataset_columns() -> str:
    """Return the columns of a built dataset."""
    return table(("column", "meaning"), [(f"`{name}`", words) for name, words in COLUMNS.items()])

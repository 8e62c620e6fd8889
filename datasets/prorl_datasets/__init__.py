"""Build, read, inspect, export and publish datasets."""

from typing import TYPE_CHECKING

from prorl_common.lazy import load_on_use

if TYPE_CHECKING:
    from prorl_datasets.building.builder import BuildOptions, build
    from prorl_datasets.building.checking import VerifyReport, verify_dataset
    from prorl_datasets.building.report import BuildReport
    from prorl_datasets.candidate import Drop, Row, prompt_key
    from prorl_datasets.examining import Examined, examine_sources
    from prorl_datasets.exporting import FORMATS, export
    from prorl_datasets.hub.reach import choose_bare_recipe
    from prorl_datasets.inspection import DiffReport, diff, inspect, show
    from prorl_datasets.pushing import plan_push, push, rows_by_split
    from prorl_datasets.recipe.recipe import PASS_RATES, Recipe, load_recipe, recipe_names
    from prorl_datasets.sources.adapters.fields import Unusable
    from prorl_datasets.spec import (
        ADAPTERS,
        BENCHMARKS,
        EMBEDDERS,
        FUNCTIONS,
        RECIPES,
        SOURCES,
        AdapterSpec,
        EmbedderSpec,
        FunctionSpec,
        SourceSpec,
    )
    from prorl_datasets.storage import load, newest_dataset, no_samples, read_manifest, stream
    from prorl_datasets.types import (
        DOMAINS,
        SPLITS,
        ChatMessage,
        DatasetError,
        Domain,
        GoldCheck,
        Sample,
        Split,
    )
else:
    __getattr__, __dir__ = load_on_use(__name__, __file__)

__all__ = [
    "ADAPTERS",
    "BENCHMARKS",
    "DOMAINS",
    "EMBEDDERS",
    "FORMATS",
    "FUNCTIONS",
    "PASS_RATES",
    "RECIPES",
    "SOURCES",
    "SPLITS",
    "AdapterSpec",
    "BuildOptions",
    "BuildReport",
    "ChatMessage",
    "DatasetError",
    "DiffReport",
    "Domain",
    "Drop",
    "EmbedderSpec",
    "Examined",
    "FunctionSpec",
    "GoldCheck",
    "Recipe",
    "Row",
    "Sample",
    "SourceSpec",
    "Split",
    "Unusable",
    "VerifyReport",
    "build",
    "choose_bare_recipe",
    "diff",
    "examine_sources",
    "export",
    "inspect",
    "load",
    "load_recipe",
    "newest_dataset",
    "no_samples",
    "plan_push",
    "prompt_key",
    "push",
    "read_manifest",
    "recipe_names",
    "rows_by_split",
    "show",
    "stream",
    "verify_dataset",
]

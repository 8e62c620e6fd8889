"""Build the dataset: recipes, sources, gold check, writer, manifest; and read it back."""

from prorl_datasets.building.builder import BuildOptions, build
from prorl_datasets.building.checking import VerifyReport, verify_dataset
from prorl_datasets.building.report import BuildReport
from prorl_datasets.deriving.filtering import filter_dataset
from prorl_datasets.deriving.merging import merge_datasets
from prorl_datasets.deriving.showing import show
from prorl_datasets.examining import Examined, examine_sources
from prorl_datasets.exporting import FORMATS, export
from prorl_datasets.expressions import FUNCTIONS, FunctionSpec
from prorl_datasets.hub.reach import choose_bare_recipe
from prorl_datasets.inspection import DiffReport, diff, inspect
from prorl_datasets.pushing import plan_push, push, rows_by_split
from prorl_datasets.recipe.recipe import PASS_RATES, Recipe, load_recipe, recipe_names
from prorl_datasets.rows.row import Drop, Row, prompt_key
from prorl_datasets.sources.adapters.fields import Unusable
from prorl_datasets.spec import (
    ADAPTERS,
    BENCHMARKS,
    EMBEDDERS,
    RECIPES,
    SOURCES,
    AdapterSpec,
    EmbedderSpec,
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
    "filter_dataset",
    "inspect",
    "load",
    "load_recipe",
    "merge_datasets",
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

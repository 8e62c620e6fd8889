"""Build the dataset: recipes, sources, gold check, writer, manifest; and read it back."""

from prorl_datasets.building.builder import BuildOptions, build
from prorl_datasets.building.checking import VerifyReport, verify_dataset
from prorl_datasets.building.report import BuildReport
from prorl_datasets.exporting import FORMATS, export
from prorl_datasets.hub.reach import choose_bare_recipe
from prorl_datasets.inspection import DiffReport, diff, inspect
from prorl_datasets.recipe.recipe import PASS_RATES, Recipe, load_recipe, recipe_names
from prorl_datasets.rows.row import Drop, Row, prompt_key
from prorl_datasets.sources.adapters.fields import Unusable
from prorl_datasets.spec import ADAPTERS, BENCHMARKS, RECIPES, SOURCES, AdapterSpec, SourceSpec
from prorl_datasets.storage import load, newest_dataset, read_manifest, stream
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
    "FORMATS",
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
    "export",
    "inspect",
    "load",
    "load_recipe",
    "newest_dataset",
    "prompt_key",
    "read_manifest",
    "recipe_names",
    "stream",
    "verify_dataset",
]

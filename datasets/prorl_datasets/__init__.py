"""Build the dataset: recipes, sources, gold check, writer, manifest."""

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
    "DOMAINS",
    "SPLITS",
    "ChatMessage",
    "DatasetError",
    "Domain",
    "GoldCheck",
    "Sample",
    "Split",
]

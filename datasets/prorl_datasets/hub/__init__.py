"""Get the files of published data sets: from a mirror folder or the hub, and pin what was got."""

from prorl_datasets.hub.access import CURE, Access, ResolvedFile, Selection, resolve
from prorl_datasets.hub.client import NoHub, Unreachable
from prorl_datasets.hub.hub import CachedHub, Hub
from prorl_datasets.hub.pins import Pins, check_pins

__all__ = [
    "CURE",
    "Access",
    "CachedHub",
    "Hub",
    "NoHub",
    "Pins",
    "ResolvedFile",
    "Selection",
    "Unreachable",
    "check_pins",
    "resolve",
]

"""Get the files of published data sets: from a mirror folder or the hub, and pin what was got."""

from prorl_datasets.hub.access import ResolvedFile, resolve, resolve_all
from prorl_datasets.hub.huggingface import Hub, Unreachable
from prorl_datasets.hub.pins import Pins, check_pins

__all__ = ["Hub", "Pins", "ResolvedFile", "Unreachable", "check_pins", "resolve", "resolve_all"]

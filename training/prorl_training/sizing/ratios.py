"""How much of a card's peak a run gets, each number with its source; stated ones give way to measured ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from pydantic import Field

from prorl_common import UserError, why_unreadable
from prorl_common.config import ConfigError, Section, mistakes, read_yaml
from prorl_training.sizing.cards import Card


class Ratio(Section):
    """One number, and where it is from."""

    value: float = Field(ge=0)
    source: str = Field(min_length=1)


class Ratios(Section):
    """Shares of a card's peaks, and times that follow from none of them."""

    update_flops: Ratio
    """Of the peak FLOP/s, in forward and backward passes; recomputed activations count as work."""
    score_flops: Ratio
    """In passes without gradient: prompts, log-probs of policy and reference."""
    decode_flops: Ratio
    """In the matrix products of sampling, a token a sequence."""
    decode_bandwidth: Ratio
    """Of the memory's bandwidth, in sampling: weights and key-value cache are read for every token."""
    iteration_seconds: Ratio
    """What one token of all running sequences costs beside that."""
    row_seconds: Ratio
    """The same for each running sequence."""
    layer_seconds: Ratio
    """The same for each layer."""
    optimizer_bandwidth: Ratio
    """Of the memory's bandwidth, in an optimiser step."""
    link: Ratio
    """Of link or network, in collectives."""
    step_seconds: Ratio
    """What a step takes beside all that is reckoned."""
    score_tail_seconds: Ratio
    """From the last answer to its reward."""
    disk_bytes: Ratio
    """Bytes a second of a checkpoint."""

    def taking(self, measured: Mapping[str, float], source: str) -> Ratios:
        """Return these with the measured ones in their place. Raises UserError for a name that there is not."""
        values = self.model_dump()
        for name, value in measured.items():
            values[name] = {"value": value, "source": source}
        return _checked(values, source)


def stated_ratios() -> Ratios:
    """Return the ratios for GPUs that are stated in ``ratios.yaml``."""
    text = (resources.files(__package__) / "ratios.yaml").read_text("utf-8")
    return _checked(read_yaml(text, "ratios.yaml"), "ratios.yaml")


def read_measured(path: Path) -> tuple[dict[str, Any], dict[str, float]]:
    """Return (the card's peaks, ratios) that ``prorl prove gpu`` measured on a GPU and wrote into its JSON.

    Raises UserError for a file that is none of its, or was made without a GPU.
    """
    try:
        proof = json.loads(path.read_text("utf-8"))
        ratios = {str(name): float(value) for name, value in proof["ratios"].items()}
        card = Card.model_validate(proof["card"])
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"--measured {path} cannot be read: {why_unreadable(error)}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UserError(
            f"--measured {path} holds no measured card: give the proof.json of prorl prove gpu"
        ) from error
    if not card.memory:
        raise UserError(f"--measured {path} was made on a CPU: it says nothing of a GPU")
    peaks = {"flops": card.flops, "bandwidth": card.bandwidth, "source": card.source}
    return peaks, ratios


def _checked(values: Mapping[str, Any], where: str) -> Ratios:
    if wrong := mistakes(Ratios, values):
        raise ConfigError(f"{where}: {'; '.join(wrong.values())}")
    return Ratios.model_validate(values)

"""What a card can do at its best and what an hour of it costs: a data file that a user extends.

Leaves out how much of it a run gets (``ratios``).
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from pydantic import Field

from prorl_common import UserError, nearest
from prorl_common.config import ConfigError, Section, mistakes, read_config_file, read_yaml


class Card(Section):
    """One kind of accelerator, or a CPU with its memory; peaks are those of its data sheet or of a measurement."""

    flops: float = Field(gt=0)
    """Dense matrix products in the type that is computed in, FLOP/s."""
    bandwidth: float = Field(gt=0)
    """Of its own memory, bytes/s."""
    memory: float = Field(default=0.0, ge=0)
    """Its own memory, bytes; 0: not a limit."""
    link: float = Field(default=0.0, ge=0)
    """To the other cards of a node, one direction, bytes/s; 0: there is no other."""
    network: float = Field(default=0.0, ge=0)
    """Between nodes, a card's share, bytes/s; 0: there is no other node."""
    price: float | None = Field(default=None, ge=0)
    """US dollars an hour; None: not known."""
    priced: str = ""
    """Whose price, and of which day."""
    source: str = Field(min_length=1)
    """Where the peaks are from."""


def load_cards(extra: Path | None = None) -> dict[str, Card]:
    """Return name -> card: ours, with those of the YAML file ``extra`` added or in their place. Raises UserError."""
    text = (resources.files(__package__) / "cards.yaml").read_text("utf-8")
    values = dict(read_yaml(text, "cards.yaml"))
    if extra is not None:
        values |= read_config_file(extra)
    wrong = [
        line for name, entry in values.items() for line in mistakes(Card, entry, (name,)).values()
    ]
    if wrong:
        raise ConfigError(f"{extra or 'cards.yaml'}: {'; '.join(wrong)}")
    return {str(name): Card.model_validate(entry) for name, entry in values.items()}


def find_card(name: str, extra: Path | None = None) -> Card:
    """Return the card of that name. Raises UserError for one that is not in the lists, offering the nearest."""
    cards = load_cards(extra)
    if name not in cards:
        raise UserError(
            f"unknown card '{name}'{nearest(name, cards)}; cards: {', '.join(sorted(cards))}. Describe others in a "
            "YAML file as docs/guides/planning.md shows, and name it with --cards"
        )
    return cards[name]

"""Tables of the rewards after a length penalty, over a grid of raw rewards and lengths."""

from __future__ import annotations

from prorl_training.algorithm.shaping import shaped_reward
from prorl_training.config import TrainConfig
from reference.markdown import table

RAW = (0.0, 0.1, 0.2, 0.4, 0.7, 1.0)
TOKENS = (300, 2000, 4000, 6000, 7000, 8191)


def order(form: str) -> str:
    """Return a table of shaped rewards within a penalty window, at the default weight and limit.

    Bold marks a partly right answer whose shaped reward is below that of a wrong answer in the grid.
    """
    config = TrainConfig.model_validate({"length_penalty": {"form": form}})
    grid = {
        raw: [shaped_reward(config, raw, tokens, False, True) for tokens in TOKENS] for raw in RAW
    }
    best_wrong = max(grid[0.0])

    def cell(raw: float, value: float) -> str:
        shown = f"{value:.3f}"
        return f"**{shown}**" if raw and value < best_wrong else shown

    rows = [[f"{raw:g}", *(cell(raw, v) for v in values)] for raw, values in grid.items()]
    return table(["raw reward", *(f"{t:,} tokens" for t in TOKENS)], rows)

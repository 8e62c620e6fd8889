"""A training run: curves, decisions on them, what changed around a step, config."""

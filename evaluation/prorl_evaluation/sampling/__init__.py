"""Sampling and judging a model on problems, with a journal that survives a kill."""

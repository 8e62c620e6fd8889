"""Sampling of a step: prompts, completions in groups, their verdicts and buffering."""

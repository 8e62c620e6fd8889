"""Sampling of a step: prompts, completions, verdicts and buffering."""

"""A run: its curves, its decisions, and what it was set up with."""

from prorl_viewer.runs.subject import looks_like, open_subjects

__all__ = ["looks_like", "open_subjects"]

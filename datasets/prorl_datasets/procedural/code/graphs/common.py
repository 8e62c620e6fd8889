"""Sentences shared by problems on general graphs."""

from __future__ import annotations

HEAD = "A graph has the vertices 0 to n - 1, n at most 10. "
WAY = {True: "from u to v only", False: "between u and v, in both directions"}
"""Phrase for the two ends of an edge, by whether the edge is directed."""

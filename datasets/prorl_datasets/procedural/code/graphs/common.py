"""What the problems on general graphs share: kinds of input and sentences of the statements."""

from __future__ import annotations

PAIRS = (("n", "int"), ("edges", "pairs"))
TRIPLES = (("n", "int"), ("edges", "triples"))
HEAD = "A graph has the vertices 0 to n - 1, n at most 10. "
WAY = {True: "from u to v only", False: "between u and v, in both directions"}
"""What an edge joins, by whether it is directed."""

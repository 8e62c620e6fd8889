"""Whether a text asks a short question by itself: as one or more of its whole sentences.

``Find x.`` inside ``Find x. Then find y.`` is a sentence; inside ``Find x and y.`` it is not. Leaves
out which short questions say enough to be looked for (``view_index``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_END = re.compile(r"""[.?!:;)](?=["')\]}$*\s]|$)|,(?=\s)|\n|[。？！：；，]""")
"""Where a sentence or a clause may end."""


class Sentences:
    """The words of a text, and where its sentences and clauses begin and end.

    ``words`` reads a part of the text; time is linear in the text.
    """

    def __init__(self, text: str, words: Callable[[str], Sequence[str]]) -> None:
        self._words: list[str] = []
        self._borders = {0}
        for part in _END.split(text):
            self._words += words(part)
            self._borders.add(len(self._words))

    def ask(self, question: Sequence[str]) -> bool:
        """Return whether whole sentences or clauses have the words ``question`` and no others."""
        wanted, size = list(question), len(question)
        return any(
            start + size in self._borders and self._words[start : start + size] == wanted
            for start in self._borders
        )

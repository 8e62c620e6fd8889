"""Whether a text asks a short question by itself: as one or more of its whole sentences.

``Find x.`` inside ``Find x. Then find y.`` is a sentence; inside ``Find x and y.`` it is not. Leaves
out which short questions say enough to be looked for (``view_index``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_END = re.compile(r"""[.?!:;)](?=["')\]}$*\s]|$)|,(?=\s)|\n|[。？！：；，]""")
"""Where a sentence or a clause may end."""


def has_sentence(text: str, question: Sequence[str], words: Callable[[str], Sequence[str]]) -> bool:
    """Return whether whole sentences or clauses of ``text`` have the words ``question``, no others.

    ``words`` reads both. Time is linear in the text.
    """
    found: list[str] = []
    borders = {0}
    for part in _END.split(text):
        found += words(part)
        borders.add(len(found))
    size = len(question)
    wanted = list(question)
    return any(
        start + size in borders and found[start : start + size] == wanted for start in borders
    )

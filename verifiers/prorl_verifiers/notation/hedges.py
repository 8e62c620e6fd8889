r"""Say when an answer hedges: ``4.5 maybe``, ``not 4.5``, ``at least 4.5``, ``4.5?``.

Words and marks only; two answers side by side are counted elsewhere (``math.reading.candidates``).
"""

from __future__ import annotations

import re

MAX_HEDGED = 4000
"""Characters that are looked at; longer answers are beyond every grader that asks."""

_DOUBT = re.compile(
    r"\?|(?<![A-Za-z\\])(?:maybe|perhaps|possibly|probably|presumably|likely|unlikely|guess|guessing|unsure|uncertain"
    r"|might|could be|may be|vs|versus|alternatively|otherwise|wrong|incorrect|instead of|rather than|anything but)"
    r"(?![A-Za-z])",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"(?<![A-Za-z\\])(?:or|either|neither|nor|not|never|isn['’]t|cannot|no|but|between|unless|except|other than|at least"
    r"|at most|more than|less than|greater than|fewer than|smaller than|larger than|up to)(?![A-Za-z])",
    re.IGNORECASE,
)


def doubtful(text: str) -> bool:
    """Whether a text says that it may be wrong or offers an alternative; wrong for every gold that does not."""
    return _DOUBT.search(text[:MAX_HEDGED]) is not None


def hedged(text: str) -> bool:
    """Whether a text is doubtful, or negates, bounds or offers an alternative: wrong for a gold that is a number."""
    return doubtful(text) or _BOUND.search(text[:MAX_HEDGED]) is not None

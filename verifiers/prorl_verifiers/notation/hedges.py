r"""Say when an answer hedges: ``4.5 maybe``, ``not 4.5``, ``at least 4.5``, ``4.5?``.

Words and marks only; two answers side by side are counted elsewhere (``math.reading.candidates``).
"""

from __future__ import annotations

import re

MAX_HEDGED = 4000
"""Characters that are looked at; longer answers are beyond every grader that asks."""

_DOUBT = re.compile(
    r"\?|(?<![A-Za-z\\])(?:maybe|perhaps|possibly|probably|presumably|likely|unlikely|guess|guessing|unsure|uncertain"
    r"|might|could be|may be|vs|versus|alternatively|otherwise|wrong|incorrect|false|untrue|invalid|impossible|instead of|rather than|anything but"
    r"|den(?:y|ies|ied)|disprov\w{1,4}|refut\w{1,4}|contradict\w{0,7}|reject\w{0,4}|exclud\w{1,4}|fails?)"
    r"(?![A-Za-z])",
    re.IGNORECASE,
)
_DENIAL = re.compile(
    r"(?<![A-Za-z\\])(?:neither|nor|not|never|\w{2,8}n['’]t|cannot|pas|jamais|nicht|keine?|nunca|nem|não|не|ни)(?!\w)"
    r"|[不没非無无否]|ない|아니|नहीं|ليس",
    re.IGNORECASE,
)
_BOUND = re.compile(
    r"(?<![A-Za-z\\])(?:or|either|no|but|between|unless|except|other than|at least|at most|more than|less than|greater than"
    r"|fewer than|smaller than|larger than|up to|ou|oder|или)(?!\w)"
    r"|或|也许|可能",
    re.IGNORECASE,
)
_MARKS = r"[\s$*\\(\[]*"
_DENIED_BEFORE = re.compile(
    r"(?:(?<![a-z])(?:not|never|cannot|anything but|other than)|n['’]t)(?:\s+be)?(?:\s+equal(?:s|\s+to)?)?"
    + _MARKS
    + "$"
    r"|(?<![a-z])(?:false|untrue|wrong|incorrect|not true|not the case|not so)\s+that(?![a-z])[^.!?;,:]*$",
    re.IGNORECASE,
)
_DENIED_AFTER = re.compile(
    r"[\s$*\\)\].,]*(?:(?:is|was|would be)\s+(?:clearly\s+|of course\s+)?(?:wrong|incorrect|false|untrue)"
    r"|(?:(?:is|was)\s+not|isn['’]t|wasn['’]t)\s+(?:(?:the|a)\s+)?(?:(?:right|correct|true)(?![a-z])|(?:final\s+)?answer)"
    r"|\?\W*no(?![a-z]))",
    re.IGNORECASE,
)


def denied_around(before: str, after: str) -> bool:
    """Whether the words beside an answer in its sentence deny it: ``is not``, ``it is false that`` before it, ``is wrong``
    after it. A denial of something else (``not 7 but``) is none."""
    return bool(_DENIED_BEFORE.search(before) or _DENIED_AFTER.match(after))


def doubtful(text: str) -> bool:
    """Whether a text says that it may be wrong or offers an alternative; wrong for every gold that does not."""
    return _DOUBT.search(text[:MAX_HEDGED]) is not None


def denies(text: str) -> bool:
    """Whether a text negates something; wrong for every gold that does not."""
    return _DENIAL.search(text[:MAX_HEDGED]) is not None


def hedged(text: str) -> bool:
    """Whether a text is doubtful, or negates, bounds or offers an alternative: wrong for a gold that is a number."""
    return doubtful(text) or denies(text) or _BOUND.search(text[:MAX_HEDGED]) is not None

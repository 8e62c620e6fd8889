"""Finds the option that an answer names by letter, text or both."""

from __future__ import annotations

import re
from collections.abc import Sequence

from prorl_verifiers.extract import chosen_letter, closing_bracket, takes_back
from prorl_verifiers.notation.latex_text import clean, plain_words
from prorl_verifiers.notation.quantities import read_quantity, unit_powers

MAX_CHOICE = 5000

_NARROW = {
    **{0xFF01 + i: 0x21 + i for i in range(94)},
    **{first + i: ord("A") + i for first in (0x24B6, 0x1F130) for i in range(26)},
}
"""Maps full-width characters and circled or squared capitals to plain ones."""
_WRAPPER = re.compile(
    r"\\(?:text(?:bf|it|rm|sf|tt|normal)?|math(?:rm|bf|it|sf)|mbox|boldsymbol|boxed|fbox|operatorname)\s?\{"
)
_OPTION_WORD = re.compile(
    r"^(?:(?:therefore|thus|hence|so)[, ]\s*)?(?:(?:the|my|final|correct|right|best)\s+){0,3}(?:(?:option|choice|answer|letter)\b\s*(?:is\b)?|it is\b|it's\b)\s*:?\s*(?=[(\[]?[A-Za-z]\b)",
    re.IGNORECASE,
)
_LETTER = re.compile(r"[(\[{]?\s*([A-Za-z])\s*[)\]}]?\s*[.:!]?")
_LABELLED = re.compile(
    r"[(\[{]?\s*([A-Za-z])\s*(?:[)\]}]\s*[.:]?|\.|:|\s[-–—]\s)\s*(.+)", re.DOTALL
)
_BARE = re.compile(r"([A-Z])\s+(.+)", re.DOTALL)
_CORRECT = re.compile(
    r"(?<=[A-Za-z)\].:*])(?:,? which)? (?:is|seems|must be) (?:(?:clearly|indeed|definitely|certainly) )?(?:the )?"
    r"(?:correct|right|best|true|answer)(?: (?:answer|option|choice|one))?$",
    re.IGNORECASE,
)
_SECOND_ANSWER = re.compile(
    r"\b(?:option|choice|answer|letter)\b\s*(?:is\b)?\s*:?\s*[(\[]?([A-Za-z])\b", re.IGNORECASE
)
_OTHER_LABEL = re.compile(
    r"(?:^|[\s,;/(\[&])([A-Z])(?:[)\]]|[.:](?:\s|$)|(?=\s*(?:,|;|/|&|$|or\b|and\b)))"
)


def choice_index(answer: str, choices: Sequence[str]) -> int | None:
    """Return the index of the only option that ``answer`` names, or None."""
    if len(answer) > MAX_CHOICE:
        return None
    whole = without_wrappers(answer)
    text = _CORRECT.sub("", _OPTION_WORD.sub("", whole, count=1))
    letter = _LETTER.fullmatch(text)
    if letter is not None:
        named = _index(letter.group(1), choices)
        if letter.group(1).isupper() and named is not None:
            return named
        exact = [i for i, choice in enumerate(choices) if without_wrappers(choice) == whole]
        return exact[0] if len(exact) == 1 else named
    by_text = _by_text(whole, choices)
    by_text = _by_text(text, choices) if by_text is None else by_text
    if by_text is not None:
        return by_text
    named_letter = chosen_letter(text)
    if named_letter != text:
        return _index(named_letter, choices)
    labelled = _LABELLED.fullmatch(text)
    if labelled is not None and takes_back(labelled.group(2)):
        return None
    if labelled is None:
        bare = _BARE.fullmatch(text)
        if bare is None:
            return None
        index = _index(bare.group(1), choices)
        return index if _by_text(bare.group(2), choices) == index else None
    index = _index(labelled.group(1), choices)
    return index if index is not None and _agrees(labelled.group(2), index, choices) else None


def without_wrappers(answer: str) -> str:
    r"""Remove ``\text{}``, bold marks, dollar signs and outer punctuation."""
    text = clean(" ".join(answer.translate(_NARROW).split()))
    for _ in range(20):
        opening = _WRAPPER.search(text)
        if opening is None:
            break
        end = closing_bracket(text, opening.end())
        text = f"{text[: opening.start()]} {text[opening.end() : end]} {text[end + 1 :]}"
    return " ".join(text.replace("**", " ").replace("$", " ").split()).strip(" .,;")


def _index(letter: str, choices: Sequence[str]) -> int | None:
    index = ord(letter.upper()) - ord("A")
    return index if index < len(choices) else None


def _agrees(text: str, index: int, choices: Sequence[str]) -> bool:
    matching = _by_text(text, choices)
    if matching is not None:
        return matching == index
    words = _words(text)
    if words == _words(choices[index]):
        return True
    for other in _OTHER_LABEL.findall(text):
        if other not in ("A", "I") and _index(other, choices) not in (None, index):
            return False
    if any(_index(other, choices) != index for other in _SECOND_ANSWER.findall(text)):
        return False
    if re.search(r"(?:^|[\s(])[(\[]?[Aa][)\].:]", text) and index != 0:
        return False
    option_words = f" {_words(choices[index])} "
    if " or " in f" {words} " and " or " not in option_words:
        named = {_by_text(piece, choices) for piece in re.split(r"(?:^|\s)or(?:\s|$)", text)}
        if named - {None, index}:
            return False
    return not any(
        f" {other_words} " in f" {words} " and f" {other_words} " not in option_words
        for at, choice in enumerate(choices)
        if at != index and (other_words := _words(choice)) not in ("", "a", "i")
    )


def _words(text: str) -> str:
    return plain_words(without_wrappers(text))


def _by_text(text: str, choices: Sequence[str]) -> int | None:
    words = _words(text)
    hits = [i for i, choice in enumerate(choices) if _words(choice) == words]
    if len(hits) > 1:
        same_case = [i for i in hits if without_wrappers(choices[i]) == without_wrappers(text)]
        hits = same_case if len(same_case) == 1 else hits
    if not hits:
        number = read_quantity(text)
        for i, choice in enumerate(choices):
            other = read_quantity(choice) if number is not None else None
            if number is None or other is None or number.value != other.value:
                continue
            if unit_powers(number.unit) == unit_powers(other.unit):
                hits.append(i)
    return hits[0] if len(hits) == 1 else None

"""Finds the answer in a text: the last boxes, or a statement such as "the answer is 5"."""

from __future__ import annotations

import itertools
import re

from prorl_verifiers.extract import BOX, content_span, flat, last_box_span
from prorl_verifiers.math.units import unit_words
from prorl_verifiers.notation.latex_text import hedged
from prorl_verifiers.types import MAX_ANSWER

MAX_BOXES = 20
MAX_MARKED = 200
"""Maximum characters of a gold that is searched for "the answer is"."""
MAX_STATED = 20_000
"""Maximum characters of a text that is searched for a statement."""
_BETWEEN = re.compile(
    r"(?:[\s$,;.&]|\\[,;:! ()\[\]]|\\\\|\\q?quad|\\text\s*\{[\s,;]*\}|\}?\s*\\text\s*\{\s*,?\s*(?:and|or)\s*,?\s*\}|\b(?:and|or)\b)*"
    r"(?P<noun>\b[a-z]{1,15}\s+and\s+)?(?:\$|\\\()?\s*(?P<name>(?:\\?[A-Za-z]{1,8}(?:_\{?\w{1,6}\}?)?\s*=\s*)?)\s*"
)
_NAME = re.compile(r"(?<![A-Za-z\\=])(\\?[A-Za-z]{1,8}(?:_\{?\w{1,6}\}?)?)\s*=\s*\Z")
_OR = re.compile(r"\bor\b")


def boxed_answer(text: str) -> str | None:
    r"""Return the content of the last ``\boxed{}``, or None.

    If several boxes are separated only by punctuation, "and" or "or", their contents are joined into a list.
    """
    earliest = text.find("boxed")
    if earliest < 0 and "fbox" not in text:
        return None
    span = last_box_span(text)
    if span is None:
        return None
    last = flat(text[slice(*span)].strip())
    if earliest == text.rfind("boxed") and "fbox" not in text:
        return last
    boxes: list[tuple[int, int, str]] = []
    for box in closed_boxes(text, MAX_BOXES, MAX_ANSWER):
        if not boxes or box[0] >= boxes[-1][1]:
            boxes.append(box)
    if not boxes or flat(boxes[-1][2]) != last:
        return last
    run, name, joint = [last], "", ","
    for (_, end, content), (start, _, _) in reversed(list(itertools.pairwise(boxes))):
        between = _BETWEEN.fullmatch(text[end:start]) if start - end < 80 else None
        if between is None:
            break
        joint = r" \text{or} " if _OR.search(between.group()) else joint
        if between.group("name"):
            run[0] = between.group("name") + run[0]
        run.insert(0, content)
    if len(run) > 1:
        first = _NAME.search(text[max(0, boxes[-len(run)][0] - 30) : boxes[-len(run)][0]])
        name = first.group(1) + "=" if first and any("=" in content for content in run[1:]) else ""
    distinct = list(dict.fromkeys([name + run[0], *run[1:]]))
    return distinct[0].removeprefix(name) if len(distinct) == 1 else joint.join(distinct)


def closed_boxes(text: str, count: int, length: int) -> list[tuple[int, int, str]]:
    boxes = []
    for match in list(BOX.finditer(text))[-count:]:
        span = content_span(text, match)
        if span is not None and span[1] - span[0] <= length:
            end = span[1] + (match.group("bare") is None)
            boxes.append((match.start(), end, text[slice(*span)].strip()))
    return boxes


def gold_text(answer: str) -> str:
    """Return the content of a gold's boxes, the value that it states, or the whole gold."""
    boxed = boxed_answer(answer)
    if boxed is not None:
        behind = answer[answer.rfind("}") + 1 :][:12].strip(" $.")
        if behind in ("percent", r"\%", "%") and not boxed.endswith("%"):
            return boxed + r"\%"
        return boxed
    text = re.sub(r"^\s*\\+(?:boxed|fbox)\{", "", answer)
    marks = list(_MARKED.finditer(text)) if len(text) <= MAX_MARKED else []
    if marks and (marked := text[marks[-1].end() :].strip()) and not hedged(marked):
        return marked
    return (find_statement(text) or text) if len(text) > MAX_MARKED and " " in text else text


# ---------------------------------------------------------------------------------------- sentences

_MARKED = re.compile(
    r"(?:\b(?:final\s+)?answer(?:\s+is\b|\s*[:=]|(?=\s*[$\\]))\s*:?|\b(?:réponse|respuesta|resposta|antwort|risposta)(?:\s+(?:est|es|é|ist|è)\b|\s*:)"
    r"|答案(?:是|为|：|:)|答(?:：|:))",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"(?:I hope (?:it|this) is correct\.?|<\|[a-z_]{1,20}\|>(?:[a-z]{1,12})?)\Z", re.IGNORECASE
)
MAX_CLOSING = 40
"""Maximum characters of a closing remark or chat-template token."""
_SENTENCE = re.compile(
    r"[.!。！？।]\s+|[。！।]|\n\s*\n|\s(?=(?:Therefore|Thus|Hence|Consequently)\b|So,)"
)
_FORMULA = re.compile(
    r"\$\$(.+?)\$\$|\\\[(.+?)\\\]|\$([^$\n]+?)\$|\\\(([^\n]+?)\\\)|\*\*([^*\n]{1,80})\*\*|\(\s*(\\[^()]{1,80})\s*\)",
    re.DOTALL,
)
_NUMBER = re.compile(
    r"(?<![\w.\\+−–-])(?:[A-Za-z](?:_\w)?\s?=\s?)?[-−+]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:/\d+)?(?:\s*\\?%)?(?![\w])|(?<![\x00-\x7f])\d+(?:\.\d+)?(?=[^\x00-\x7f])"
)
_CHAIN = re.compile(r"(?<![-+*/=.,\d\s()])[-+*/=.,\d\s()]*\d\s*=\s*([-+]?\d[\d.,]*)\s*\)?")
"""A calculation such as ``2 + 3 = 5``. The lookbehind prevents quadratic time."""
_SAYS_NOTHING = re.compile(
    r"\\?[A-Za-z]{1,6}(?:_\{?\w+\}?)?|[A-Z]{1,9}|[a-zA-Z]\([a-z]\)|\((?:[a-z],\s*){1,3}[a-z]\)|[^\d\\$=]*[^\x00-\x7f][^\d\\$=]*"
)
"""Formulas and bold words that are only names, such as ``x``, ``ABC`` or ``f(x)``."""
_FOREIGN_UNIT = re.compile(r"(?<=\d)\s*[^\x00-\x7f\d]{1,4}\Z")
_LETTER = re.compile(r"\(?([A-J])\)?(?![A-Za-z'’])")
_RULED_OUT = re.compile(
    r"[\s,;.]*(?:(?:it|this|and|so)\s+)*(?:can['’]?t|cannot|isn['’]t|is not|not|不是)\s*(?:be\s+)?(?:[A-J](?![a-z])|[\s,]|or|and|或|和)+\Z"
)
_CONTRAST = re.compile(
    r"\bnot\s+(?P<denied>[$\d][^\s]{0,40}?)\s*[,;]?\s+(?:but(?:\s+rather)?|it['’]?s|it\s+is)\s+(?P<said>[$\d-][^\s]{0,40}(?:\s[^\s]{1,20})?)\Z"
)
"""A final ``not 7 but 5``, which denies one value and states another."""
_RELATIVE = re.compile(r"\b(?:that|which)\s+(?:could|may|might)\s+be\b")
_LEADS = re.compile(
    r"(?:^|[:：]|\b(?:is|are|be|equals?|that|answer|matrix|vector|find|get|gives?|have|has|obtain|therefore|thus|hence|so"
    r"|approximately|about|exactly|only|identity|fractions|to|est|es|sont|son|ist|é|è)|[^\x00-\x7f])[\s,*$]*\Z",
    re.IGNORECASE,
)
_WORDS_OF_OPERATIONS = re.compile(
    r"\b(?:thousand|million|billion|trillion|hundred|dozen|squared|cubed|factorial|plus|minus|times|over|half|halves|thirds?"
    r"|quarters?|more|less|fewer|false|untrue|instead|negative|reciprocal|inverse|opposite|twice|double|triple|off|away"
    r"|contradict\w*|refut\w*|den(?:y|ies|ied)|rejects?|excluded?|except|or)\b",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"[$*\s\\]*(?:\\(?:text|mathrm)\s*\{)?([A-Za-z][A-Za-z /]*(?:\^\{?[-\d]\}?)?)\}?"
)
"""Words directly after a number, which may be its unit."""
_SPACE = re.compile(r"\s")
_STATES = re.compile(r"(?<![A-Za-z])[A-Za-z]?[a-zà-ɏ]{2,}|[^\x00-\x7f]{2,}")


def is_prose(text: str) -> bool:
    if text.isascii() and not _SPACE.search(text):
        return False
    plain = re.sub(r"\\[A-Za-z]+(?:\{[^{}]*\})?", " ", _FORMULA.sub(" ", text[:MAX_STATED]))
    return _STATES.search(plain) is not None


def find_statement(text: str, letter: bool = False) -> str | None:
    """Return the last formula or number that a text states, or the last option if ``letter`` is set.

    Returns None if the sentence has a hedge, a negation or a second candidate.
    """
    if len(text) > MAX_STATED or not is_prose(text):
        return None
    text = text.rstrip()
    while closing := _CLOSING.search(text, max(0, len(text) - MAX_CLOSING)):
        text = text[: closing.start()].rstrip()
    marks = list(_MARKED.finditer(text))
    if marks:
        before = _SENTENCE.split(text[: marks[-1].start()])[-1]
        if hedged(before) or _WORDS_OF_OPERATIONS.search(before):
            return None
        sentence = text[marks[-1].end() :]
        sentence = _SENTENCE.split(sentence.strip(), maxsplit=1)[0]
        if len(marks) > 1:
            earlier = text[marks[-2].end() : marks[-1].start()].strip()
            earlier = _SENTENCE.split(earlier, maxsplit=1)[0]
            numbers = [set(_NUMBER.findall(part)) for part in (earlier, sentence)]
            if numbers[0] and numbers[1] and numbers[0] != numbers[1]:
                return None
    else:
        sentence = next((part for part in reversed(_SENTENCE.split(text)) if part.strip()), "")
    sentence = sentence.strip().rstrip(".。")
    if letter:
        ruled_out = _RULED_OUT.search(sentence)
        sentence = sentence[: ruled_out.start()] if ruled_out else sentence
        letters = _LETTER.findall(sentence)
        left = len(letters) == 1 and not hedged(sentence) and not re.search(r"[\d$\\]", sentence)
        return letters[0] if left and not (ruled_out and letters[0] in ruled_out.group()) else None
    contrast = _CONTRAST.search(sentence)
    if contrast and contrast.group("denied") != contrast.group("said"):
        statement = contrast.group("said")
        beside = f"{sentence[: contrast.start()]} {statement}"
        return None if hedged(beside) or _WORDS_OF_OPERATIONS.search(beside) else statement
    if hedged(_RELATIVE.sub(" ", re.sub(r"\$[^$]*\$", " ", sentence))):
        return None
    return _only_candidate(sentence, bool(marks))


def _only_candidate(sentence: str, marked: bool) -> str | None:
    spans: list[tuple[int, int, str]] = []
    for match in _FORMULA.finditer(sentence):
        content = next(group for group in match.groups() if group is not None).strip()
        if _SAYS_NOTHING.fullmatch(content) is None:
            spans.append((match.start(), match.end(), content))
    bold = [span for span in spans if sentence[span[0]] == "*"]
    if len(bold) == 1 and not sentence[bold[0][1] :].strip(" .。"):
        spans = bold
    else:
        covered = _FORMULA.sub(lambda m: " " * len(m.group()), sentence)
        chain = None if spans else _CHAIN.search(covered)
        if chain:
            spans.append((chain.start(), chain.end(), chain.group(1)))
            covered = " " * chain.end() + covered[chain.end() :]
        spans += [(m.start(), m.end(), m.group()) for m in _NUMBER.finditer(covered)]
    if len({content for _, _, content in spans}) != 1:
        return None
    start, end, content = max(spans)
    lead, behind = sentence[:start], sentence[end:]
    if not (marked and not lead.strip()) and not _LEADS.search(lead):
        return None
    if _WORDS_OF_OPERATIONS.search(lead) or _WORDS_OF_OPERATIONS.search(behind):
        return None
    content = _FOREIGN_UNIT.sub("", content)
    counted = _COUNTED.match(behind)
    unit = (
        unit_words(counted.group(1)) if counted and content.endswith(tuple("0123456789}")) else ""
    )
    if counted and unit:
        content, behind = rf"{content}\text{{ {unit}}}", behind[counted.end() :]
    return content if re.fullmatch(r"[^$\\=<>^_{}]*", behind) else None

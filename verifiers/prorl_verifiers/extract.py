"""Finds the answer in a response, in linear time."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import Any

from prorl_verifiers.findings import listening, note
from prorl_verifiers.types import MAX_ANSWER

OPEN_THINK, CLOSE_THINK = "<think>", "</think>"
_THINKING = re.compile(
    r"<(?P<closes>/?)(?:seed:)?(?P<name>think)>"
    r"|(?<![\"'`])<(?P<ends>/?)(?P<word>thinking|thoughts?|reasoning|reflection|scratchpad|analysis|monologue)>"
    r"|\[(?P<bracket>/?)THINK\]|<\|(?P<edge>begin|end)_of_thought\|>|◁(?P<diamond>/?)think▷"
)
_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)
_NOUN = r"(?:(?:the|our|my) )?(?:(?:final|correct|right|best|true|actual) ){0,2}(?:answer|result|solution|option|choice)"
_ANSWER_LINE = re.compile(
    r"(?:(?:therefore|so|thus|hence|then|finally|and|in conclusion)\b,? ?){0,2}"
    + _NOUN
    + r" ?(?:(?:is|must be|should be|would be) ?:?|:|=) ?(.*)",
    re.IGNORECASE,
)
_COURTESY = re.compile(
    r"\W*(?:(?:many |any )?thank(?:s| you)|(?:i )?(?:really )?hope (?:this|that|it)\b|(?:please )?(?:let me know|feel free)|have a \w+ (?:day|time|one)"
    r"|(?:good luck|cheers|enjoy|done|(?:best|kind) regards|you['’]re welcome|q\.?e\.?d|if you have (?:any|more|further))\b|-{3}|\*{3})"
    r"(?:(?!\b(?:answer|wrong|actually|but|not|incorrect|mistake)\b)[^\d=$\\]){0,120}",
    re.IGNORECASE,
)
"""A last line such as ``I hope this helps!``, which is skipped."""
_HEADING = re.compile(_NOUN + r"(?: is)? ?:?", re.IGNORECASE)
_DECORATION = re.compile(r"(?:[^\w\\$(\[{+.<-]|- ){1,20}")
"""Quote signs, hashes, stars, arrows or emoji at the start of a line."""
_OPTION_LINE = re.compile(
    r"(?:(?:therefore|so|thus|hence)\b,? ?)?(?:i (?:choose|pick|select) )?(?:option|choice)? ?"
    r"([(\[]?[A-Z][)\]]?(?:[.:)] ?\S.*)?)(?: is (?:the )?(?:correct|right|best|answer)(?: (?:answer|option|choice))?)?",
    re.IGNORECASE,
)
_CLAUSE_WORD = r"\b(?:so|thus|hence|therefore|and|then)"
_CLAUSE_START = r"\s+(?=(?:(?:so|thus|hence|therefore),? )?"
_CLAUSE = re.compile(
    rf"(?:[.,;:!\u2013\u2014-]|{_CLAUSE_WORD}|\bi (?:think|believe|conclude)(?: that)?){_CLAUSE_START}{_NOUN} is ?:? ?(?i:option )?[(\[]?[A-Z]\b)",
    re.IGNORECASE,
)
"""Punctuation or linking word before "the answer is B"."""
_SENTENCE = re.compile(
    rf"(?:[.!]|\b(?:so|thus|hence|therefore|then)){_CLAUSE_START}(?:the )?(?:(?:final|correct) )?answer(?: is\b|:))"
    r"|[$)\]}*]\s+(?=final answer(?: is\b|:))",
    re.IGNORECASE,
)
"""Punctuation or linking word before "the answer is 5" or "answer: 5"."""
_TURN_END = re.compile(
    r"(?:\s*<\|(?:im_end|im_start|eot_id|eom_id|endoftext|end)\|>\s*(?:user|assistant)?)+\s*\Z"
)
_LATER = re.compile(
    r"\b(?:answer|option|choice) ?(?:is|should be|must be|would be|[:=]):?|\b(?:it|that|this) should (?:have been|be)\b"
    r"|\b(?:correct(?:ion|ed)|erratum|edit|update) ?[:—–]",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(
    r"\b(?:if|whether|suppos(?:e|ing)|imagin(?:e|ing)|assum(?:e|ing)|provided|in case|when|unless"
    r"|(?:^|(?<=[.;!?:,] ))(?:so )?(?:were|had|should) (?:the \w+|it|this|that|these|those|there|we|he|she|they|you|i|[a-z]))\b[^.!?\n]*\Z|\b(?:wrong|incorrect|naive|tempting|check (?:the|our|my)) \Z",
    re.IGNORECASE,
)
_INSTEAD = re.compile(
    r"(?:^|[\s.!?,;:)$}])(?:(?:actually|wait|no|oops|sorry|hmm|rather|on second thoughts?|i meant?)\b[ ,:.!…]{1,4}){1,3}"
    r"(?:(?:i meant?|it(?:['’]s| is)|make (?:it|that)) )?"
    r"(?P<value>\$[^$\n]{1,80}\$|\*\*[^*\n]{1,60}\*\*|[-+−]?[\d\\][^\s,;]{0,60})(?: [a-z]{1,12})?[.!]?\s*(?:\n|\Z)",
    re.IGNORECASE,
)
"""A correction such as ``Wait, no: 7.``"""
_VALUE = re.compile(
    r"[\s*_`]*(\$\$?[^$]{1,300}\$\$?|\\\(.{1,300}?\\\)|\*\*[^*]{1,100}\*\*|(?=[-+−\d\\(\[{.])[^\n]{1,300}|[A-Z](?=[).:,;!\s]*(?:$|because|since|as\b)))"
)
_LEAD = r"(?:(?:but|and|hmm|wait|no|oh|oops|sorry|actually|however|correction)\b[,.:! ]*)"
_RETRACTION = (
    r"(?:(?:that|this|it|which|(?:the|my) (?:above|previous|first)? ?(?:answer|result|box)?)(?:['’]s| is| was)"
    r" (?:clearly |actually |also )?(?:wrong|incorrect|false|a mistake|an error"
    r"|not (?:right|correct|true|the (?:right |correct |final )?answer))"
    r"|i (?:was wrong|take (?:that|it|this) back|made an? (?:mistake|error))|scratch that|(?:ignore|disregard) (?:that|this|the above)"
    r"|(?:(?:that|this|it|i)(?:['’]s| is| was|['’]m| am) )?off by (?:one|a|\d)|correction ?:)"
)
_TAKEN_BACK = re.compile(rf"[\s$.,;!)\]*]{{0,20}}{_LEAD}{{0,3}}{_RETRACTION}", re.IGNORECASE)
_TAKEN_BACK_LATER = re.compile(
    rf"[.!?\n]\s{{0,10}}(?:{_LEAD}{{1,3}}{_RETRACTION}|correction ?:)", re.IGNORECASE
)
_REASON = re.compile(
    r"[\s*(\[]*(?:(?:for sure|definitely|clearly|certainly|indeed)[,:]? )?(?:(?:option|choice|letter) )?[(\[]?([A-Z])[)\].:]*\**"
    r"(?:(?:[,;.]| ?[-–—])? ?(?:and )?(?:because|since|as|due to|not|it (?:can['’]?t|cannot|is not|isn['’]t))\b(?P<why>.*)|(?P<repeated>(?:\s*(?:/|,|;|and|or)\s*\1(?![A-Za-z]))*))",
    re.DOTALL,
)
_OPTION = re.compile(r"[(\[]?[A-Z][)\].:]{0,2}")
_CHANGES = re.compile(r"\b(?:no|wait|actually|instead|but)\b", re.IGNORECASE)
_STRUCK = (
    ("<!--", "-->"), ("<del>", "</del>"), ("<s>", "</s>"), ("<strike>", "</strike>"),
    (r"\begin{comment}", r"\end{comment}"),
)  # fmt: skip
_COMMENT = re.compile(
    r"^[ \t]{0,40}%|(?:(?<=[}.,;:])|(?<=\}\$))[ \t]{1,8}%(?!\s?(?:of\b|\}))", re.MULTILINE
)
_MESSAGE = re.compile(r"\s*+(<s>)(?:[^<]++|<(?!/s>))*+(</s>)\s*+")
"""A whole response between ``<s>`` and ``</s>``, which are begin and end tokens and not strike-out tags."""
_ANSWERS = re.compile(r"boxed|fbox|[Aa]nswer")
_TILDES = re.compile(r"(?<![\w~])~~(?=[^\s~])[^~\n]*(?<=[^\s~,;:])~~(?![\w~])")
_CANCELS = re.compile(r"\\(?:[bx]?cancel|sout|st)\s?\{|\\.|[{}]", re.DOTALL)
BOX = re.compile(
    r"\\(?:boxed|fbox)[ \t\n]{0,8}(?:\{|(?P<bare>[-+]?\d{1,40}(?:[.,/]\d{1,40}){0,4}(?!\w)|(?<![a-z])[A-Za-z](?!\w)"
    r"|\([A-Za-z0-9]\)|\\[dt]?frac(?:\{[^{}]{1,20}\}|\d){2}))"
)
r"""The start of ``\boxed{5}``. TeX also accepts a value without braces (``\boxed 5``)."""
_WORD, _MACRO = re.compile(r"\b[A-Za-z]{2,}\b"), re.compile(r"\\[A-Za-z]+(?:\{[^{}]{0,40}\})?")
MAX_NESTED = 8
"""Maximum number of earlier boxes that are tested for containing the last box."""
_AROUND = 200
_FENCE = re.compile(
    r"([ \t]{0,40}(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]{1,8})?)(`{3,}+|~{3,}+)[ \t]*+(?:\{[ \t]*+)?\.?([\w+#-]{0,40}+)([^`]*+)"
)
"""Indentation or list marker, fence, and language, such as ``python``, ``{.python}`` or ``python:file.py``."""
_QUOTE = re.compile(r"\\.|\"\"\"|'''|[\"'#]")
_DEFINITION = (
    r"^[ \t]*(?:(?:async|export|default)[ \t]+)*"
    r"(?:(?:def|class|function|const|let|var)[ \t]+(?:NAME)\b|(?:NAME)[ \t]*=[^=])"
)


def after_thinking(response: str) -> str | None:
    """Return the text after the last thinking section, or None if a section is not closed.

    If the chat template ends the prompt with ``<think>``, it must be prepended to the response.
    """
    sections: list[tuple[int, int]] = []
    words: dict[str, int] = {}  # where the first open tag of each word is
    start, name = -1, ""
    for tag in _THINKING.finditer(response):
        word = tag.group("word")
        if word and start < 0 and not tag.group("ends"):
            words.setdefault(word, tag.start())
        elif word in words:
            sections.append((words.pop(word), tag.end()))
            name = word
        if word:
            continue
        words.clear()
        name = tag.group("name") or ""
        if "/" in (tag.group("closes"), tag.group("bracket"), tag.group("diamond")) or (
            tag.group("edge") == "end"
        ):
            sections.append((max(start, 0), tag.end()))
            start = -1
        elif start < 0:
            start = tag.start()
    if start >= 0 or any(not response[:place].strip() for place in words.values()):
        return None
    text = response[sections[-1][1] :] if sections else response
    return text if text.strip() or name == "think" else _blanked(response, sections)


def _blanked(text: str, spans: list[tuple[int, int]]) -> str:
    parts, at = [], 0
    for start, end in sorted(spans):
        parts += [text[at:start], " " * (end - max(start, at))]
        at = max(at, end)
    return "".join((*parts, text[at:]))


def without_struck(text: str) -> str:
    """Replace struck-out text and LaTeX and HTML comments by spaces."""
    if message := _MESSAGE.fullmatch(text):
        text = _blanked(text, [message.span(1), message.span(2)])
    spans: list[tuple[int, int]] = []
    end = 0
    for match in _COMMENT.finditer(text) if "%" in text else ():
        if match.start() < end:
            continue
        end = text.find("\n", match.end())
        end = len(text) if end < 0 else end
        if _ANSWERS.search(text, match.end(), end):
            spans.append((match.start(), end))
    for opening, closing in _STRUCK:
        start = text.find(opening) if opening[0] in text else -1
        while start >= 0 and (end := text.find(closing, start)) >= 0:
            spans.append((start, end + len(closing)))
            start = text.find(opening, end)
    if "~" in text:
        spans += [match.span() for match in _TILDES.finditer(text)]
    if "cancel" in text or "\\sout" in text or "\\st{" in text:
        stack: list[int] = []
        for match in _CANCELS.finditer(text):
            token = match.group()
            if token == "}":
                start = stack.pop() if stack else -1
                spans += [(start, match.end())] if start >= 0 else []
            elif token.endswith("{") and token != "\\{":
                stack.append(match.start() if len(token) > 1 else -1)
    return _blanked(text, spans) if spans else text


def last_boxed(text: str) -> str | None:
    r"""Return the content of the last ``\boxed{...}`` or ``\fbox{...}``, or None if it is not closed or too long."""
    span = last_box_span(text)
    return None if span is None else flat(text[span[0] : span[1]].strip())


def flat(content: str) -> str:
    r"""Replace each ``\boxed{}`` in ``content`` by the text inside it."""
    for _ in range(MAX_NESTED):
        match = BOX.search(content)
        if match is None:
            break
        start, end = content_span(content, match) or (match.end(), len(content))
        behind = content[end:].removeprefix("}")
        content = f"{content[: match.start()]} {content[start:end]} {behind}".strip()
    return content


def around_last_box(text: str) -> tuple[str, str]:
    r"""Return at most 200 characters before and after the last ``\boxed{}``, from the same line."""
    span = last_box_span(text)
    if span is None:
        return "", ""
    start = span[0]
    before = text[max(0, start - _AROUND) : start].rpartition("\n")[2].rpartition("\\")[0]
    return before, after_last_box(text)[:_AROUND].partition("\n")[0]


_FACTOR_BEFORE = re.compile(
    r"(?:(?P<sure>\\(?:cdot|times|div|ast|pm|log|ln|sin|cos|tan|exp|sqrt(?:\[\w{1,8}\])?|[dt]?frac(?:\{[^{}]{1,80}\})?)|[\^_]|(?<![A-Za-z])[A-Za-z](?=\())"
    r"|(?:[\d)}\]A-Za-z]\s*[-+*/]|[$=(\[&]\s*-|\d))\s*(?:\\left)?[({\[\s]*\Z"
)
_FACTOR_AFTER = re.compile(
    r"(?:\s|\\[,;:!]|\\right|[)}\]])*(?:(?P<sure>\\(?:cdot|times|div|ast)(?![a-zA-Z])|\^(?!\s*\{?\s*(?:\\(?:circ|prime|text|mathrm)|[a-z]{2})))"
    r"|[-+*/]\s*[\w\\({]|!|[xyznk](?![a-zA-Z])|\\(?:pi|sqrt|[dt]?frac)(?![a-zA-Z]))"
)
_GLUED_BEFORE = re.compile(r"(?:[A-Za-z] \d|(?<![\w\\])[A-Za-z]|[\d)]\s?[-+*/]|(?:^|[\s=])-)\Z")
_GLUED_AFTER = re.compile(
    r"(?:[xyznkijpq]|[xyz]{2,3})(?![a-zA-Z])|[-+*] ?(?:\d|[A-Za-z](?![A-Za-z])|\()|/ ?(?:\d|[xyzn](?![A-Za-z])|\()|\([^()]{0,20}\w ?[-+*^] ?\w[^()]{0,20}\)"
    r"|\\(?:pi|sqrt|[dt]?frac)(?![a-zA-Z])"
)
r"""Text directly after a box that makes it a part of a formula, as in ``\boxed{2}x``."""
_ENDS_WORD = ("", " ", "$", ".", ",", "\n")
_CHANGED_BEFORE = ("minus", "negative", "half", "half of", "twice", "double", "triple", "root of")
_CHANGED_AFTER = re.compile(r"\$? (?:squared|cubed|factorial)\b")
SCALE = re.compile(r"\$?[\s~]+(?:\\text\s*\{\s*)?(hundred|thousand|[mbtr]+illion|dozen)\b")
_ENDS_FACTOR = "0123456789+-*/^_(){}[]"
_DELIMITERS = re.compile(r"\$\$|(?<!\\)\$|\\[()\[\]]")


def inside_expression(text: str, before: str, after: str) -> bool:
    r"""Return whether the last ``\boxed{}`` is a part of a larger formula such as ``2\cdot\boxed{5}``."""
    if before.rstrip(" $*").endswith(_CHANGED_BEFORE) or _CHANGED_AFTER.match(after):
        return True
    glued = before[-1:], after[:1]
    if (glued[0] not in _ENDS_WORD and _GLUED_BEFORE.search(before[-4:])) or (
        glued[1] not in _ENDS_WORD and _GLUED_AFTER.match(after)
    ):
        return True
    before = before.rstrip()
    last = before[-1:]
    command = last.isalpha() and "\\" in before[-7:]  # most boxes follow a word or a sign
    beside = (
        _FACTOR_BEFORE.search(before) if command or last in _ENDS_FACTOR else None,
        _FACTOR_AFTER.match(after) if after[:1] not in ("", "$", ".") else None,
    )
    if beside == (None, None):
        return False
    if any(match and match.group("sure") for match in beside):
        return True
    span = last_box_span(text)
    start = span[0] if span is not None else 0
    paragraph = text.rfind("\n\n", 0, start) + 1
    marks = [mark.group() for mark in _DELIMITERS.finditer(text, paragraph, start)]
    dollars = sum(mark[0] == "$" for mark in marks)
    return dollars % 2 == 1 or bool(marks and marks[-1] in ("\\(", "\\["))


def after_last_box(text: str) -> str:
    span = last_box_span(text)
    return "" if span is None else text[span[1] :].removeprefix("}")


@lru_cache(maxsize=2)
def last_box_span(text: str) -> tuple[int, int] | None:
    r"""Return the (start, end) of the text in the last ``\boxed{}``, or None if it is not closed or too long.

    If that box is inside another one, the text of the outer one counts, unless words precede the inner one.
    """
    last: re.Match[str] | None = None
    end = len(text)
    while last is None and (end := text.rfind("box", 0, end)) > 0:
        last = BOX.match(text, end - 1) or (BOX.match(text, end - 2) if end > 1 else None)
    span = None if last is None else content_span(text, last)
    if last is None or span is None:
        return None
    first = max(0, last.start() - MAX_ANSWER)
    nested = text.find("box", first, last.start()) >= 0
    before = list(BOX.finditer(text, first, last.start())) if nested else []
    for match in before[-MAX_NESTED:]:
        outer = content_span(text, match)
        if outer is not None and outer[1] >= span[1]:
            words = _WORD.search(_MACRO.sub(" ", text[outer[0] : last.start()]))
            return span if words else outer
    return span


def content_span(text: str, box: re.Match[str]) -> tuple[int, int] | None:
    r"""Return the (start, end) of the text in a box, or None if it is not closed. ``\boxed{5\}`` counts as closed."""
    if box.group("bare"):
        return box.span("bare")
    start, depth, escaped = box.end(), 1, 0
    stray: int | None = None
    for match in _BRACES.finditer(text, start, start + MAX_ANSWER + 1):
        token = match.group()
        escaped += (token == "\\{") - (token == "\\}")
        if escaped < 0 and stray is None:
            stray = match.start()
        depth += (token == "{") - (token == "}")
        if depth == 0:
            return start, match.start()
    return None if stray is None else (start, stray)


def last_tag(text: str) -> str | None:
    """Return the stripped text of the last closed ``<answer>`` element, or None."""
    span = last_tag_span(text)
    return None if span is None else text[span[0] : span[1]].strip()


def last_tag_span(text: str) -> tuple[int, int] | None:
    close = text.rfind("</answer>")
    start = text.rfind("<answer>", 0, close) if close >= 0 else -1
    return None if start < 0 else (start + len("<answer>"), close)


def answer_line(text: str, letters: bool = False) -> str | None:
    """Return the answer if the text ends with ``Answer: ...``, ``<answer>...</answer>`` or similar, else None.

    Markup and a final full stop are removed. If ``letters`` is set, a last line such as "**B**" also counts.
    """
    remaining = _TURN_END.sub("", text[-_MAX_AFTER:].rstrip())
    lines: list[str] = []
    while remaining and len(lines) < _MAX_LINES:
        start = remaining.rfind("\n") + 1
        if len(remaining) - start > 2000:
            break
        line = " ".join(remaining[start:].split())
        if not lines and _COURTESY.fullmatch(line):
            remaining = remaining[:start].rstrip()
            continue
        hashes, line = "#" * line.startswith("#"), line.lstrip("# ")
        mark = _DECORATION.match(line)
        line = line[mark.end() :] if mark else line
        lines += [hashes + line] if line else []
        remaining = remaining[:start].rstrip()
    answer = _stated(lines, letters)
    if answer is None:
        span = last_tag_span(text)
        answer = (
            text[slice(*span)].strip() if span and not _TAKEN_BACK.search(text, span[1]) else None
        )
    return None if answer is None else _plain(answer)


_MAX_LINES = 6
"""Maximum number of last lines that are searched for an answer."""


def _stated(lines: list[str], letters: bool) -> str | None:
    """Return the answer stated in a text's last lines, with its markup, or None. ``lines`` are in reverse order."""
    if not lines:
        return None
    first = lines[0].removeprefix("#")
    head, tail = first[:80], first[80:]
    line = head.replace("**", "").replace("__", "").strip() + tail
    if clauses := list((_CLAUSE if letters else _SENTENCE).finditer(line)):
        before, clause = line[: clauses[-1].start()], line[clauses[-1].end() :]
        if not _SUPPOSED.search(before) and (stated := _ANSWER_LINE.fullmatch(clause)):
            return stated.group(1)
    match = _ANSWER_LINE.fullmatch(line)
    if match is not None and match.group(1).strip(" *_`"):
        return match.group(1)
    values = [one for one in lines if one not in ("$$", "\\[", "\\]")]
    under = len(values) > 1 and _HEADING.fullmatch(values[1].strip(" *_#"))
    if under and len(values[0]) <= 200 and not values[0].startswith("#"):
        return values[0]
    option = _OPTION_LINE.fullmatch(line.rstrip(" .*")) if letters else None
    return option.group(1) if option and option.group(1).strip("([")[:1].isupper() else None


def _plain(answer: str) -> str | None:
    answer = answer.strip(" *_`")
    if answer.endswith(".") and not answer.endswith(".."):
        answer = answer[:-1].rstrip(" *_`")
    for left, right in (("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]")):
        inner = answer[len(left) : len(answer) - len(right)]
        if answer.startswith(left) and answer.endswith(right) and left not in inner:
            return inner.strip() or None
    return answer or None


def later_answer(after: str, letters: bool = False) -> str | None:
    r"""Return the answer that replaces the boxed one, if ``after``, the text after ``\boxed{}``, states one.

    Returns "" if ``after`` only retracts the boxed answer, and None if the boxed answer remains.
    """
    after = after[:_MAX_AFTER]
    if not after.strip(" \n$.*"):
        return None
    line = answer_line(after, letters)
    value = _VALUE.match(line + "\n") if line is not None else None
    for mark in _LATER.finditer(after):
        stated = (
            None
            if _SUPPOSED.search(after[max(0, mark.start() - 100) : mark.start()])
            else _VALUE.match(after, mark.end())
        )
        value = stated or value
    value = _INSTEAD.search(after) or value
    if value is not None:
        words = re.split(r"[.!?](?:\s|$)|,? (?:because|since|not|which|so)\b", value.group(1))[0]
        return _plain(words)
    return "" if takes_back(after) else None


def takes_back(after: str) -> bool:
    """Return whether the text after an answer retracts it."""
    after = after[:_MAX_AFTER]
    return bool(_TAKEN_BACK.match(after) or _TAKEN_BACK_LATER.search(after))


_MAX_AFTER = 20_000
"""Maximum characters after an answer that are searched for another one."""


def chosen_letter(answer: str) -> str:
    """Return the option's letter if ``answer`` is a letter with a reason or a repetition, else ``answer``."""
    match = None if _OPTION.fullmatch(answer) else _REASON.fullmatch(answer.strip(" .*"))
    if match is None or _CHANGES.search(match.group("why") or ""):
        return answer
    return match.group(1)


def note_answer(text: str, answer: str) -> None:
    if not listening():
        return
    span = last_box_span(text)
    where = "the last \\boxed{}"
    if span is None or answer != text[slice(*span)].strip():
        where = "the last boxes together" if span is not None else "the last line"
    if span is None:
        end = len(text.rstrip())
        span = text.rfind("\n", 0, end) + 1, end
    note("answer", None, {"found in": where, "answer": answer}, span=span)


def last_code_block(
    text: str,
    marks: Collection[str] = ("python", "py", "python3"),
    names: Collection[str] = (),
) -> str | None:
    """Return the last closed code block in a language of ``marks``, else the last one without a language, else None.

    Blocks that define one of ``names`` take precedence.
    """
    definition = _DEFINITION.replace("NAME", "|".join(map(re.escape, names)))
    defines = re.compile(definition, re.MULTILINE).search if names else lambda block: None
    best: tuple[tuple[bool, bool], str] | None = None
    lines = [line.removeprefix("\ufeff") for line in text.split("\n")]
    for mark, block in _code_blocks(lines):
        rank = defines(block) is not None, mark in marks
        if (not mark or mark in marks) and (best is None or rank >= best[0]):
            best = rank, block
    return best[1] if best is not None else None


def _code_blocks(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the language and the text of each closed code block."""
    careful, at = True, 0
    while at < len(lines):
        opening = _opening(lines[at])
        at += 1
        if opening is None:
            continue
        indent, fence, mark = opening
        quote, nested = "", False
        end = in_string = None
        for number in range(at, len(lines)):
            line = lines[number]
            bare = line.strip()
            if bare.startswith(fence) and not bare.strip(fence[0]):
                if not quote:
                    end = number
                    break
                if not nested and in_string is None:
                    in_string = number
                nested = False
            elif quote and bare.startswith(fence):
                if in_string is not None and not line.startswith((" ", "\t")):
                    end, careful = in_string, False  # a new block: the string was never closed
                    break
                nested = True
            elif careful and ('"""' in line or "'''" in line):
                quote = _quote_after(line, quote)
        else:
            end, careful = in_string, False
        if end is None:
            return
        yield mark, "\n".join(_dedented(lines[at:end], len(indent)))
        at = end + 1


def _opening(line: str) -> tuple[str, str, str] | None:
    match = _FENCE.fullmatch(line.rstrip("\r")) if "```" in line or "~~~" in line else None
    if match is None:
        return None
    indent, fence, mark, others = match.groups()
    return indent, fence, mark.lower() or others.strip()


def _quote_after(line: str, quote: str) -> str:
    for match in _QUOTE.finditer(line):
        token = match.group()
        if not quote and token == "#":
            break
        if not quote and token[0] != "\\":
            quote = token
        elif quote and token in (quote, 3 * quote):
            quote = ""
    return quote if len(quote) == 3 else ""


def _dedented(body: list[str], indent: int) -> list[str]:
    first = next((line for line in body if line.strip()), "")
    width = min(indent, len(first) - len(first.lstrip()))
    return [line[min(width, len(line) - len(line.lstrip())) :] for line in body]


def closing_bracket(text: str, place: int, brackets: str = "{}") -> int:
    """Return the index of the bracket that closes the one at ``place - 1``, or ``len(text)``."""
    depth = 1
    for index in range(place, len(text)):
        depth += (text[index] == brackets[0]) - (text[index] == brackets[1])
        if depth == 0:
            return index
    return len(text)


def strict_json(text: str | bytes) -> Any:
    """Parse JSON. Raises ValueError if ``text`` is malformed or contains NaN or Infinity."""

    def refuse(name: str) -> None:
        raise ValueError(f"{name} is not JSON")

    return json.loads(text, parse_constant=refuse)

r"""Bring a LaTeX answer to one spelling, without meaning: delimiters, spacing, \frac and \sqrt forms.

Works on text alone (no sympy).
"""

from __future__ import annotations

import re

from prorl_verifiers.extract import closing_bracket

_UNICODE = str.maketrans(
    {
        "−": "-",
        "–": "-",
        "×": r"\times ",
        "·": r"\cdot ",
        "⋅": r"\cdot ",
        "π": r"\pi ",
        "∞": r"\infty ",
        "°": r"^\circ",
        "≤": r"\le ",
        "≥": r"\ge ",
        "∪": r"\cup ",
        "²": "^2", "³": "^3", "⁴": "^4", "⁵": "^5", "⁶": "^6", "⁷": "^7", "⁸": "^8", "⁹": "^9",
        "≠": r"\ne ", "∈": r"\in ", "∩": r"\cap ", "∅": r"\emptyset ", "±": r"\pm ", "∓": r"\mp ",
        "÷": r"\div ", "ℝ": r"\mathbb{R}", "ℤ": r"\mathbb{Z}", "ℕ": r"\mathbb{N}", "′": "'", "’": "'",
        "½": r"\frac{1}{2}", "¼": r"\frac{1}{4}", "¾": r"\frac{3}{4}", "⅓": r"\frac{1}{3}", "⅔": r"\frac{2}{3}",
        "…": r"\ldots ", "≈": r"\approx ", "∗": "*", "，": ",", "：": ":", "（": "(", "）": ")",
        "θ": r"\theta ", "α": r"\alpha ", "β": r"\beta ", "λ": r"\lambda ", "φ": r"\phi ",
        "\u200b": "", "\u200a": " ", "\u2002": " ", "\u2003": " ", "\u3000": " ", "\u205f": " ",
        "\u00a0": " ",
        "\u202f": " ",
        "\u2009": " ",
    }
)  # fmt: skip
_DIGITS = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_GROUPING = re.compile(r"(?<=[0-9])(?:\{,\}|,\\!)\s*(?=[0-9]{3})")
_SIZES = re.compile(r"\\(?:left|right|[bB]igg?[lr]?|displaystyle|textstyle|limits)(?![a-zA-Z])\.?")
_SPACES = re.compile(r"(\\\\)|\\[,;: ]|\\q?quad(?![a-zA-Z])|~|\\(?=\s)|\s+")
_FRACS = re.compile(r"\\[dtc]frac(?![a-zA-Z])")
_BARE_FRAC = re.compile(r"\\frac\s*(\{[^{}]*\}|\d|[a-zA-Z])\s*(\{[^{}]*\}|\d|[a-zA-Z])")
_PAINT = re.compile(r"\\(?:text)?color\s*\{[a-zA-Z]+\}|\\(?:underline|checkmark)(?![a-zA-Z])")
_BARE_BB = re.compile(r"\\mathbb\s*([A-Z])")
_BARE_SQRT = re.compile(r"\\sqrt\s*(\d|[a-zA-Z])")
_PAREN_SQRT = re.compile(r"\\sqrt\s*\(([^()]*)\)")
_WORD_SQRT = re.compile(
    r"(?:(?<![\\a-zA-Z])sqrt|√)\s*(?:(\d+(?:\.\d+)?|[a-zA-Z](?![a-zA-Z]))|(?=[({]))"
)
_WORD_PI = re.compile(r"(?<![\\a-zA-Z])pi(?![a-zA-Z])")
_TEXT = re.compile(
    r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|mbox|operatorname)\s*\{([^{}]*)\}"
)
_DRESSED = re.compile(
    r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|boldsymbol|mbox)\s*\{([\s\d.,/%+\-]*\d[\s\d.,/%+\-]*)\}"
)
MAX_WRAPPERS = 12
_WRAPPERS = (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]"), ("**", "**"))


def clean(text: str) -> str:
    """Return ``text`` in one spelling; equal results mean the same answer was written."""
    text = text.strip()
    if _DIGITS.fullmatch(text):
        return text
    text = text.translate(_UNICODE).strip()
    text = strip_wrappers(text)
    text = _GROUPING.sub("", text.replace("...", r"\ldots "))
    text = (
        text.replace("{}", "")
        .replace(r"\$", "")
        .replace(r"\%", "%")
        .replace("{,}", ",")
        .replace(r"\!", "")
    )
    text = _DRESSED.sub(r" \1 ", _SIZES.sub("", text))
    text = _SPACES.sub(lambda m: m.group(1) or " ", text)
    text = _PAINT.sub("", text)
    text = _BARE_BB.sub(r"\\mathbb{\1}", text)
    text = _FRACS.sub(r"\\frac", text)
    text = _WORD_SQRT.sub(lambda m: rf"\sqrt{{{m.group(1)}}}" if m.group(1) else r"\sqrt", text)
    text = _WORD_PI.sub(r"\\pi", text)
    text = _PAREN_SQRT.sub(r"\\sqrt{\1}", text)
    text = _BARE_SQRT.sub(r"\\sqrt{\1}", text)
    text = _BARE_FRAC.sub(lambda m: rf"\frac{_braced(m.group(1))}{_braced(m.group(2))}", text)
    text = text.replace(r"^{\circ}", r"^\circ").replace(r"^ \circ", r"^\circ")
    return text.strip().strip("$").rstrip(".,;").strip()


def _braced(part: str) -> str:
    return part if part.startswith("{") else "{" + part + "}"


def strip_wrappers(text: str) -> str:
    """Take off math delimiters, bold marks and braces that enclose the whole text."""
    before = None
    for _ in range(MAX_WRAPPERS):
        if text == before:
            break
        before = text
        for left, right in _WRAPPERS:
            if (
                len(text) > len(left) + len(right)
                and text.startswith(left)
                and text.endswith(right)
            ):
                inner = text[len(left) : -len(right)]
                if left not in inner and right not in inner:
                    text = inner.strip()
        if text.startswith("{") and closing_bracket(text, 1) == len(text) - 1:
            text = text[1:-1].strip()
    return text


def plain_words(text: str) -> str:
    r"""Return ``text`` with \text{...} unwrapped, lower case, single spaces and no outer marks."""
    return " ".join(_TEXT.sub(r" \1 ", text).casefold().strip(" .,:;()*").split())


def is_words(text: str) -> bool:
    r"""Whether an answer is words, not a formula: whole \text{...}, or or a first word of four letters and more."""
    match = _TEXT.fullmatch(text)
    words = match.group(1) if match else text
    if match is not None or words.lower() in ("yes", "no"):
        return re.fullmatch(r"[(\s]*[A-Za-z][A-Za-z'’.,\-\s]*[)\s]*", words) is not None
    return re.fullmatch(r"[A-Za-z'’]{4,}(?:[\s,-]+[A-Za-z'’.]{2,})*", words) is not None


def split_top(text: str, separators: str) -> list[str]:
    """Split at single-character ``separators`` that stand outside all brackets; parts stripped."""
    parts, depth, start = [], 0, 0
    for index, letter in enumerate(text):
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif (
            depth == 0
            and letter in separators
            and text[index - 1 : index] not in ("<", ">", "!", ":")
        ):
            parts.append(text[start:index].strip())
            start = index + 1
    parts.append(text[start:].strip())
    return parts

"""Normalises the spelling of LaTeX answers."""

from __future__ import annotations

import re
import unicodedata

from prorl_verifiers.extract import closing_bracket

_UNICODE: dict[str, str] = {
        **{chr(0xFF01 + at): chr(0x21 + at) for at in range(94)},  # full-width signs, digits and letters
        **{fraction: rf"\frac{{{top}}}{{{bottom}}}" for fraction, top, bottom in (
            ("½", 1, 2), ("⅓", 1, 3), ("⅔", 2, 3), ("¼", 1, 4), ("¾", 3, 4), ("⅕", 1, 5), ("⅖", 2, 5), ("⅗", 3, 5),
            ("⅘", 4, 5), ("⅙", 1, 6), ("⅚", 5, 6), ("⅐", 1, 7), ("⅛", 1, 8), ("⅜", 3, 8), ("⅝", 5, 8), ("⅞", 7, 8),
            ("⅑", 1, 9), ("⅒", 1, 10),
        )},
        "−": "-", "–": "-", "∕": "/", "⁄": "/", "×": r"\times ", "·": r"\cdot ", "⋅": r"\cdot ", "∗": "*",
        "÷": r"\div ", "±": r"\pm ", "∓": r"\mp ", "∞": r"\infty ", "°": r"^\circ ", "¢": r"\text{ cents}", "º": r"^\circ ", "˚": r"^\circ ",
        "≤": r"\le ", "⩽": r"\le ", "≦": r"\le ", "≥": r"\ge ", "⩾": r"\ge ", "≧": r"\ge ", "≠": r"\ne ", "≈": r"\approx ",
        "≡": r"\equiv ", "∪": r"\cup ", "∩": r"\cap ", "∖": r"\setminus ", "∅": r"\emptyset ", "∈": r"\in ", "∉": r"\notin ",
        "∨": r"\lor ", "∧": r"\land ", "∠": r"\angle ", "△": r"\triangle ", "∛": r"\sqrt[3]", "∜": r"\sqrt[4]",
        "⌊": r"\lfloor ", "⌋": r"\rfloor ", "⌈": r"\lceil ", "⌉": r"\rceil ", "⟨": r"\langle ", "⟩": r"\rangle ", "∣": "|",
        "ℝ": r"\mathbb{R}", "ℤ": r"\mathbb{Z}", "ℕ": r"\mathbb{N}", "ℚ": r"\mathbb{Q}", "ℂ": r"\mathbb{C}",
        "π": r"\pi ", "θ": r"\theta ", "α": r"\alpha ", "β": r"\beta ", "γ": r"\gamma ", "δ": r"\delta ", "λ": r"\lambda ",
        "φ": r"\phi ", "ϕ": r"\phi ", "ω": r"\omega ", "σ": r"\sigma ", "ρ": r"\rho ", "τ": r"\tau ",
        "٫": ".", "٬": ",", "٪": "%", "′": "'", "’": "'", "″": "''", "…": r"\ldots ", "⋯": r"\ldots ", "、": ",", "，": ",", "；": ";", "。": ".", "：": ":",
        **dict.fromkeys("\u200b\u2060\ufeff\u00ad\u2061\u2062", ""),
        **dict.fromkeys("\u200a\u2002\u2003\u3000\u205f\u00a0\u202f\u2009\u2005", " "),
}  # fmt: skip
_SIGNS = str.maketrans(_UNICODE)
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", "0123456789+-n")
_LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉₊₋ₙ", "0123456789+-n")
_RAISED_RUN, _LOWERED_RUN = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ]+"), re.compile(r"[₀₁₂₃₄₅₆₇₈₉₊₋ₙ]+")
_DIGIT = re.compile(r"(?![0-9])\d")
"""A digit of another script."""
_LETTERLIKE = re.compile("[\U0001d400-\U0001d7ff]")
"""A letter or digit of Unicode's block of mathematical letters."""
_DIGITS = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
_GROUPING = re.compile(r"(?<=[0-9])(?:\{,\}|,\\!|\{\\,\})\s*(?=[0-9]{3})")
_SPELLINGS = {
    **dict.fromkeys(
        """left right middle big bigg bigl bigr bigm biggl biggr Big Bigg Bigl Bigr Biggl Biggr displaystyle textstyle
        scriptstyle scriptscriptstyle limits nolimits tiny scriptsize footnotesize small normalsize large Large LARGE huge
        Huge rm bf it sf tt sl sc bfseries itshape boldmath mathop mathrel mathbin mathord mathstrut strut ensuremath nonumber
        notag hfill relax null underline checkmark blacksquare qed pounds euro yen hline""".split(),  # noqa: SIM905
        "",
    ),
    **dict.fromkeys("quad qquad space thinspace medspace thickspace negthinspace enspace enskip".split(), " "),  # noqa: SIM905
    "lbrace": r"\{", "rbrace": r"\}", "lbrack": "[", "rbrack": "]", "lparen": "(", "rparen": ")", "vert": "|", "Vert": "|",
    "lVert": r"\lvert ", "rVert": r"\rvert ", "colon": ":", "cdotp": r"\cdot ", "centerdot": r"\cdot ", "geqq": r"\ge ",
    "geqslant": r"\ge ", "leqq": r"\le ", "leqslant": r"\le ", "infin": r"\infty ", "empty": r"\emptyset ",
    "reals": r"\mathbb{R}", "Reals": r"\mathbb{R}", "R": r"\mathbb{R}", "Z": r"\mathbb{Z}", "N": r"\mathbb{N}",
    "Q": r"\mathbb{Q}", "smallsetminus": r"\setminus ", "textminus": "-", "slash": "/", "surd": r"\sqrt",
    "dotsc": r"\ldots ", "dotsb": r"\ldots ", "dotsm": r"\ldots ", "cdots": r"\ldots ", "textellipsis": r"\ldots ",
    "cr": r"\\", "newline": r"\\", "bm": r"\mathbf", "pmb": r"\mathbf", "dfrac": r"\frac", "tfrac": r"\frac", "cfrac": r"\frac", "sfrac": r"\frac",
    "nicefrac": r"\frac", "flatfrac": r"\frac", "dbinom": r"\binom", "tbinom": r"\binom", "implies": r"\Rightarrow ",
}  # fmt: skip
"""Replacements of commands: fonts, sizes and layout are removed, and synonyms are unified."""
_COMMAND = re.compile(r"\\([a-zA-Z]+)")
_DELIMITERS = re.compile(r"\\(?:left|right|middle)\s*\.")
_INVISIBLE = re.compile(
    r"\\(?:(?:[hv]?phantom|[hv]space\*?|label|tag\*?)\s*\{[^{}]*\}|(?:text)?color\s*\{[a-zA-Z]+\})"
)
_ROMAN = re.compile(r"\\rm(?![a-zA-Z])(?:\s|\\[,;:! ]|~)*([A-Za-z]+)")
_BRACED_UNIT = re.compile(r"(?<=[\d\s}])\{\s*(\\(?:mathrm|text)\{[^{}]*\})\s*\}")
_UNIT_IN_BRACKETS = re.compile(
    r"(?<=[\d\s}])(\\(?:mathrm|text)\{)[(\[]((?:[^{}()\[\]]|\^?\{-?\d\}|\}(?:\^\{?-?\d\}?|\\cdot\s*|/)*\\(?:mathrm|text)\{)*?)[)\]](?=\})"
)
r"""A unit in brackets, such as ``\text{(m/s}^2\text{)}``."""
_UNIT_POWERS = re.compile(r"\\(?:mathrm|text)\{(?:[^{}]|\^\{-?\d\})*\}")
_JOINT_BEHIND = re.compile(r"\\(?:text|mathrm|mbox)\s*\{([^{}]*[a-z])\s*,?\s+(and|or)\s*\}")
r"""A unit and "and" or "or" in one command: ``\text{ boys and }``."""
_PLAIN_ENVIRONMENT = re.compile(r"\\([pb]?matrix|cases)\{")
_DOUBLED = re.compile(
    r"(?<!\\)\\\\(?=(?:[dt]?frac|sqrt|text|le|leq|ge|geq|ne|neq|cup|cap|in|infty|pi|cdot|times|left|right|pm|circ|sin|cos|log|ln"
    r"|mathbb|mathrm|boxed|alpha|beta|theta|to|binom)(?![a-zA-Z]))"
)
"""A doubled backslash before a command, from a faulty export."""
_GLUED_SPACE = re.compile(r"\\q?quad(?=[A-Za-z](?:_|\s*=))")
_NOT_EQUAL = re.compile(r"\\not\s*(=|\\in(?![a-zA-Z]))")
_PLAIN_ROOT = re.compile(r"\\root\s*\{?([^{}\\]{1,20})\}?\s*\\of(?![a-zA-Z])\s*")
CURRENCIES = {
    "€": "euro", "\\euro": "euro", "EUR": "euro", "£": "pound sterling", "\\pounds": "pound sterling", "GBP": "pound sterling", "¥": "yen", "￥": "yen",
    "\\yen": "yen", "JPY": "yen", "₹": "rupee", "INR": "rupee", "₩": "won", "₽": "ruble", "USD": "dollar", "\\$": "dollar",
}  # fmt: skip
"""Names of currencies by sign or code."""
MONEY = r"[€£¥￥₹₩₽]|\\\$|(?:USD|EUR|GBP|JPY|INR)(?![A-Za-z])"
_CURRENCY = re.compile(
    rf"\\(?:text|mathrm|mbox)\s*\{{\s*(?:{MONEY})\s*\}}|[€£¥￥₹₩₽]|\\euro(?![a-zA-Z])"
    rf"|(?<![A-Za-z\\])(?:US\s?(?=\\?\$)|(?:{MONEY})(?=\s*\d))|(?<=[\d}}])\s*(?:{MONEY})(?=[\s.$}}]*\Z)"
)
_MONEY_AHEAD = re.compile(r"[€£¥￥₹₩₽$]|\\euro|USD|EUR|GBP|JPY|INR")
_SHORTENED = re.compile(r"(?<![A-Za-z])(sq|cu)\.(?=\s)")
_SPACES = re.compile(r"(\\\\)|\\[,;:!> ]|~|\\(?=\s|$)|\s+")
_PRIMES = re.compile(r"\^\s*(?:\\prime(?![a-zA-Z])|\{(?:\s*\\prime(?![a-zA-Z]))+\s*\})")
_BARE_NAME = re.compile(
    r"\\(hat|vec|bar|tilde|mathbf|overline|mathrm|mathcal)\s*\\?([A-Za-z]|[ij]math)(?![a-zA-Z])"
)
_BARE_BB = re.compile(r"\\mathbb\s*([A-Z])")
_BARE_SQRT = re.compile(r"\\sqrt\s*(\d|[a-zA-Z])")
_PAREN_SQRT = re.compile(r"\\sqrt\s*\(([^()]*)\)")
_WORD_SQRT = re.compile(
    r"(?:(?<![\\a-zA-Z])sqrt|√)\s*(?:(\d+(?:\.\d+)?|[a-zA-Z](?![a-zA-Z]))|(?=[({]))"
)
_WORD_PI = re.compile(r"(?<![\\a-zA-Z])pi(?![a-zA-Z])")
_BARE_FRAC = re.compile(r"\\frac\s*(\{[^{}]*\}|\d|[a-zA-Z])\s*(\{[^{}]*\}|\d|[a-zA-Z])")
_TEXT = re.compile(
    r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|mbox|operatorname)\s*\{([^{}]*)\}"
)
_DRESSED = re.compile(
    r"\\(?:text|textbf|textit|textrm|mathrm|mathbf|boldsymbol|mbox)\s*\{([\s\d.,/%+\-]*\d[\s\d.,/%+\-]*)\}"
)
MAX_WRAPPERS = 12
_WRAPPERS = (("$$", "$$"), ("$", "$"), (r"\(", r"\)"), (r"\[", r"\]"), ("**", "**"))


def clean(text: str) -> str:
    """Normalise the spelling of an answer, so that equal answers tend to become equal texts."""
    text = text.strip()
    if _DIGITS.fullmatch(text):
        return text
    text = _SHORTENED.sub(r"\1", text)
    if _MONEY_AHEAD.search(text):
        text = _CURRENCY.sub("", text)
    if not text.isascii():
        text = _RAISED_RUN.sub(lambda run: _script("^", run.group().translate(_RAISED)), text)
        text = _LOWERED_RUN.sub(lambda run: _script("_", run.group().translate(_LOWERED)), text)
        text = _LETTERLIKE.sub(lambda sign: unicodedata.normalize("NFKC", sign.group()), text)
        text = _DIGIT.sub(lambda digit: str(unicodedata.decimal(digit.group())), text)
        text = text.translate(_SIGNS).strip()
    text = strip_wrappers(text)
    text = _GROUPING.sub("", text.replace("...", r"\ldots "))
    text = (
        text.replace("{}", "")
        .replace(r"\$", "")
        .replace(r"\%", "%")
        .replace("{,}", ",")
        .replace(r"\!", "")
    )
    if "\\\\" in text:
        text = _DOUBLED.sub(r"\\", text)
    if "\\" in text:
        text = _BARE_NAME.sub(r"\\\1{\2}", text)
        text = _ROMAN.sub(r"\\mathrm{\1}", _INVISIBLE.sub("", _DELIMITERS.sub("", text)))
        text = _GLUED_SPACE.sub(" ", text)
        text = _NOT_EQUAL.sub(lambda m: r"\ne " if m.group(1) == "=" else r"\notin", text)
        text = _PLAIN_ROOT.sub(r"\\sqrt[\1]", text)
        text = _COMMAND.sub(lambda name: _SPELLINGS.get(name.group(1), name.group()), text)
        if "{(" in text or "{[" in text:
            text = _UNIT_IN_BRACKETS.sub(r"\1\2", text)
        text = _BRACED_UNIT.sub(r"\1", _DRESSED.sub(r" \1 ", text))
        if "^{" in text and ("rm{" in text or "text{" in text):
            text = _UNIT_POWERS.sub(
                lambda unit: re.sub(r"\^\{(-?\d)\}", r"^\1", unit.group()), text
            )
        if " and" in text or " or" in text:
            text = _JOINT_BEHIND.sub(r"\\text{\1}\\text{ \2 }", text)
        if "matrix{" in text or "cases{" in text:  # plain TeX: \pmatrix{1 & 2 \cr 3 & 4}
            for match in reversed(list(_PLAIN_ENVIRONMENT.finditer(text))):
                end = closing_bracket(text, match.end())
                name = match.group(1)
                inner = rf"\begin{{{name}}}{text[match.end() : end]}\end{{{name}}}"
                text = text[: match.start()] + inner + text[end + 1 :]
    text = _SPACES.sub(lambda m: m.group(1) or " ", text)
    text = _WORD_SQRT.sub(lambda m: rf"\sqrt{{{m.group(1)}}}" if m.group(1) else r"\sqrt", text)
    text = _WORD_PI.sub(r"\\pi", text)
    if "\\" in text:
        text = _BARE_BB.sub(r"\\mathbb{\1}", text)
        text = _PAREN_SQRT.sub(r"\\sqrt{\1}", text)
        text = _BARE_SQRT.sub(r"\\sqrt{\1}", text)
        text = _BARE_FRAC.sub(lambda m: rf"\frac{_braced(m.group(1))}{_braced(m.group(2))}", text)
        text = _PRIMES.sub(lambda match: "'" * match.group().count("prime"), text)
        text = text.replace(r"^{\circ}", r"^\circ ").replace(r"^ \circ", r"^\circ")
    return text.strip().strip("$").rstrip(".,;").strip()


def _script(sign: str, digits: str) -> str:
    return sign + (digits if len(digits) == 1 else "{" + digits + "}")


def _braced(part: str) -> str:
    return part if part.startswith("{") else "{" + part + "}"


def strip_wrappers(text: str) -> str:
    """Remove math delimiters, bold marks and braces around the whole text."""
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
    return " ".join(_TEXT.sub(r" \1 ", text).casefold().strip(" .,:;()*").split())


def is_words(text: str) -> bool:
    r"""Return whether an answer is words: \text{...}, yes or no, or a first word of at least four letters."""
    match = _TEXT.fullmatch(text)
    words = match.group(1) if match else text
    if match is not None or words.lower() in ("yes", "no"):
        return re.fullmatch(r"[(\s]*[A-Za-z][A-Za-z'’.,\-\s]*[)\s]*", words) is not None
    return re.fullmatch(r"[A-Za-z'’]{4,}(?:[\s,-]+[A-Za-z'’.]{2,})*", words) is not None


def split_top(text: str, separators: str) -> list[str]:
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


MAX_HEDGED = 4000
"""Maximum characters of a text that is searched for hedges."""

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
_TAIL = r"(?:(?!\b(?:but|however|instead|correct|right|so|thus|hence)\b)[^.!?\n;,])*$"
"""The rest of a clause, without words such as "but" that introduce the right answer."""
_DENIED_BEFORE = re.compile(
    r"(?:(?<![a-z])(?:not|never|cannot|anything but|other than)|n['’]t)(?:\s+be)?(?:\s+equal(?:s|\s+to)?)?"
    + _MARKS
    + "$"
    r"|(?<![a-z])(?:false|untrue|wrong|incorrect|not true|not the case|not so)\s+that(?![a-z])[^.!?;,:]*$",
    re.IGNORECASE,
)
_DOUBTED_BEFORE = re.compile(
    r"(?<![a-z])(?:(?:common|typical|usual|frequent|naive|tempting|wrong|incorrect|false|mistaken|erroneous|trap|trick)\s+){1,3}"
    r"(?:answer|guess|result|response|solution|value|mistake|error|choice|option|conclusion)s?"
    + _TAIL
    + r"|(?<![a-z])(?:students|people|one|you|many|some|they)\s+(?:might|may|could|would|often)\s+(?:\w+\s+){0,2}?"
    r"(?:think|say|answer|guess|believe|conclude|be tempted)(?![a-z])"
    + _TAIL
    + r"|(?<![a-z])(?:tempting|tempted|(?:do not|don['’]t|never)\s+(?:answer|say|write|put|choose))(?![a-z])"
    + _TAIL
    + r"|(?<![a-z])(?:if|had|were|without|suppose)(?![a-z])[^.!?\n]*(?<![a-z])would(?![a-z])"
    + _TAIL,
    re.IGNORECASE,
)
_SUSPECT = re.compile(
    "not|never|n['’]t|but|than|that|would|might|could|may |often|wrong|incorrect|false|mistake|erroneous|common|typical|usual|frequent|naive|tempt|trap|trick"
)
"""Parts of words that are searched for first, because every denial or doubt contains one."""
_DENIED_AFTER = re.compile(
    r"[\s$*\\)\].,]*(?:(?:is|was|would be)\s+(?:clearly\s+|of course\s+)?(?:wrong|incorrect|false|untrue)"
    r"|(?:is|was|would be)\s+(?:an?|the)\s+(?:(?:very|common|typical|usual|frequent|naive|tempting|wrong|incorrect|mistaken)\s+){1,3}"
    r"(?:answer|guess|result|mistake|error)"
    r"|but (?:this|that|it|which) (?:is (?:wrong|incorrect|not)|(?:double|over|under)[- ]?counts|ignores|forgets|misses|overlooks)"
    r"|(?:(?:is|was)\s+not|isn['’]t|wasn['’]t)\s+(?:(?:the|a)\s+)?(?:(?:right|correct|true)(?![a-z])|(?:final\s+)?answer)"
    r"|\?\W*no(?![a-z]))",
    re.IGNORECASE,
)


def denied_around(before: str, after: str) -> bool:
    """Return whether the text before or after an answer denies it, as in ``is not 5`` or ``5 is wrong``."""
    if _SUSPECT.search(before.lower()) and (
        _DENIED_BEFORE.search(before) or _DOUBTED_BEFORE.search(before)
    ):
        return True
    return after not in ("", ".", "$", "$.") and _DENIED_AFTER.match(after) is not None


_OTHERWISE = re.compile(r"&\s*(?:\\(?:text|mathrm|mbox)\s*\{\s*)?otherwise")
"""The "otherwise" of a definition by cases."""


def doubtful(text: str) -> bool:
    """Return whether a text expresses doubt or names an alternative."""
    text = text[:MAX_HEDGED]
    return _DOUBT.search(_OTHERWISE.sub("", text) if "otherwise" in text else text) is not None


def denies(text: str) -> bool:
    return _DENIAL.search(text[:MAX_HEDGED]) is not None


def hedged(text: str) -> bool:
    """Return whether a text doubts or denies its answer, or only bounds it, as in "at least 5"."""
    return doubtful(text) or denies(text) or _BOUND.search(text[:MAX_HEDGED]) is not None

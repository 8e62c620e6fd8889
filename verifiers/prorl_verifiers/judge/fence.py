"""Text of others on its way into a prompt: made harmless as a carrier, and set apart as data.

What it does: no invisible or bidirectional characters, no token of any chat template, no line that could be the
fence's own. What it cannot do: make a model disbelieve what the text says; that is what canaries look for.
"""

from __future__ import annotations

import re
import unicodedata

QUOTE = "| "
"""Begins every line in the fence, so that none of them can pass for a line of the prompt."""
_LINE_ENDS = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_TOKENS = re.compile(r"[<＜﹤](?=[^\s=])|[\[［](?=/?[A-Za-z][A-Za-z_]+[\]］])")
_BLANKS = (
    (0x034F, 0x034F),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x2800, 0x2800),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0),
    (0xE0000, 0xE0FFF),
)
"""Ranges that show nothing and are in no category of their own: fillers, selectors, tags (Unicode's
Default_Ignorable_Code_Point, and the empty Braille cell)."""


def neutral(text: str) -> str:
    """Return the text with plain line ends, without what cannot be seen, and with every ``<word`` and ``[word]``
    broken by a space.

    Control tokens of chat templates (``<|im_end|>``, ``</s>``, ``<start_of_turn>``, ``[INST]``) all have one of
    these forms; a server that reads tokens in text would take them for the end of a message.
    """
    lines = _LINE_ENDS.sub("\n", text)
    seen = "".join(shown for letter in lines if (shown := _shown(letter)))
    return _TOKENS.sub(r"\g<0> ", seen)


def fenced(text: str, code: str) -> str:
    """Return neutral text as quoted lines between two lines that hold ``code``, which the text must not know."""
    quoted = "\n".join(QUOTE + line for line in neutral(text).split("\n"))
    return f"{fence_line('begin', code)}\n{quoted}\n{fence_line('end', code)}"


def fence_line(word: str, code: str) -> str:
    """Return the line that begins or ends a fence."""
    return f"=== {word} {code} ==="


def _shown(letter: str) -> str:
    """Return a character as a reader is to see it: itself, nothing, or U+FFFD."""
    if letter in "\n\t" or " " <= letter <= "~":
        return letter
    kind, code = unicodedata.category(letter), ord(letter)
    if kind == "Cf" or any(first <= code <= last for first, last in _BLANKS):
        return ""
    return "\ufffd" if kind in ("Cc", "Cs", "Co", "Cn") else letter

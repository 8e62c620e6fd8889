"""Find words that must not return to docstrings, comments, messages and docs: `python scripts/plain_words.py`.

Prints each place with what to write instead; exit code 1 if there is one.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INSTEAD = {
    r"by whatever \w+": "leave it out",
    r"(?:is|are|be) gone on with": "is resumed",
    r"(?:to|can(?:not)?) be had": "is available, can be loaded",
    r"takes? no requests": "accepts no requests",
    r"of one's own": "your own",
    r"(?:is|are) told (?:of|by|in|where)": "the field's verb: is recorded, is identified, is reported",
    r"is made again": "is rebuilt",
    r"what (?:came of|stands in)": "the result of, the content of",
    r"leaves out:": "leave it out: the imports say it",
    r"where one is": "if there is one",
    r"in what .{3,40} differs": "how it differs",
    r"as (?:it was|they were) before it": "unchanged",
    r"so many(?:-?th| times)|of so many \w+": "every Nth, N times, of N",
    r"for so long": "for N seconds",
    r"giv(?:e|ing) the same command": "run the same command",
    r"mend(?:s|ed)? (?:it|its|the)|fetch(?:ed)? it again": "fix, download it again",
    r"is no (?:\w+ )?(?:name|text|list|number|expression|object|file|repository)": "is not a",
    r"(?:is|are) not whole|must lie (?:in|between)": "is incomplete, must be between",
    r"at hand|for want of": "is available, because there is no",
}
"""Pattern of a phrase that has to be read twice -> what to write."""


def main() -> int:
    """Print each place with its replacement; return the exit code."""
    words = ["git", "ls-files", "*.py", "docs/*.md", "*.md"]
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    places = []
    for name in listed.stdout.split():
        if name == "scripts/plain_words.py" or name.startswith(("tests/", "benchmarks/")):
            continue
        for number, line in enumerate((ROOT / name).read_text("utf-8").splitlines(), 1):
            for pattern, instead in INSTEAD.items():
                if match := re.search(rf"\b(?:{pattern})\b", line, re.IGNORECASE):
                    places.append(f"{name}:{number}: '{match[0]}': write instead: {instead}")
    print(*places, sep="\n", end="\n" if places else "")
    return 1 if places else 0


if __name__ == "__main__":
    sys.exit(main())

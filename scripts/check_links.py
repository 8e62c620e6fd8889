"""Check the links of README, CONTRIBUTING and similar files, and on request every address in the docs.

    python scripts/check_links.py               # files and headings; standard library, no network
    python scripts/check_links.py --external    # asks each http(s) address once

``mkdocs build --strict`` checks the site's own links. Exits with 1 if a link is broken.
"""

from __future__ import annotations

import argparse
import re
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"\]\(\s*<?([^)>\s]+)>?(?:\s+\"[^\"]*\")?\s*\)")
ADDRESS = re.compile(r"https?://[^\s<>()\"'`\]]+")
FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]*`")


def heading_ids(text: str) -> set[str]:
    """Return the anchors of a page's headings, as hosting services and mkdocs create them."""
    found: set[str] = set()
    for line in re.findall(r"^#+\s+(.+)$", FENCE.sub("", text), re.MULTILINE):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line).replace("`", "")
        found.add(re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower()))
    return found


def broken_links(page: Path) -> Iterator[str]:
    """Yield each link in ``page`` to a missing file or heading."""
    text = page.read_text("utf-8")
    for target in LINK.findall(CODE.sub("", FENCE.sub("", text))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists():
            yield f"{page.name}: no such file: {target}"
        elif anchor and file.suffix == ".md" and anchor not in heading_ids(file.read_text("utf-8")):
            yield f"{page.name}: no such heading: {target}"


def front_pages() -> list[Path]:
    """Return the Markdown files outside docs/ that the hosting service displays."""
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / ".github").rglob("*.md"))]


def answer(address: str) -> str:
    """Return "" if ``address`` answers, else the error."""
    request = urllib.request.Request(address, headers={"User-Agent": "Mozilla/5.0 (link check)"})
    try:
        with urllib.request.urlopen(request, timeout=20):
            return ""
    except (urllib.error.URLError, OSError) as error:
        return str(error)


def main() -> int:
    """Print broken links; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--external", action="store_true", help="ask the addresses, too")
    external = parser.parse_args().external
    broken = [line for page in front_pages() for line in broken_links(page)]
    if external:
        pages = [*front_pages(), *sorted((ROOT / "docs").rglob("*.md"))]
        found = {
            a.rstrip(".,;:")
            for page in pages
            for a in ADDRESS.findall(FENCE.sub("", page.read_text("utf-8")))
        }
        for address in sorted(a for a in found if not re.match(r"https?://(localhost|127\.)", a)):
            if problem := answer(address):
                broken.append(f"{address}: {problem}")
    print(*broken, sep="\n", end="\n" if broken else "", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    raise SystemExit(main())

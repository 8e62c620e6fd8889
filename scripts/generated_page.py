"""The command line of the scripts that write a page of docs/reference from code.

Leaves out: what the page says.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def write_or_check(page: Path, text: str, description: str) -> int:
    """Write ``text`` to ``page``; with ``--check`` compare only, and return 1 when the page is out of date."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    if not parser.parse_args().check:
        page.write_text(text, "utf-8")
        return 0
    if page.is_file() and page.read_text("utf-8") == text:
        return 0
    print(f"{page} is out of date: python {sys.argv[0]}", file=sys.stderr)
    return 1

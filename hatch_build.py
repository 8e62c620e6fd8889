"""The long description of the package: README.md with links that lead somewhere from PyPI too."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?://|#)([^)\s]+)\)")


class LongDescription(MetadataHookInterface):
    """Points relative links at ``Source`` of [project.urls], at the release's tag; without one, leaves their text."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the field ``readme``."""
        source = metadata.get("urls", {}).get("Source", "").rstrip("/")
        tag = f"v{metadata['version']}"

        def absolute(match: re.Match[str]) -> str:
            image, text, path = match.groups()
            if not source:
                return "" if image else text
            return f"{image}[{text}]({source}/{'raw' if image else 'blob'}/{tag}/{path})"

        text = LINK.sub(absolute, (Path(self.root) / "README.md").read_text(encoding="utf-8"))
        metadata["readme"] = {"content-type": "text/markdown", "text": text}

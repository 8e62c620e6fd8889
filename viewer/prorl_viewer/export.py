"""Writes the page as one self-contained HTML file.

Every ``<`` in its JSON is escaped, so that no text can end the script element.
"""

from __future__ import annotations

import base64
import json
import posixpath
import re
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from prorl_common import atomic_write_text
from prorl_viewer.answering import answer, failure
from prorl_viewer.subject import Subject, list_subjects

PAGE = Path(__file__).parent / "page"
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)
_IMPORT = re.compile(r"""(\bfrom\s*|\bimport\s*\(?)(["'])(\.{1,2}/[^"']+)\2""")
_FIRST = '<meta charset="utf-8">'
_LINK = re.compile(r'<link rel="stylesheet" href="page/([^"]+)">')
_SCRIPT = '<script type="module" src="page/main.js"></script>'


def write_html(
    subjects: Sequence[Subject], file: Path, share_safe: bool = False, opens_first: bool = False
) -> int:
    """Write a self-contained HTML page of all ``subjects`` to ``file``; return its size in bytes.

    ``opens_first`` shows the first subject instead of the list.
    """
    page = (PAGE / "index.html").read_text(encoding="utf-8")
    head = f'{_FIRST}\n<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    answers = _answers(subjects, share_safe, opens_first)
    modules = json.dumps({"imports": _modules()})
    scripts = (
        f'<script type="application/json" id="answers">{answers}</script>\n'
        f'<script type="importmap">{modules}</script>\n'
        '<script type="module">import "prorl/main.js";</script>'
    )
    for before, after in ((_FIRST, head), (_SCRIPT, scripts)):
        if before not in page:
            raise ValueError(f"index.html has no {before}")
        page = page.replace(before, after)
    page = _LINK.sub(
        lambda link: f"<style>\n{(PAGE / link[1]).read_text(encoding='utf-8')}</style>", page
    )
    atomic_write_text(file, page)
    return file.stat().st_size


def _answers(subjects: Sequence[Subject], share_safe: bool, opens_first: bool) -> str:
    """Return the data of all exported pages as JSON, with the errors of failed ones in ``refused``."""
    answers: dict[str, str] = {}
    refused: dict[str, str] = {}
    for subject in subjects:
        try:
            pages = subject.pages()
            for page, query in subject.snapshot():
                words = "&".join(f"{key}={query[key]}" for key in sorted(query) if query[key] != "")
                status, data = answer(pages[page], query, share_safe)
                target = answers if status == 200 else refused
                target[f"{subject.name}/{page}?{words}"] = data.decode()
        except Exception as error:  # noqa: BLE001 - the page tells it, and shows what it has of the others
            refused[f"{subject.name}/"] = failure(error, share_safe)[1].decode()
    first = subjects[0].name if opens_first else ""
    about = json.dumps(
        {
            "subjects": list_subjects(subjects, lambda _: ""),
            "share_safe": share_safe,
            "opens": first,
        }
    )
    content = f'"answers":{_joined(answers)},"refused":{_joined(refused)}'
    return f"{about[:-1]},{content}}}".replace("<", "\\u003c")


def _joined(answers: Mapping[str, str]) -> str:
    return "{" + ",".join(f"{json.dumps(key)}:{value}" for key, value in answers.items()) + "}"


def _modules() -> dict[str, str]:
    modules = {}
    for path in sorted(PAGE.rglob("*.js")):
        name = PurePosixPath(path.relative_to(PAGE).as_posix())

        def by_name(hit: re.Match[str], folder: PurePosixPath = name.parent) -> str:
            return f'{hit[1]}"prorl/{posixpath.normpath(folder / hit[3])}"'

        source = _IMPORT.sub(by_name, path.read_text(encoding="utf-8"))
        data = base64.b64encode(source.encode()).decode()
        modules[f"prorl/{name}"] = f"data:text/javascript;base64,{data}"
    return modules

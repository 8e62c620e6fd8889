"""Lines of a journal by their key, found without holding their text; the journal may be written meanwhile.

Only the place of each line is kept (16 bytes a line), so that a million samples are searched in a few megabytes. Leaves
out: what a line means (``parts``).
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from prorl_evaluation.sampling.repair import CURE, Types, fault
from prorl_evaluation.types import EvaluationError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.uint64]

CHUNK = 1 << 23
HEAD = b'{"key": "'
"""How prorl begins a line; others are parsed to find their key."""
DIGITS = 16
"""Of a key's 32 hex digits, as many as a place is found by; the line itself says whether it is the one."""


class KeyedLines:
    """The lines of one journal. ``fields`` is what a line must have (``repair.SAMPLE_FIELDS`` and the like)."""

    def __init__(self, path: Path, fields: Mapping[str, Types]) -> None:
        self.path, self.fields = path, fields
        self.lines = 0
        self.without_key = 0
        self._file: tuple[int, int] | None = None
        self._read = 0
        self._added = False
        self._places: list[tuple[Numbers, Numbers]] = []
        self._lock = threading.Lock()

    def rows(self, keys: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
        """Return every line of each key, in the order of the file; keys without one are left out.

        What was added since the last call is taken up first. Raises EvaluationError for a damaged line of a key.
        """
        import numpy as np

        with self._lock:
            if not self._take_up():
                return {}
            heads, places = self._sorted()
        found: dict[str, list[dict[str, Any]]] = {}
        with self.path.open("rb") as file:
            for key in keys:
                head = np.uint64(int(key[:DIGITS], 16))
                first, last = (np.searchsorted(heads, head, side) for side in ("left", "right"))
                own = [self._row(file, int(place)) for place in places[first:last]]
                if own := [row for row in own if row["key"] == key]:
                    found[key] = own
        return found

    def _row(self, file: Any, place: int) -> dict[str, Any]:
        file.seek(place)
        try:
            row = json.loads(file.readline())
            wrong = fault(row, self.fields)
        except (ValueError, RecursionError) as error:
            wrong = f"not valid JSON ({' '.join(str(error).split())[:80]})"
        if wrong is not None:
            raise EvaluationError(f"{self.path}, byte {place}: {wrong}: {CURE}")
        assert isinstance(row, dict)
        return row

    def _take_up(self) -> bool:
        """Read what was added; everything, where the file is another one. Return whether there is a file."""
        try:
            with self.path.open("rb") as file:
                stat = os.fstat(file.fileno())
                identity = (stat.st_dev, stat.st_ino)
                if identity != self._file or stat.st_size < self._read:
                    self._file, self._read, self._places = identity, 0, []
                    self.lines = self.without_key = 0
                file.seek(self._read)
                rest = b""
                while chunk := file.read(CHUNK):
                    data = rest + chunk
                    whole = data.rfind(b"\n") + 1
                    if whole:
                        self._add(data[:whole], self._read)
                        self._read += whole
                    rest = data[whole:]
        except FileNotFoundError:
            return False
        return True

    def _add(self, data: bytes, start: int) -> None:
        """Note the lines of ``data``, which ends with one and begins at byte ``start`` of the file."""
        import numpy as np

        raw = np.frombuffer(data, np.uint8)
        ends = np.flatnonzero(raw == ord("\n"))
        begins = np.concatenate([[0], ends[:-1] + 1])
        width = len(HEAD) + DIGITS
        usual = np.zeros(len(begins), bool)
        long = np.flatnonzero(ends - begins >= width)
        letters = raw[begins[long, None] + np.arange(width)]
        values = _hex_values()[letters[:, len(HEAD) :]]
        fits = (letters[:, : len(HEAD)] == np.frombuffer(HEAD, np.uint8)).all(axis=1)
        fits &= (values < DIGITS).all(axis=1)
        usual[long[fits]] = True
        shifts = np.arange(4 * (DIGITS - 1), -1, -4, dtype=np.uint64)
        heads = np.zeros(len(begins), np.uint64)
        heads[usual] = (values[fits].astype(np.uint64) << shifts).sum(axis=1, dtype=np.uint64)
        for at in np.flatnonzero(~usual & (ends > begins)):
            if (key := _key(data[begins[at] : ends[at]])) is None:
                self.without_key += 1
                continue
            heads[at], usual[at] = key, True
        self._added = True
        self.lines += int(usual.sum())
        self._places.append((heads[usual], (begins[usual] + start).astype(np.uint64)))

    def _sorted(self) -> tuple[Numbers, Numbers]:
        """Return the keys' heads in order and their lines' places; lines of one key stay in the file's order."""
        import numpy as np

        if self._added:
            heads, places = (np.concatenate(c) for c in zip(*self._places, strict=True))
            order = np.argsort(heads, kind="stable")
            self._places, self._added = [(heads[order], places[order])], False
        return self._places[0] if self._places else (np.zeros(0, np.uint64),) * 2


def _hex_values() -> NDArray[np.uint8]:
    import numpy as np

    table = np.full(256, 255, np.uint8)
    for value, letter in enumerate(b"0123456789abcdef"):
        table[letter] = value
    return table


def _key(line: bytes) -> int | None:
    try:
        return int(str(json.loads(line)["key"])[:DIGITS], 16)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None

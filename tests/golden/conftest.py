"""Golden files of values that must not change; ``pytest tests/golden --record`` writes them again."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

DATA = Path(__file__).parent / "data"
SHOWN = 10
"""Number of differences that a failure lists."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record", action="store_true", help="write the golden files anew")


class Golden:
    """Compare values with those in ``tests/golden/data``, or record them."""

    def __init__(self, record: bool) -> None:
        self.record = record

    def check(
        self, name: str, value: Mapping[str, Any], *, part: bool = False, rel: float = 0.0
    ) -> None:
        """Fail unless ``value`` equals the golden file ``name`` up to the relative error ``rel`` of floats; with
        ``part``, only the keys of ``value`` are compared and nothing is recorded.
        """
        path = DATA / f"{name}.json"
        new = json.loads(json.dumps(value))
        if self.record:
            if not part:
                self._write(path, new)
            return
        old = json.loads(path.read_text(encoding="utf-8"))
        keys = new.keys() if part else old.keys() | new.keys()
        lines = [
            f"{key}\n  golden: {_short(old.get(key))}\n  now:    {_short(new.get(key))}"
            for key in sorted(keys)
            if not _same(old.get(key), new.get(key), rel)
        ]
        if lines:
            listed = "\n".join(lines[:SHOWN])
            pytest.fail(
                f"{len(lines)} of {len(keys)} values differ from {path.name}:\n{listed}\nA change on "
                "purpose is recorded with: pytest tests/golden --record -k PART",
                pytrace=False,
            )

    def check_known(self, name: str, key: str, value: str) -> None:
        """Fail unless ``value`` equals the golden file's entry ``key``; skip if there is none. Recording adds the key."""
        path = DATA / f"{name}.json"
        known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        if self.record:
            self._write(path, known | {key: value})
        elif key not in known:
            pytest.skip(f"{path.name} has no value for {key}: record one there with --record")
        else:
            assert value == known[key]

    def _write(self, path: Path, value: dict[str, Any]) -> None:
        rows = (f"{json.dumps(key)}: {json.dumps(value[key], ensure_ascii=False)}" for key in value)
        path.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 300 else text[:300] + "..."


def _same(old: Any, new: Any, rel: float) -> bool:
    """Compare JSON values; numbers that are not both integers may differ by ``rel``."""
    if isinstance(old, dict) and isinstance(new, dict):
        return old.keys() == new.keys() and all(_same(old[key], new[key], rel) for key in old)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(_same, old, new, [rel] * len(old)))
    if rel and isinstance(old, float) and isinstance(new, int | float):
        return math.isclose(old, new, rel_tol=rel, abs_tol=rel)
    return type(old) is type(new) and bool(old == new)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    return Golden(bool(request.config.getoption("--record", default=False)))


@pytest.fixture
def digest() -> Any:
    """Return a function that gives a short hash of a JSON value."""

    def of(value: Any) -> str:
        text = json.dumps(value, sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    return of

from pathlib import Path

import pytest

from prorl_common import Closing, Journal


class Door(Closing):
    closed = 0

    def close(self) -> None:
        self.closed += 1


def test_leaving_the_block_closes_the_object() -> None:
    door = Door()
    with door as inside:
        assert inside is door and door.closed == 0
    assert door.closed == 1


def test_an_error_closes_the_object_and_goes_on() -> None:
    door = Door()
    with pytest.raises(ZeroDivisionError), door:
        raise ZeroDivisionError
    assert door.closed == 1


def test_a_class_without_close_cannot_be_made() -> None:
    class Wall(Closing):
        pass

    with pytest.raises(TypeError, match="close"):
        Wall()  # type: ignore[abstract]


def test_a_journal_is_closed_by_its_block(tmp_path: Path) -> None:
    with Journal(tmp_path / "j.jsonl") as journal:
        journal.append({"a": 1})
    with pytest.raises(ValueError, match="closed"):
        journal.append({"a": 2})

"""What an answer is made of, which subjects are found, and what leaves the machine."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from prorl_common import UserError
from prorl_viewer import Private, find_subjects, write_html
from prorl_viewer.encoding import SHOWN, encode
from prorl_viewer.subject import Kind, Page, Query, choice, integer


class Few:
    """A subject with one text."""

    kind: Kind = "run"

    def __init__(self, text: str) -> None:
        self.name, self.path, self._text = "few", Path("few"), text

    def version(self) -> str:
        return "1"

    def pages(self) -> Mapping[str, Page]:
        def summary(query: Query) -> dict[str, Any]:
            return {"step": int(query.get("step", 0)), "said": Private(self._text)}

        return {"summary": summary}

    def actions(self) -> Mapping[str, Page]:
        return {}

    def close(self) -> None:
        pass

    def snapshot(self) -> Iterator[tuple[str, dict[str, str]]]:
        yield "summary", {}
        yield "summary", {"step": "3", "q": ""}


def test_a_private_text_is_left_out_of_a_share_safe_answer_with_its_length_told() -> None:
    value = {"rows": [Private("abc"), None], "mean": float("nan"), "n": 3}
    assert json.loads(encode(value)) == {"rows": [{"text": "abc"}, None], "mean": None, "n": 3}
    assert json.loads(encode(value, share_safe=True))["rows"] == [{"length": 3}, None]


def test_a_very_long_text_is_cut_with_its_length_told() -> None:
    found = json.loads(encode(Private("x" * (SHOWN + 5))))
    assert (len(found["text"]), found["length"]) == (SHOWN, SHOWN + 5)


def test_a_text_that_is_no_unicode_is_carried() -> None:
    assert json.loads(encode(Private("\ud800"))) == {"text": "\ud800"}


def test_what_json_does_not_know_is_a_fault_and_not_guessed() -> None:
    with pytest.raises(TypeError, match="set"):
        encode({"a": {1, 2}})


@pytest.mark.parametrize("text", ["</script><script>alert(1)</script>", "<!--<script>", "]]>"])
def test_no_text_can_end_the_script_that_holds_the_answers(tmp_path: Path, text: str) -> None:
    file = tmp_path / "page.html"
    write_html([Few(text)], file)
    page = file.read_text()
    (held,) = re.findall(
        r'<script type="application/json" id="answers">(.*?)</script>', page, re.DOTALL
    )
    assert "<" not in held
    answers = json.loads(held)["answers"]
    assert answers["few/summary?"]["said"]["text"] == text
    assert answers["few/summary?step=3"]["step"] == 3


def test_a_share_safe_file_holds_no_private_text(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    write_html([Few("a secret of the data")], file, share_safe=True)
    assert "a secret" not in file.read_text()


def test_a_page_in_a_file_imports_nothing_from_outside_it(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    write_html([Few("")], file)
    (found,) = re.findall(r'<script type="importmap">(.*?)</script>', file.read_text(), re.DOTALL)
    modules = json.loads(found)["imports"]
    assert "prorl/main.js" in modules and "prorl/vendor/preact.js" in modules
    assert all(address.startswith("data:text/javascript;base64,") for address in modules.values())


def test_a_path_that_is_not_there_and_a_folder_with_nothing_are_mistakes(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="does not exist"):
        find_subjects([tmp_path / "none"])
    with pytest.raises(UserError, match="no run, dataset or evaluation"):
        find_subjects([tmp_path])


def test_two_runs_of_one_name_are_told_apart_and_one_given_twice_is_one(tmp_path: Path) -> None:
    for place in ("a", "b"):
        folder = tmp_path / place / "run"
        folder.mkdir(parents=True)
        (folder / "config.yaml").write_text("{}")
        (folder / "identity.json").write_text("{}")
    found = find_subjects([tmp_path, tmp_path / "a" / "run"])
    assert [s.name for s in found] == ["run", "b-run"]


def test_a_query_that_makes_no_sense_is_a_mistake_with_the_nearest_word() -> None:
    assert integer({}, "step", 7) == 7
    with pytest.raises(UserError, match="whole number"):
        integer({"step": "x"}, "step", 0)
    with pytest.raises(UserError, match="did you mean 'scored'"):
        choice({"status": "scord"}, "status", ["scored", "timeout"])

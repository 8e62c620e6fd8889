from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from prorl_common import UserError
from prorl_viewer import Private, Subjects, find_subjects, write_html
from prorl_viewer.answering import DEEPEST, SHOWN, answer, encode
from prorl_viewer.subject import Hidden, Kind, Page, Query, choice, integer


class Few:
    """A subject with one text."""

    kind: Kind = "run"

    def __init__(self, text: str) -> None:
        self.name, self.path, self._text = "few", Path("few"), text
        self.folders = [self.path]

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


def test_what_is_nested_without_end_is_cut_and_does_not_end_the_page() -> None:
    value: Any = "inside"
    for _ in range(20_000):
        value = [value]
    text = encode({"a": value, "b": 1}).decode()
    assert text.count("[") == DEEPEST - 1 and json.loads(text)["b"] == 1


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/home/jane doe/runs/a.yaml", "…/a.yaml"),
        ("~/models/tiny", "…/tiny"),
        ("cannot read '/home/jane/x.yaml': no such file", "cannot read '…/x.yaml': no such file"),
        ("C:\\Users\\jane\\run", "…/run"),
        ("tokens/s and domains/math", "tokens/s and domains/math"),
    ],
)
def test_a_share_safe_answer_tells_no_folders(text: str, shown: str) -> None:
    assert json.loads(encode({"path": text}, share_safe=True)) == {"path": shown}
    assert json.loads(encode({"path": text})) == {"path": text}


def test_what_would_tell_a_text_without_being_one_is_left_out_share_safe() -> None:
    assert json.loads(encode({"ends": Hidden([1, 4])})) == {"ends": [1, 4]}
    assert json.loads(encode({"ends": Hidden([1, 4])}, share_safe=True)) == {"ends": None}


def _page_that_fails(error: Exception) -> Page:
    def page(query: Query) -> Any:
        raise error

    return page


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (UserError("gold 'a secret'"), 400),
        (PermissionError(13, "a secret"), 503),
        (TypeError("a secret"), 500),
        (RecursionError("a secret"), 500),
    ],
)
def test_a_page_whose_files_are_odd_says_so_and_tells_no_text_share_safe(
    error: Exception, status: int
) -> None:
    given, data = answer(_page_that_fails(error), {}, share_safe=True)
    assert given == status
    assert json.loads(data)["error"]
    assert (b"secret" in data) is isinstance(error, PermissionError)  # the system reports it


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


class Odd(Few):
    """A subject with a page that fails and an incomplete snapshot."""

    def pages(self) -> Mapping[str, Page]:
        odd = {"odd": _page_that_fails(UserError("no test case"))}
        return {**super().pages(), **odd}

    def snapshot(self) -> Iterator[tuple[str, dict[str, str]]]:
        yield "odd", {}
        yield "summary", {}
        raise KeyError("reason")


def test_an_export_holds_what_it_can_and_says_what_it_could_not(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    write_html([Odd("fine")], file)
    page = file.read_text()
    assert page.index('<meta charset="utf-8">') < 1024
    (held,) = re.findall(r'id="answers">(.*?)</script>', page, re.DOTALL)
    told = json.loads(held)
    assert told["answers"]["few/summary?"]["said"] == {"text": "fine"}
    assert told["refused"]["few/odd?"] == {"error": "no test case"}
    assert "KeyError" in told["refused"]["few/"]["error"]


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


def test_what_begins_while_the_page_is_open_is_found_and_the_others_stay_as_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    monkeypatch.setattr("prorl_viewer.finding.time.monotonic", lambda: clock[0])

    def begin(place: str, *files: str) -> None:
        folder = tmp_path / place
        folder.mkdir(parents=True)
        for name in files:
            (folder / name).write_text("{}")

    begin("a/run", "config.yaml", "identity.json")
    begin("a/run/eval/base-0123abcd", "eval.json")
    subjects = Subjects([tmp_path])
    run, evaluation = subjects.now()
    begin("0/run", "config.yaml", "identity.json")
    begin("a/run/eval/step_000100-0123abcd", "result.json")
    assert subjects.now() == [run, evaluation]  # not searched again yet
    clock[0] = 10
    now = subjects.now()
    assert [s.name for s in now] == ["run", "0-run", "base-0123abcd", "step_000100-0123abcd"]
    assert now[0] is run and now[2] is evaluation
    shutil.rmtree(tmp_path / "a")
    clock[0] = 20
    assert subjects.now() == now
    subjects.close()


def test_a_query_that_makes_no_sense_is_a_mistake_with_the_nearest_word() -> None:
    assert integer({}, "step", 7) == 7
    with pytest.raises(UserError, match="whole number"):
        integer({"step": "x"}, "step", 0)
    with pytest.raises(UserError, match="did you mean 'scored'"):
        choice({"status": "scord"}, "status", ["scored", "timeout"])

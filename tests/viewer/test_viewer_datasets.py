from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prorl_common import UserError
from prorl_datasets import DatasetError, prompt_key
from prorl_datasets.storage import canonical_json, write_split
from prorl_viewer.answering import encode
from prorl_viewer.datasets.subject import DatasetSubject, looks_like, open_subjects
from prorl_viewer.subject import NotFoundError, Private

SECRET = "Quokka"


def _row(identity: str, prompt: str, answer: str, **changes: Any) -> dict[str, Any]:
    about = {"entry": identity.rpartition("-")[0], "gold_response": f"\\boxed{{{answer}}}"}
    row = {
        "id": identity,
        "domain": "math",
        "split": "train",
        "prompt": [{"role": "user", "content": prompt}],
        "verifier": "math",
        "reference": json.dumps({"answer": answer}),
        "source": "procedural/add",
        "licence": "Apache-2.0",
        "gold_check": "self-consistent",
        "metadata": canonical_json({**about, **changes.pop("metadata", {})}),
    }
    return {**row, **changes}


def _add(place: int, level: int) -> dict[str, Any]:
    prompt = (
        f"{SECRET} has {place} apples and buys {place + 1} more apples at the market. How many?"
    )
    about = {"family": "add", "level": level}
    return _row(f"add-train-{place:06d}", prompt, str(2 * place + 1), metadata=about)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Nine rows of three sources, two of them rated."""
    out = tmp_path / "mix"
    out.mkdir()
    stem = _row(
        "steam-train-000000",
        "What is the unit of force?",
        "N",
        domain="stem",
        verifier="stem",
        source="lab/units",
        licence="MIT",
        metadata={"level": "hard", "extra": {"family": "nested", "level": 9}},
    )
    turns = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "3 + 4?"}]
    talk = _row("talk-train-000000", "", "7", source="lab/talk", licence="MIT")
    talk["prompt"] = turns
    train = [*(_add(place, 1 + place % 2) for place in range(6)), stem, talk]
    held = {**_add(6, 1), "id": "add-validation-000000", "split": "validation"}
    write_split(out / "train.parquet", train)
    write_split(out / "validation.parquet", [held])
    files = {"train.parquet": {"rows": 8}, "validation.parquet": {"rows": 1}}
    dropped = [
        {"row": "add-train-9", "stage": "near-duplicate", "reason": "near-duplicate"}
        | {"entry": "add", "domain": "math", "text": SECRET, "like": "add-train-000001"},
        {"row": "add-train-7", "stage": "gold", "reason": "gold response not accepted"}
        | {"entry": "add", "domain": "math", "detail": f"reward 0: {SECRET}", "gold": SECRET},
    ]
    pairs = [
        {"row": "add-train-000002", "benchmark": "gsm8k", "rule": "minhash", "dropped": False}
        | {"item": "12", "text": SECRET, "shared": SECRET},
        {"row": "add-train-4", "benchmark": "gsm8k", "rule": "question", "dropped": True},
    ]
    for name, lines in (("dropped.jsonl", dropped), ("decontamination.jsonl", pairs)):
        (out / name).write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        files[name] = {"rows": len(lines)}
    rows = {"candidates": 11, "gold": 1, "near-duplicate": 1, "kept": 9}
    manifest = {
        "recipe": "mix",
        "files": files,
        "counts": {"train": {"math": 7, "stem": 1}, "validation": {"math": 1}},
        "stages": {"math": rows},
        "drops": {"near-duplicate": 1, "gold response not accepted": 1},
        "decontamination": {"checked": {"gsm8k": 1319}, "not_checked": {"amc": "no hub"}},
    }
    (out / "manifest.json").write_text(json.dumps(manifest))
    ratings = out.with_name("mix.ratings")
    ratings.mkdir()
    key = prompt_key(train[0]["prompt"])
    lines = [
        {
            "id": "add-train-000000",
            "pass_rate": 0.25,
            "n": 8,
            "low": 0.1,
            "high": 0.5,
            "prompt_key": key,
        },
        {
            "id": "add-train-000001",
            "pass_rate": 1.0,
            "n": 8,
            "low": 0.7,
            "high": 1.0,
            "prompt_key": "old",
        },
    ]
    (ratings / "pass_rates.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return out


@pytest.fixture
def ask(folder: Path) -> Callable[..., Any]:
    """Request a page of the dataset as the server does."""
    subject = DatasetSubject(folder)
    return lambda page, **query: subject.pages()[page](query)


def _ids(answer: Any) -> list[str]:
    return [row["id"] for row in answer["rows"]]


def test_a_dataset_folder_is_known_by_its_manifest(folder: Path, tmp_path: Path) -> None:
    assert looks_like(folder)
    assert not looks_like(tmp_path)
    (subject,) = open_subjects([folder])
    assert (subject.kind, subject.name) == ("dataset", "mix")


def test_the_summary_comes_from_the_manifest_without_reading_rows(folder: Path) -> None:
    (folder / "train.parquet").write_bytes(b"not read")
    summary = DatasetSubject(folder).pages()["summary"]({})
    assert summary["rows"] == 9
    assert summary["counts"][0] == {"domain": "math", "train": 7, "validation": 1, "test": 0}


def test_a_damaged_file_is_named(folder: Path) -> None:
    (folder / "train.parquet").write_bytes(b"broken")
    with pytest.raises(DatasetError, match=r"train\.parquet is not a readable"):
        DatasetSubject(folder).pages()["rows"]({})


def test_rows_are_filtered_by_every_label_and_by_text(ask: Callable[..., Any]) -> None:
    assert ask("rows")["total"] == 9
    assert _ids(ask("rows", domain="stem")) == ["steam-train-000000"]
    assert _ids(ask("rows", split="validation")) == ["add-validation-000000"]
    assert ask("rows", family="add", level="2")["total"] == 3
    assert ask("rows", licence="MIT", source="lab/talk")["total"] == 1
    assert _ids(ask("rows", q="UNIT OF force")) == ["steam-train-000000"]
    assert _ids(ask("rows", q="talk-train")) == ["talk-train-000000"]
    assert _ids(ask("rows", q="be brief.")) == ["talk-train-000000"]
    assert ask("rows", domain="nowhere")["total"] == 0
    assert ask("rows", q=".*")["total"] == 0
    assert ask("rows", q="(" * 500)["total"] == 0
    with pytest.raises(UserError, match="at most 500 characters"):
        ask("rows", q="x" * 501)


def test_each_choice_says_what_it_would_leave_given_the_others(ask: Callable[..., Any]) -> None:
    counts = ask("rows", domain="math", level="1")["counts"]
    assert counts["level"] == {"1": 4, "2": 3, "(none)": 1}
    assert counts["domain"] == {"math": 4}
    assert counts["licence"] == {"Apache-2.0": 4}
    assert ask("rows", level="(none)")["total"] == 1


def test_family_and_level_are_the_rows_own_and_not_those_of_nested_metadata(
    ask: Callable[..., Any],
) -> None:
    (row,) = ask("rows", domain="stem")["rows"]
    assert (row["family"], row["level"]) == (None, "hard")


def test_rows_are_filtered_and_sorted_by_pass_rate_and_unrated_rows_come_last(
    ask: Callable[..., Any],
) -> None:
    assert _ids(ask("rows", rate_from="0.5")) == ["add-train-000001"]
    assert _ids(ask("rows", rate_to="0.5")) == ["add-train-000000"]
    assert ask("rows", rated="no")["total"] == 7
    assert _ids(ask("rows", sort="rate"))[:2] == ["add-train-000000", "add-train-000001"]
    assert _ids(ask("rows", sort="rate", down="1"))[:2] == ["add-train-000001", "add-train-000000"]
    assert [r["level"] for r in ask("rows", sort="level", limit="9")["rows"]][-2:] == ["hard", None]


def test_a_window_of_the_rows_is_listed(ask: Callable[..., Any]) -> None:
    whole = _ids(ask("rows"))
    assert _ids(ask("rows", offset="3", limit="2")) == whole[3:5]
    for wrong in ({"limit": "0"}, {"offset": "-1"}, {"limit": "x"}, {"sort": "nothing"}):
        with pytest.raises(UserError):
            ask("rows", **wrong)


def test_rows_are_counted_by_any_label(ask: Callable[..., Any]) -> None:
    by_source = {group["name"]: group for group in ask("groups", by="source")["groups"]}
    assert by_source["procedural/add"]["train"] == 6
    assert by_source["procedural/add"]["validation"] == 1
    assert by_source["lab/units"]["licence"] == "MIT"
    assert by_source["procedural/add"]["rate"] == 0.625
    assert by_source["procedural/add"]["level"] == "1, 2"
    with pytest.raises(UserError, match="domian"):
        ask("groups", by="domian")


def test_histograms_hold_every_row_once(ask: Callable[..., Any]) -> None:
    found = ask("histograms")
    assert sum(map(sum, found["characters"]["rows"].values())) == 9
    assert found["levels"] == {
        "bars": ["1", "2", "hard"],
        "rows": {"math": [4, 3, 0], "stem": [0, 0, 1]},
    }
    rates = dict(zip(found["rates"]["bars"], found["rates"]["rows"]["math"], strict=True))
    assert {name: count for name, count in rates.items() if count} == {"0.25+": 1, "1": 1}


def test_a_row_is_shown_with_messages_gold_reference_and_rating(ask: Callable[..., Any]) -> None:
    row = ask("row", id="talk-train-000000")
    assert [m["role"] for m in row["prompt"]] == ["system", "user"]
    assert row["gold"] == Private("\\boxed{7}")
    assert json.loads(row["reference"].text) == {"answer": "7"}
    assert (row["shown"], row["rating"]) == (Private("7"), None)
    rating = ask("row", id="add-train-000000")["rating"]
    assert (rating["rate"], rating["n"], rating["asks_the_same"]) == (0.25, 8, True)
    assert not ask("row", id="add-train-000001")["rating"]["asks_the_same"]
    with pytest.raises(NotFoundError, match="no row 'add-train-1'"):
        ask("row", id="add-train-1")


def test_a_row_says_what_repeated_it_and_which_benchmark_it_is_like(
    ask: Callable[..., Any],
) -> None:
    assert ask("row", id="add-train-000001")["repeated_by"][0]["row"] == "add-train-9"
    assert ask("row", id="add-train-000002")["like_benchmarks"][0]["item"] == "12"


def test_dropped_rows_are_counted_by_stage_and_shown_by_reason(ask: Callable[..., Any]) -> None:
    drops = ask("drops")
    assert drops["by_domain"][0]["near-duplicate"] == 1
    assert {r["reason"]: r["stage"] for r in drops["reasons"]}["near-duplicate"] == "near-duplicate"
    assert [e["row"] for e in ask("drops", stage="gold")["examples"]] == ["add-train-7"]
    assert ask("drops", domain="stem")["examples_total"] == 0
    assert {(p["rule"], p["dropped"]): p["rows"] for p in drops["pairs"]} == {
        ("minhash", False): 1,
        ("question", True): 1,
    }


def test_no_text_of_the_dataset_leaves_a_share_safe_page(folder: Path) -> None:
    subject = DatasetSubject(folder)
    asked = list(subject.snapshot())
    assert {"summary", "rows", "row", "groups", "histograms", "drops"} <= {
        page for page, _ in asked
    }
    for page, query in asked:
        answer = subject.pages()[page](query)
        assert SECRET not in encode(answer, share_safe=True).decode()
    assert SECRET in encode(subject.pages()["rows"]({})).decode()


def test_new_pass_rates_are_seen_without_opening_again(folder: Path) -> None:
    subject = DatasetSubject(folder)
    assert subject.pages()["rows"]({})["rated"] == 2
    before, file = subject.version(), folder.with_name("mix.ratings") / "pass_rates.jsonl"
    file.write_text('{"id": "talk-train-000000", "pass_rate": 0.5, "n": 4}\n')
    os.utime(file, ns=(1, 1))
    assert subject.version() != before
    assert subject.pages()["rows"]({"rated": "yes"})["rows"][0]["id"] == "talk-train-000000"


def test_a_gold_is_checked_again_by_its_verifier(folder: Path) -> None:
    check = DatasetSubject(folder).actions()["check"]
    verdict = check({"id": "add-train-000003"})
    assert (verdict["accepted"], verdict["reward"]) == (True, 1.0)
    assert "passed" in [finding["outcome"] for finding in verdict["findings"]]
    with pytest.raises(NotFoundError):
        check({"id": "nobody"})

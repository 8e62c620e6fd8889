"""A hostile file in a folder ends neither the command nor the pages of other files."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from prorl_common.rollout_files import rollout_file, rollout_files
from prorl_datasets.storage import write_split
from prorl_viewer import find_subjects
from prorl_viewer.answering import answer, encode, message
from prorl_viewer.checking import shown_metrics
from prorl_viewer.datasets.counts import dropped_line, pair_line
from prorl_viewer.datasets.table import FEW_LABELS, RowTable
from prorl_viewer.runs.testing import write_run
from prorl_viewer.subject import Private

DEEP = "[" * 20_000 + "]" * 20_000
ODD = (DEEP, '{"a":' * 300 + "1" + "}" * 300, "1" * 400, "1e400", "null", "[[1], {}]", '"\\ud800"')
PAGES = ("summary", "header", "charts", "decisions", "forecast", "config")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("made") / "run"
    write_run(path, 60, rollouts=(60,))
    return path


@pytest.fixture
def run(made: Path, tmp_path: Path) -> Path:
    """A run to damage."""
    return Path(shutil.copytree(made, tmp_path / "run"))


def statuses(path: Path) -> dict[str, int]:
    """Return the HTTP status of each page of the only subject at ``path``."""
    (subject,) = find_subjects([path])
    with closing(subject):
        pages = subject.pages()
        return {name: answer(pages[name], {})[0] for name in PAGES}


def _spoilt() -> Iterator[tuple[str, str]]:
    for odd in ODD:
        yield "identity.json", odd
        yield "ended.json", odd
        yield "ended.json", f'{{"state": "failed", "reason": {odd}}}'
        yield "config.yaml", f"steps: {odd}\npreset: prorl-v2\n"
        yield "metrics.jsonl", f'{{"step": 61, "reward_mean": {odd}}}\n'
        yield "metrics.jsonl", f'{{"step": {odd}}}\n'
        for key in ("kind", "reason", "evidence", "step"):
            row = {"step": 60, "kind": "phase_started", "reason": "r", "evidence": {}, key: "@"}
            yield "decisions.jsonl", json.dumps(row).replace('"@"', odd) + "\n"


@pytest.mark.parametrize(
    "file", ["identity.json", "ended.json", "config.yaml", "metrics.jsonl", "decisions.jsonl"]
)
def test_a_run_is_shown_whatever_one_of_its_files_holds(run: Path, file: str) -> None:
    spoilt = [text for name, text in _spoilt() if name == file]
    before = (run / file).read_text() if file.endswith("jsonl") else ""
    for text in spoilt:
        (run / file).write_text(before + text)
        found = statuses(run)
        config = found.pop("config")
        assert set(found.values()) == {200}, text[:60]
        assert config in ((200, 400) if file == "config.yaml" else (200,)), text[:60]


@pytest.mark.parametrize(
    "file",
    ["metrics.jsonl", "decisions.jsonl", "ended.json", "run.lock", "rollouts/step_000060.parquet"],
)
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(run: Path, file: str) -> None:
    (run / file).unlink(missing_ok=True)
    os.mkfifo(run / file)
    assert set(statuses(run).values()) == {200}
    (subject,) = find_subjects([run])
    with closing(subject):
        assert answer(subject.pages()["rollouts"], {})[0] == 200


def test_a_copy_beside_the_rollouts_and_one_that_is_torn_leave_the_curves_alone(run: Path) -> None:
    shutil.copy(rollout_file(run, 60), run / "rollouts" / "step_000060.copy.parquet")
    rollout_file(run, 59).write_bytes(b"PAR1")
    assert list(rollout_files(run)) == [59, 60]
    (subject,) = find_subjects([run])
    with closing(subject):
        found = subject.pages()["curves"]({"chart": "reward_mean", "by": "task"})
    assert len(found["lines"]) > 1


def test_a_folder_that_goes_while_it_is_shown_says_so(run: Path) -> None:
    (subject,) = find_subjects([run])
    with closing(subject):
        shutil.rmtree(run)
        status, data = answer(subject.pages()["summary"], {})
        assert status == 404 and b"error" in data


def test_one_odd_folder_does_not_keep_the_others_from_being_found(
    run: Path, tmp_path: Path
) -> None:
    for at, (name, text) in enumerate(
        (name, text)
        for name in ("manifest.json", "eval.json", "result.json")
        for text in (*ODD, *(f'{{"settings": {odd}}}' for odd in ODD))
    ):
        (tmp_path / f"odd{at}").mkdir()
        (tmp_path / f"odd{at}" / name).write_text(text)
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe" / "manifest.json")
    found = find_subjects([tmp_path])
    assert "run" in [s.name for s in found]
    for subject in found:
        with closing(subject):
            status, data = answer(subject.pages()["summary"], {})
            assert status == (200 if subject.name == "run" else 400), data


def test_an_evaluation_that_asks_for_samples_without_end_is_a_damaged_one(tmp_path: Path) -> None:
    settings = {"n": 10**15, "k": 1}
    job = {"model_id": "m", "model_digest": "d", "settings": settings}
    (tmp_path / "eval.json").write_text(json.dumps(job))
    (subject,) = find_subjects([tmp_path])
    with closing(subject):
        status, data = answer(subject.pages()["summary"], {})
    assert status == 400 and b"n is over 100,000" in data


def test_a_folder_of_another_user_is_passed_over(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "theirs").mkdir()
    usual = os.scandir

    def refusing(path: Any) -> Any:
        if Path(path).name == "theirs":
            raise PermissionError(13, "Permission denied")
        return usual(path)

    monkeypatch.setattr(os, "scandir", refusing)
    assert [s.name for s in find_subjects([tmp_path])] == ["run"]


def test_a_name_that_is_no_text_makes_an_address_all_the_same(run: Path) -> None:
    odd = run.with_name(os.fsdecode(b"r\xff<script>%2f#? \xe2\x80\xae"))
    run.rename(odd)
    (subject,) = find_subjects([odd])
    with closing(subject):
        assert subject.name.encode() == "r?<script>%2f#? \u202e".encode()


def _dataset(folder: Path, rows: list[dict[str, Any]]) -> Path:
    folder.mkdir()
    write_split(folder / "train.parquet", rows)
    (folder / "manifest.json").write_text(
        json.dumps({"files": {"train.parquet": {"rows": len(rows)}}})
    )
    return folder


def _row(at: int, **metadata: Any) -> dict[str, Any]:
    return {
        "id": f"a-train-{at:06d}",
        "domain": "math",
        "split": "train",
        "prompt": [{"role": "SECRET role", "content": "?"}],
        "verifier": "math",
        "reference": '{"answer": "1"}',
        "source": "lab",
        "licence": "MIT",
        "gold_check": "none",
        "metadata": json.dumps(metadata),
    }


@pytest.mark.parametrize("odd", [3, "x", [3], {"a": 3}])
def test_a_manifest_of_other_types_is_a_line_and_not_a_fault(tmp_path: Path, odd: Any) -> None:
    folder = _dataset(tmp_path / "set", [_row(0)])
    file = folder / "manifest.json"
    files = json.loads(file.read_text())
    keys = ("counts", "short", "isolation", "failed", "licences", "drops", "stages", "entries")
    for key in (*keys, "gold_check", "decontamination"):
        file.write_text(json.dumps({**files, key: odd}))
        (subject,) = find_subjects([folder])
        with closing(subject):
            for page in ("summary", "drops", "entries"):
                status, data = answer(subject.pages()[page], {})
                assert status == 200 or (status == 400 and b"manifest.json is not" in data), key
    file.write_text(json.dumps({**files, "counts": 3}))
    (subject,) = find_subjects([folder])
    with closing(subject):
        assert answer(subject.pages()["summary"], {})[0] == 400


def test_a_row_with_odd_metadata_is_a_row_without_them(tmp_path: Path) -> None:
    rows = [{**_row(0), "metadata": DEEP, "reference": DEEP}, _row(1, family="add")]
    (subject,) = find_subjects([_dataset(tmp_path / "set", rows)])
    with closing(subject):
        pages = subject.pages()
        assert answer(pages["rows"], {})[0] == 200
        assert answer(pages["row"], {"id": "a-train-000000"})[0] == 200


@pytest.mark.parametrize("column", ["id", "domain", "prompt", "metadata"])
def test_a_column_of_another_type_is_told_as_a_damaged_file(tmp_path: Path, column: str) -> None:
    folder = _dataset(tmp_path / "set", [_row(0)])
    table = parquet.read_table(folder / "train.parquet")
    odd = pa.array([{"a": 1}])
    parquet.write_table(
        table.set_column(table.schema.get_field_index(column), column, odd),
        folder / "train.parquet",
    )
    (subject,) = find_subjects([folder])
    with closing(subject):
        status, data = answer(subject.pages()["rows"], {})
    assert status == 400 and b"not a readable dataset file" in data


def test_rates_that_are_no_shares_are_no_rates(tmp_path: Path) -> None:
    folder = _dataset(tmp_path / "set", [_row(at) for at in range(4)])
    lines = [
        {"id": "a-train-000000", "pass_rate": 10**400},
        {"id": "a-train-000001", "pass_rate": 0.5, "n": 8, "low": [], "high": None},
        {"id": {}, "pass_rate": 0.5},
    ]
    (folder / "pass_rates.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in lines))
    (subject,) = find_subjects([folder])
    with closing(subject):
        assert [row["rate"] for row in subject.pages()["rows"]({})["rows"]] == [
            None,
            0.5,
            None,
            None,
        ]


def test_what_stands_in_the_place_of_a_role_or_a_label_is_told_only_where_it_is_one(
    tmp_path: Path,
) -> None:
    assert message("SECRET role", "?") == {"role": "other", "content": Private("?")}
    many = [_row(at, family=f"SECRET {at}", level="hard") for at in range(FEW_LABELS + 5)]
    folder = _dataset(tmp_path / "set", many)
    labels = RowTable.read(folder).labels
    assert (labels["family"].names, labels["level"].names) == ([""], ["hard"])
    (subject,) = find_subjects([folder])
    with closing(subject):
        pages = subject.pages()
        for page, query in (("rows", {}), ("groups", {}), ("row", {"id": "a-train-000003"})):
            assert b"SECRET" not in answer(pages[page], query, share_safe=True)[1]


def test_texts_of_a_verdict_or_a_dropped_row_are_left_out_wherever_they_lie() -> None:
    told = [
        shown_metrics({"said": "SECRET", "list": ["SECRET"], "map": {"SECRET": 1}, "yes": True}),
        dropped_line({"row": "a", "reason": "r", "more": "SECRET", "like": ["SECRET"]}),
        pair_line({"row": "a", "benchmark": "b", "words": ["SECRET"], "score": 0.5}),
    ]
    assert b"SECRET" not in encode(told, share_safe=True)
    assert b'"row":"a"' in encode(told, share_safe=True)


SLOW = (
    b"",
    b"GET / HT",
    b"POST /api/run/config HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n",
)


def test_a_flood_of_slow_connections_leaves_the_page_reachable(run: Path) -> None:
    command = [sys.executable, "-m", "prorl_cli", "view", str(run)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as viewer:
        assert viewer.stdout is not None
        address = viewer.stdout.readline().decode().strip()
        port = int(address.partition("/?")[0].rpartition(":")[2])
        with ExitStack() as slow:
            for number in range(900):
                with suppress(ConnectionResetError, BrokenPipeError):
                    sock = socket.create_connection(("127.0.0.1", port), timeout=30)
                    slow.enter_context(sock).sendall(SLOW[number % 3])
                if number % 100 == 99:
                    with urllib.request.urlopen(address, timeout=30) as page:
                        assert page.status == 200
        viewer.send_signal(signal.SIGTERM)
        _, errors = viewer.communicate(timeout=60)
    assert viewer.returncode == 0 and b"Traceback" not in errors

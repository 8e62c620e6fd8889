from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from prorl_common import NullProgress
from prorl_datasets import DOMAINS, BuildOptions, DatasetError, Recipe, Sample, load, load_recipe
from prorl_datasets.building.builder import build_with
from prorl_datasets.building.report import EntryResult
from prorl_datasets.procedural import families
from prorl_datasets.recipe.parts import spread

MIXED = """
name: mixed
seed: 5
decontamination: {benchmarks: []}
entries:
  - {name: words, domain: math, source: {kind: file, path: rows.jsonl}, count: {train: all, validation: 3}}
groups:
  - {name: m, domain: math, kind: procedural, levels: [1, 2], members: [add, multiply, largest],
     count: {train: 120, validation: 6, test: 6}}
  - {name: s, domain: stem, kind: procedural, members: [speed, density], count: {train: 150}}
  - {name: l, domain: logic, kind: reasoning_gym, members: [gcd, {name: dice, share: 2}], count: {train: 40}}
"""


def _rows(count: int) -> list[dict[str, str]]:
    nouns = ["apples", "pears", "stones", "coins", "shells", "books", "nails", "cards"]
    return [
        {
            "prompt": f"A box number {i} holds {i * 37 % 91} {nouns[i % 8]} and a {nouns[i % 7]} case "
            f"holds {i * 53 % 97} more, how many in {i % 13} such pairs?",
            "answer": str((i * 37 % 91 + i * 53 % 97) * (i % 13)),
        }
        for i in range(count)
    ]


def _write(path: Path, rows: list[dict[str, str]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def _files(folder: Path) -> dict[str, bytes]:
    return {
        p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()
    }


@pytest.fixture(scope="module")
def mixed_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mixed")
    _write(folder / "rows.jsonl", _rows(300))
    (folder / "mixed.yaml").write_text(MIXED)
    return folder / "mixed.yaml"


@pytest.fixture(scope="module")
def mixed(mixed_file: Path) -> Recipe:
    return load_recipe(mixed_file)


@pytest.fixture
def whole(mixed: Recipe, mixed_file: Path, make_scorer: Any) -> Path:
    """The dataset of MIXED, built once with three workers."""
    out = mixed_file.parent / "whole"
    if not out.exists():
        options = BuildOptions(workers=3)
        build_with(make_scorer(), mixed, out, progress=NullProgress(), options=options)
    return out


def _kill_at(process: subprocess.Popen[bytes], parts: Path, finished: int) -> None:
    """Send SIGKILL to a build once ``finished`` parts exist."""
    while process.poll() is None and len(list(parts.rglob("*.json"))) < finished:
        time.sleep(0.02)
    assert process.poll() is None
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


FIVE = """
name: five
seed: 11
decontamination: {benchmarks: []}
entries:
  - {name: words, domain: math, source: {kind: file, path: rows.jsonl}, count: {train: 90, validation: 3}}
groups:
  - {name: m, domain: math, kind: procedural, members: [add, largest], count: {train: 30, test: 4}}
  - {name: c, domain: code, kind: procedural, full_path_fraction: 0.1, members: [last_element, add_two],
     count: {train: 60, validation: 4}}
  - {name: s, domain: stem, kind: procedural, members: [speed, density], count: {train: 80}}
  - {name: l, domain: logic, kind: reasoning_gym, members: [gcd, dice, isomorphic_strings], count: {train: 80}}
  - {name: i, domain: instruction, kind: procedural, members: [%s], count: {train: 60}}
"""


@pytest.mark.slow
def test_five_domains_are_the_same_bytes_for_1_2_and_8_workers_and_after_three_kills(
    tmp_path: Path,
) -> None:
    _write(tmp_path / "rows.jsonl", _rows(150))
    names = [f.name for f in families().values() if f.domain == "instruction"][:2]
    recipe = tmp_path / "five.yaml"
    recipe.write_text(FIVE % ", ".join(names))
    for workers in (1, 2, 8):
        assert _start(recipe, tmp_path / str(workers), workers).wait() == 0
    assert _files(tmp_path / "1") == _files(tmp_path / "2") == _files(tmp_path / "8")
    killed = tmp_path / "killed"
    for finished in (1, 4, 7):
        _kill_at(_start(recipe, killed), tmp_path / ".killed.build", finished)
    assert _start(recipe, killed).wait() == 0
    assert _files(killed) == _files(tmp_path / "1")
    assert not (tmp_path / ".killed.build").exists()
    assert len(load(killed)) == 411
    assert {s.domain for s in load(killed)} == set(DOMAINS)


@pytest.mark.slow
def test_a_row_of_a_gigabyte_is_refused_in_little_memory(tmp_path: Path) -> None:
    with (tmp_path / "rows.jsonl").open("wb") as file:
        file.write(b'{"prompt": "one?", "answer": "1"}\n{"prompt": "')
        file.truncate(2**30)
    (tmp_path / "x.yaml").write_text(
        "name: x\ndecontamination: {benchmarks: []}\nentries:\n  - {name: a, domain: math, source: "
        "{kind: file, path: rows.jsonl}, count: {train: all}}\n"
    )
    program = (
        "from pathlib import Path\nfrom prorl_cli.main import main\ntry:\n    main()\nfinally:\n"
        "    status = Path('/proc/self/status').read_text()\n"
        "    print(int(status.partition('VmHWM:')[2].split()[0]) // 1024)"
    )
    words = ["data", "build", "--recipe", str(tmp_path / "x.yaml"), "--out", str(tmp_path / "d")]
    done = subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "rows.jsonl:2: this row is larger than 64 MiB" in done.stderr.splitlines()[-1]
    assert int(done.stdout.split()[-1]) < 400


def _start(recipe: Path, out: Path, workers: int = 2) -> subprocess.Popen[bytes]:
    words = ["data", "build", "--recipe", str(recipe), "--out", str(out), "--workers", str(workers)]
    return subprocess.Popen(
        [sys.executable, "-m", "prorl_cli", *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def test_a_groups_members_share_its_counts_exactly(mixed: Recipe) -> None:
    targets = {entry.name: entry.count.train for entry in mixed.entries}
    assert [targets[f"m-{name}"] for name in ("add", "multiply", "largest")] == [40] * 3
    assert (targets["l-gcd"], targets["l-dice"]) == (14, 26)
    for total, shares in ((250, [1] * 64), (9600, [1] * 96), (7, [3, 1, 1])):
        parts = spread(total, shares)
        assert sum(parts) == total
        assert max(parts) - min(parts) <= 1 or len(set(shares)) > 1


def test_near_copies_of_a_text_row_are_dropped_within_and_across_files(
    make_recipe: Callable[[str], Recipe], tmp_path: Path, accepting: Any
) -> None:
    rows = _rows(60)
    long = " ".join(row["prompt"] for row in rows[:6])
    copies = [
        {"prompt": long, "answer": "1"},
        {"prompt": f"{long} Thanks.", "answer": "1"},
        {"prompt": long.replace("how many", "How  many"), "answer": "1"},
    ]
    _write(tmp_path / "a.jsonl", [*rows, *copies[:2]])
    _write(tmp_path / "b.jsonl", [copies[2]])
    recipe = make_recipe(
        "name: x\ndecontamination: {benchmarks: []}\nentries:\n"
        "  - {name: a, domain: math, source: {kind: file, path: a.jsonl}, count: {train: all}}\n"
        "  - {name: b, domain: math, source: {kind: file, path: b.jsonl}, count: {train: all}}\n"
    )
    report = build_with(accepting, recipe, tmp_path / "d", progress=NullProgress())
    texts = [s.prompt[0]["content"] for s in load(tmp_path / "d")]
    assert len([t for t in texts if t.startswith(long[:40])]) == 2  # rows[0] itself is one of three
    assert report.manifest["drops"] == {"duplicate": 1, "near-duplicate": 1}
    kept = next(s for s in load(tmp_path / "d") if s.prompt[0]["content"].startswith(long))
    lines = (tmp_path / "d" / "dropped.jsonl").read_text().splitlines()
    told = {line["stage"]: line for line in map(json.loads, lines)}
    assert {stage: line["like"] for stage, line in told.items()} == {
        "duplicate": kept.id,
        "near-duplicate": kept.id,
    }
    assert all(line["text"].startswith(long[:40]) for line in told.values())


def test_a_generated_domain_that_loses_too_much_stops_with_its_reasons(
    make_recipe: Callable[[str], Recipe], tmp_path: Path, make_scorer: Any
) -> None:
    recipe = make_recipe(
        "name: x\ndecontamination: {benchmarks: []}\ngroups:\n  - {name: s, domain: stem, "
        "kind: procedural, members: [speed, density], count: {train: 300}}\n"
    )
    refusing = make_scorer(refused=("1", "2"))
    with pytest.raises(DatasetError, match=r"domain stem: .* \d+ of \d+ .*s-density") as caught:
        build_with(refusing, recipe, tmp_path / "d", progress=NullProgress())
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "d").exists()


def test_weights_of_entry_and_domain_are_in_every_row(
    make_recipe: Callable[[str], Recipe], tmp_path: Path, accepting: Any
) -> None:
    recipe = make_recipe(
        "name: x\nweights: {math: 0.5}\ndecontamination: {benchmarks: []}\ngroups:\n"
        "  - {name: m, domain: math, kind: procedural, weight: 3, members: [add], count: {train: 4}}\n"
    )
    build_with(accepting, recipe, tmp_path / "d", progress=NullProgress())
    assert Counter(s.metadata["weight"] for s in load(tmp_path / "d")) == {1.5: 4}


def test_writing_looks_at_all_answers_once_an_entry_and_not_once_a_row(
    tmp_path: Path, make_scorer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    _write(tmp_path / "rows.jsonl", _rows(300))
    source = "{kind: file, path: rows.jsonl}"
    entry = f"{{name: w, domain: math, source: {source}, count: {{train: all}}}}"
    (tmp_path / "r.yaml").write_text(
        f"{{name: r, decontamination: {{benchmarks: []}}, entries: [{entry}]}}"
    )
    computed = []
    share = EntryResult.commonest_answer_share

    def counted(result: EntryResult) -> float | None:
        computed.append(result.entry.name)
        return share(result)

    monkeypatch.setattr(EntryResult, "commonest_answer_share", counted)
    recipe, out = load_recipe(tmp_path / "r.yaml"), tmp_path / "out"
    build_with(make_scorer(), recipe, out, progress=NullProgress())
    assert len(computed) <= 3


def _item(sample: Sample) -> tuple[str, int]:
    return sample.metadata["entry"], sample.metadata["index"]


class Bars:
    """Progress that records each stage: label, total, items done."""

    def __init__(self) -> None:
        self.stages: list[tuple[str, int | None, int]] = []

    def start(self, label: str, total: int | None, done: int = 0) -> None:
        self.stages.append((label, total, 0))

    def advance(self, count: int = 1, **fields: str) -> None:
        label, total, done = self.stages[-1]
        self.stages[-1] = (label, total, done + count)

    def message(self, text: str) -> None: ...

    def finish(self) -> None: ...


def test_every_phase_of_a_build_has_a_bar_that_ends_at_its_total(
    tmp_path: Path, mixed: Recipe, make_scorer: Any
) -> None:
    bars = Bars()
    build_with(make_scorer(), mixed, tmp_path / "out", progress=bars)
    assert ("counting the rows of words", None, 300) in bars.stages
    labels = [label for label, *_ in bars.stages]
    for phase in ("building mixed", "looking for near-duplicates", "choosing rows", "writing rows"):
        assert phase in labels
    assert all(done == total for _, total, done in bars.stages if total is not None), bars.stages


def test_a_limited_build_has_a_share_of_each_entry_and_the_rows_of_files_that_a_full_one_takes_first(
    tmp_path: Path, whole: Path, mixed: Recipe, make_scorer: Any
) -> None:
    out = tmp_path / "small"
    options = BuildOptions(limit=60)
    report = build_with(make_scorer(), mixed, out, progress=NullProgress(), options=options)
    assert report.recipe == "mixed-limit-60" and report.manifest["limit"] == 60
    full = json.loads((whole / "manifest.json").read_text())
    assert report.manifest["fingerprint"] != full["fingerprint"] and "limit" not in full
    few = load(out)
    assert len(few) == 60
    assert {_item(sample) for sample in few} <= {_item(sample) for sample in load(whole)}
    for entry in full["entries"]:
        for split, of in entry["splits"].items():
            kept = sum(s.split == split and s.metadata["entry"] == entry["name"] for s in few)
            assert bool(kept) == bool(of["kept"])
            assert kept <= 1 + 0.12 * of["kept"] + 1
    words = next(e for e in report.manifest["entries"] if e["name"] == "words")
    assert words["candidates"] < 300


def test_a_limit_above_the_whole_is_the_whole_dataset(mixed: Recipe) -> None:
    names = [entry.name for entry in mixed.entries]
    assert mixed.limited(10_000, names, {"words": 300}) is mixed

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import prorl as command

from prorl_sandbox import LANGUAGES, probe
from prorl_verifiers import Task, load_task, part_records

C_PLUGIN = """
from prorl_sandbox import LanguageSpec

SPEC = LanguageSpec(
    name="lab-c",
    compile=("gcc", "-x", "c", "-O2", "-o", "{binary}", "{source}"),
    run=("{binary}",),
    source_name="program.lab",
    environment={"LAB": "here"},
    packages=("gcc", "libc6-dev"),
)
"""
C_SUM = """
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    long a, b;
    if (scanf("%ld %ld", &a, &b) != 2) return 1;
    printf("%ld %s\\n", a + b, getenv("LAB"));
}
"""
PERL_SUM = "use strict; use List::Util 'sum'; print sum(split ' ', <STDIN>), qq(\\n);"
SUMS = [{"stdin": "1 2\n", "stdout": "3\n"}, {"stdin": "20 22\n", "stdout": "42\n"}]


def unless(condition: bool, reason: str) -> None:
    """Skip with a reason unless the condition holds; fail in CI."""
    if not condition:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)


@pytest.fixture(scope="module", autouse=True)
def walls() -> None:
    """Require a working sandbox."""
    found = probe()
    unless(found.strong, found.complaint())


@pytest.fixture(autouse=True)
def perl() -> None:
    """Require Perl, which every Debian has."""
    unless(shutil.which("perl") is not None, "perl is not installed")


def prorl(*arguments: object) -> subprocess.CompletedProcess[str]:
    return command(None, *map(str, arguments))


def run(tmp_path: Path, name: str, source: str, stdin: str, *options: object) -> dict[str, Any]:
    """Run a program with ``prorl sandbox run`` and return its outcome."""
    file, given = tmp_path / name, tmp_path / "in"
    file.write_text(source)
    given.write_text(stdin)
    done = prorl("sandbox", "run", file, "--stdin", given, "--json", *options)
    assert done.returncode == 0, done.stderr
    outcome: dict[str, Any] = json.loads(done.stdout)
    return outcome


@pytest.mark.slow
def test_a_language_of_a_distribution_runs_by_its_files_ending(
    lab_parts: str, tmp_path: Path
) -> None:
    outcome = run(tmp_path, "sum.pl", PERL_SUM, "3 4 5\n")
    assert (outcome["status"], outcome["stdout"]) == ("ok", "12\n"), outcome
    assert run(tmp_path, "sum.pl", "print (", "")["status"] == "compile-error"
    assert run(tmp_path, "sum.pl", "exit 3;", "")["status"] == "wrong-exit"
    endless = run(tmp_path, "sum.pl", "1 while 1;", "", "--wall", "0.5")
    assert (endless["status"], endless["limit"]) == ("timeout", "wall")


def test_code_tasks_in_a_language_of_a_distribution_are_verified(
    lab_parts: str, tmp_path: Path
) -> None:
    wrong = PERL_SUM.replace("sum(", "3 * sum(0, 1) || (")
    answers = {
        "right": f"```perl\n{PERL_SUM}\n```",
        "half": f"```perl\n{wrong}\n```",
        "broken": "```perl\nprint (\n```",
        "python": "```python\nprint(sum(map(int, input().split())))\n```",
    }
    task = {"verifier": "code", "reference": {"tests": SUMS, "language": "Perl"}}
    items = [{"id": name, "task": task, "response": text} for name, text in answers.items()]
    given, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    given.write_text("".join(json.dumps(item) + "\n" for item in items))
    done = prorl("verify", "file", given, "--out", out)
    assert done.returncode == 0, done.stderr
    found = {row["id"]: row for row in map(json.loads, out.read_text().splitlines())}
    assert {name: row["reward"] for name, row in found.items()} == {
        "right": 1.0,
        "half": 0.5,
        "broken": 0.0,
        "python": 0.0,
    }
    assert "does not compile" in found["broken"]["reason"]
    assert found["python"]["status"] == "unparsable"
    assert "no closed perl code block" in found["python"]["reason"]


@pytest.mark.slow
def test_a_compiled_language_of_a_plug_in_file_runs(tmp_path: Path) -> None:
    unless(shutil.which("gcc") is not None, "gcc is not installed")
    plugin = tmp_path / "lang.py"
    plugin.write_text(C_PLUGIN)
    options = ("--plugin", plugin, "--language", "lab-c")
    outcome = run(tmp_path, "sum.txt", C_SUM, "20 22\n", *options)
    assert (outcome["status"], outcome["stdout"]) == ("ok", "42 here\n"), outcome
    broken = run(tmp_path, "sum.txt", "int main(void) { return x; }", "", *options)
    assert broken["status"] == "compile-error"
    assert "x" in broken["stderr"]
    assert run(tmp_path, "sum.lab", C_SUM, "1 2", "--plugin", plugin)["stdout"] == "3 here\n"


def test_a_language_without_a_compiler_runs_its_source(tmp_path: Path) -> None:
    plugin = tmp_path / "lang.py"
    plugin.write_text(
        "from prorl_sandbox import LanguageSpec\n"
        "SPEC = LanguageSpec(name='awk', run=('awk', '-f', '{source}'))\n"
    )
    source = "{ n += $1 } END { print n }"
    outcome = run(tmp_path, "sum.awk", source, "1\n41\n", "--plugin", plugin)
    assert (outcome["status"], outcome["stdout"]) == ("ok", "42\n"), outcome


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("LanguageSpec(name='x', run=('x',))", "either {source} or {binary} (lang.py, line 2)"),
        ("LanguageSpec(name='x', run=('{binary}',))", "'compile' must contain {binary}"),
        ("LanguageSpec(name='x', run=('x', '{source}'), source_name='a/b')", "a file name"),
        ("LanguageSpec(name='x', run='x {source}')", "lists of arguments (lang.py, line 2)"),
        ("LanguageSpec(name='python', run=None)", "language 'python' is defined twice"),
        ("LanguageSpec(name='x', run=('nowhere-x', '{source}'))", "x is not installed in"),
    ],
)
def test_a_language_that_makes_no_sense_is_one_line_and_exit_code_two(
    spec: str, complaint: str, tmp_path: Path
) -> None:
    plugin, program = tmp_path / "lang.py", tmp_path / "p.x"
    plugin.write_text(f"from prorl_sandbox import LanguageSpec\nSPEC = {spec}\n")
    program.write_text("1")
    done = prorl("sandbox", "run", program, "--plugin", plugin, "--language", "x")
    assert done.returncode == 2, done
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_unknown_language_names_the_nearest_and_where_they_come_from(
    lab_parts: str, tmp_path: Path
) -> None:
    program = tmp_path / "p.pl"
    program.write_text("1")
    done = prorl("sandbox", "run", program, "--language", "perll")
    assert done.returncode == 2
    assert "unknown language 'perll' (did you mean 'perl'?)" in done.stderr
    assert "perl (of lab-parts)" in done.stderr and "typescript (of prorl)" in done.stderr
    task = {"verifier": "code", "reference": {"tests": SUMS, "language": "perll"}}
    line = json.dumps({"id": "1", "task": task, "response": ""}) + "\n"
    (tmp_path / "in.jsonl").write_text(line)
    done = prorl("verify", "file", tmp_path / "in.jsonl")
    assert done.returncode == 2
    assert "unknown language 'perll' (did you mean 'perl'" in done.stderr


def test_a_word_or_an_ending_of_two_languages_is_refused(tmp_path: Path) -> None:
    plugin, program = tmp_path / "lang.py", tmp_path / "p.js"
    plugin.write_text(
        "from prorl_sandbox import LanguageSpec\n"
        "SPEC = LanguageSpec(name='typed', run=('node', '{source}'), source_name='t.js', fences=('js',))\n"
    )
    program.write_text("1")
    done = prorl("sandbox", "run", program, "--plugin", plugin)
    assert done.returncode == 2
    assert "files of javascript and typed end in .js" in done.stderr
    check = (
        f"from prorl_common import use_plugins\nuse_plugins([{str(plugin)!r}])\n"
        "from prorl_verifiers import load_task\n"
        "load_task('code', {'language': 'javascript', 'tests': [{'stdin': '', 'stdout': ''}]})\n"
        "load_task('code', {'language': 'js', 'tests': [{'stdin': '', 'stdout': ''}]})\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", check], capture_output=True, text=True, check=False
    )
    assert (
        "TaskError" in done.stderr
        and "language 'js' is ambiguous: use the name javascript or typed" in done.stderr
    )


def test_the_record_of_a_language_names_its_distribution(lab_parts: str) -> None:
    assert LANGUAGES.records(["python", "perl", "cpp"]) == [
        {"group": "prorl.languages", "name": "perl", "source": "lab-parts", "version": lab_parts}
    ]


def test_a_dataset_with_programs_in_it_keeps_the_record_of_its_language(
    lab_parts: str, tmp_path: Path
) -> None:
    row = {"prompt": "Add two numbers.", "tests": SUMS, "solution": PERL_SUM}
    lines = [json.dumps({**row, "language": name}) + "\n" for name in ("perl",)]
    (tmp_path / "rows.jsonl").write_text("".join(lines))
    (tmp_path / "mine.yaml").write_text(
        "name: mine\ndecontamination: {benchmarks: []}\nentries:\n"
        "  - {name: sums, domain: code, source: {kind: file, path: rows.jsonl}, "
        "count: {train: all}}\n"
    )
    done = prorl("data", "build", "--recipe", tmp_path / "mine.yaml", "--out", tmp_path / "data")
    assert done.returncode == 0, done.stderr
    manifest = json.loads((tmp_path / "data" / "manifest.json").read_text())
    assert manifest["counts"]["train"] == {"code": 1}
    assert manifest["parts"] == LANGUAGES.records(["perl"])


def test_what_scores_a_task_of_its_language_is_recorded_once(lab_parts: str) -> None:
    def task(language: str | None) -> Task:
        return load_task("code", {"tests": SUMS, "language": language})

    assert part_records([task("python"), task(None), task("Perl"), task("perl")]) == (
        LANGUAGES.records(["perl"])
    )

"""Projects: several files with a build, a run and tests, on both backends; files beside a program."""

from __future__ import annotations

import shutil

import pytest

from prorl_common import UserError
from prorl_sandbox import LanguageError, Limits, Program, Project, TestResult, ToolSandbox

LIMITS = Limits(wall_seconds=20.0, cpu_seconds=6.0, output_kb=256)
CPP = {
    "main.cpp": (
        '#include "twice.h"\n#include <iostream>\n'
        'int main(int c, char** v) { int x; std::cin >> x; std::cout << twice(x) << v[1] << "\\n"; }'
    ),
    "twice.h": "int twice(int);",
    "lib/twice.cpp": "int twice(int x) { return 2 * x; }",
}
BUILD = ("g++", "main.cpp", "lib/twice.cpp", "-o", "app")


def _tests(tester: ToolSandbox, source: str, answer: str = "", **more: str) -> list[TestResult]:
    project = Project({"answer.py": answer}, tests={"test_it.py": source, **more})
    return list(tester.run_project(project, LIMITS).tests)


def test_a_program_reads_the_files_beside_it(anywhere: ToolSandbox) -> None:
    program = Program("print(open('data/x.txt').read())", files={"data/x.txt": "hello"})
    assert anywhere.run(program, LIMITS).stdout == "hello\n"
    called = Program("def f(): return open('x').read()", call="f", files={"x": "\N{SNOWMAN}"})
    assert anywhere.run(called, LIMITS).value == "\N{SNOWMAN}"


@pytest.mark.parametrize(
    "name",
    [
        "../x",
        "/etc/x",
        "a/../../x",
        "",
        ".",
        "a//b",
        "a/",
        "x\0",
        "x\n",
        "a\\b",
        "x" * 300,
        "..",
        "\ud800",
    ],
)
def test_a_name_that_is_no_plain_relative_path_is_refused(anywhere: ToolSandbox, name: str) -> None:
    with pytest.raises(UserError, match="files of a program"):
        anywhere.run(Program("print(1)", files={name: "x"}), LIMITS)
    with pytest.raises(UserError, match="files of a project"):
        anywhere.run_project(Project({name: "x"}), LIMITS)
    with pytest.raises(UserError, match="tests of a project"):
        anywhere.run_project(Project({}, tests={name: "x"}), LIMITS)


def test_too_many_or_too_large_files_are_refused(anywhere: ToolSandbox) -> None:
    many = {f"f{number}": "" for number in range(1001)}
    for files in (many, {"f": "x" * (17 << 20)}, {"a": "", "a/b": ""}):
        with pytest.raises(UserError, match="files of a program"):
            anywhere.run(Program("print(1)", files=files), LIMITS)
    with pytest.raises(UserError, match="scratch_mb"):
        anywhere.run(Program("print(1)", files={"f": "x" * (2 << 20)}), Limits(scratch_mb=1))


def test_what_is_built_runs_with_its_input_and_arguments(anywhere: ToolSandbox) -> None:
    if shutil.which("g++") is None:
        pytest.skip("no g++ here")
    project = Project(CPP, build=BUILD, run=("./app", "!"), stdin="21", language="cpp")
    outcome = anywhere.run_project(project, LIMITS)
    assert outcome.build is not None and outcome.run is not None
    assert (outcome.build.status, outcome.run.status) == ("ok", "ok")
    assert outcome.run.stdout == "42!\n"


def test_after_a_build_that_fails_nothing_is_run(anywhere: ToolSandbox) -> None:
    if shutil.which("g++") is None:
        pytest.skip("no g++ here")
    project = Project(CPP | {"main.cpp": "int main() {"}, build=BUILD, run=("./app",))
    outcome = anywhere.run_project(project, LIMITS)
    assert outcome.build is not None
    assert outcome.build.status == "compile-error"
    assert "error: expected" in outcome.build.stderr
    assert (outcome.run, outcome.tests) == (None, ())


TRAPS = "mkfifo pipe; ln -s /etc/passwd link; ln -s /dev/zero zero; ln -s . loop; mkdir d; echo x > d/made"


def test_a_build_hands_out_plain_files_alone(anywhere: ToolSandbox) -> None:
    show = (
        "import os\nprint(sorted(os.path.join(f, n)[2:] for f, _, ns in os.walk('.') for n in ns))"
    )
    project = Project(
        {"trap.sh": TRAPS, "show.py": show}, build=("sh", "trap.sh"), run=("python3", "show.py")
    )
    outcome = anywhere.run_project(project, LIMITS)
    assert outcome.run is not None
    assert outcome.run.stdout == "['d/made', 'show.py', 'trap.sh']\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "status"),
    [
        ("head -c 30000000 /dev/zero > large", "output-limit"),
        ("for i in $(seq 1100); do : > f$i; done", "output-limit"),
        ("while :; do :; done", "timeout"),
        ("exit 3", "compile-error"),
        (": > \"$(printf 'a\\nb')\"", "compile-error"),
    ],
)
def test_a_build_that_goes_too_far_is_its_own_outcome(
    anywhere: ToolSandbox, script: str, status: str
) -> None:
    project = Project({"b.sh": script, "m.py": ""}, build=("sh", "b.sh"), run=("python3", "m.py"))
    outcome = anywhere.run_project(project, LIMITS)
    assert outcome.build is not None
    assert (outcome.build.status, outcome.run) == (status, None)


def test_a_python_project_imports_its_own_modules(anywhere: ToolSandbox) -> None:
    files = {
        "src/main.py": "import sys, util.text as t\nprint(t.up(input()), sys.argv, __name__)",
        "src/util/__init__.py": "",
        "src/util/text.py": "def up(s): return s.upper()",
    }
    project = Project(files, run=("python3", "src/main.py", "-v"), stdin="hi")
    outcome = anywhere.run_project(project, LIMITS)
    assert outcome.run is not None
    assert outcome.run.stdout == "HI ['src/main.py', '-v'] __main__\n"


@pytest.mark.parametrize("run", [("python3",), ("python3", "missing.py"), ("python3", "../x.py")])
def test_a_run_of_a_file_that_is_not_there_is_a_mistake(
    anywhere: ToolSandbox, run: tuple[str, ...]
) -> None:
    with pytest.raises(UserError, match="needs the name of one of its files"):
        anywhere.run_project(Project({"main.py": ""}, run=run), LIMITS)


def test_a_tool_that_is_not_installed_is_named(anywhere: ToolSandbox) -> None:
    for project in (Project({}, build=("nonesuch", "x")), Project({}, run=("nonesuch",))):
        with pytest.raises(LanguageError, match="'nonesuch' is not installed where boxes run"):
            anywhere.run_project(project, LIMITS)


ALL_KINDS = """
import unittest
import pytest
from answer import add, Base, LIMIT

@pytest.fixture
def three():
    return 3

@pytest.fixture
def broken():
    raise ValueError("no fixture")

def test_right(three):
    assert add(1, 2) == three

@pytest.mark.parametrize("n", [1, 2])
def test_each(n):
    assert add(n, n) == 2 * n

class TestClass(Base):
    def test_method(self, tmp_path):
        (tmp_path / "x").write_text("x")
        assert self.name == "base"

class Old(unittest.TestCase):
    def test_old(self):
        self.assertEqual(add(2, 2), 4)

def test_wrong():
    assert add(1, 1) == 3

def test_fixture(broken):
    pass

@pytest.mark.skip(reason="later")
def test_skipped():
    pass

@pytest.mark.xfail
def test_known():
    assert add(1, 1) == 3
"""
ANSWER = "def add(a, b): return a + b\nclass Base: name = 'base'\nLIMIT = 3\n"


def test_every_kind_of_test_has_its_own_result(tester: ToolSandbox) -> None:
    found = {one.name.partition("::")[2]: one for one in _tests(tester, ALL_KINDS, ANSWER)}
    assert {name: one.status for name, one in found.items()} == {
        "test_right": "passed",
        "test_each[1]": "passed",
        "test_each[2]": "passed",
        "TestClass::test_method": "passed",
        "Old::test_old": "passed",
        "test_wrong": "failed",
        "test_fixture": "error",
        "test_skipped": "skipped",
        "test_known": "skipped",
    }
    assert "assert 2 == 3" in found["test_wrong"].message
    assert "no fixture" in found["test_fixture"].message
    assert found["test_skipped"].message == "Skipped: later"


ENDS = """
import answer
def test_before(): pass
def test_hangs(): answer.hang()
def test_sleeps(): answer.sleep()
def test_leaves(): answer.leave()
def test_crashes(): answer.crash()
def test_eats(): answer.eat()
def test_after(): pass
"""
ENDING = """
import ctypes, os, time
def hang():
    while True: pass
def sleep(): time.sleep(60)
def leave(): os._exit(0)
def crash(): ctypes.string_at(0)
def eat():
    for _ in range(4):
        if not os.fork():
            b = bytearray(400 << 20); b[::4096] = b'x' * len(b[::4096]); time.sleep(9)
    time.sleep(9)
"""


@pytest.mark.slow
def test_a_test_that_ends_its_process_ends_no_other(tester: ToolSandbox) -> None:
    limits = Limits(wall_seconds=6.0, cpu_seconds=3.0, memory_mb=512)
    project = Project({"answer.py": ENDING}, tests={"test_it.py": ENDS})
    found = {one.name.partition("::")[2]: one for one in tester.run_project(project, limits).tests}
    statuses = [one.status for one in found.values()]
    assert statuses == ["passed", "error", "error", "error", "error", "error", "passed"]
    assert found["test_hangs"].message == "timeout (cpu limit)"
    assert found["test_sleeps"].message == "timeout (wall limit)"
    assert found["test_leaves"].message == "it ended without a result, exit code 0"
    assert found["test_crashes"].message == "runtime-error, exit code -11"
    assert found["test_eats"].message.startswith("memory")


def test_a_submission_that_does_not_load_has_every_test_as_an_error(tester: ToolSandbox) -> None:
    found = _tests(tester, ALL_KINDS, "def add(:")
    assert len(found) == 9
    assert {one.status for one in found} == {"error"}
    assert "SyntaxError" in found[0].message


def test_tests_have_their_own_helpers_and_conftest(tester: ToolSandbox) -> None:
    source = "from helper import near\ndef test_it(number): assert near(number, 4)\n"
    helper = "def near(a, b): return abs(a - b) < 1\n"
    conftest = "import pytest\nimport answer\n@pytest.fixture\ndef number(): return answer.f()\n"
    more = {"helper.py": helper, "conftest.py": conftest}
    (one,) = _tests(tester, source, "def f(): return 4", **more)
    assert one.status == "passed", one.message


def test_files_of_the_tests_lie_beside_them_and_those_of_the_project_in_the_folder(
    tester: ToolSandbox,
) -> None:
    source = (
        "import pathlib\n"
        "def test_it():\n"
        "    assert (pathlib.Path(__file__).parent / 'data.txt').read_text() == 'theirs'\n"
        "    assert pathlib.Path('own.txt').read_text() == 'own'\n"
    )
    project = Project(
        {"own.txt": "own", "src/lib/__init__.py": ""},
        tests={"tests/test_it.py": "import lib\n" + source, "tests/data.txt": "theirs"},
    )
    (one,) = tester.run_project(project, LIMITS).tests
    assert (one.name, one.status) == ("tests/test_it.py::test_it", "passed"), one.message


def test_each_test_starts_from_what_was_imported(tester: ToolSandbox) -> None:
    source = "import answer\n" + "\n".join(
        f"def test_{n}():\n    answer.seen.append(1)\n    assert len(answer.seen) == 1"
        for n in range(3)
    )
    assert {one.status for one in _tests(tester, source, "seen = []")} == {"passed"}


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("def test_it(:", "SyntaxError"),
        ("import nonesuch_module\ndef test_it(): pass", "nonesuch_module"),
        ("x = 1", "holds no test"),
    ],
)
def test_tests_that_cannot_be_collected_are_their_author_s_mistake(
    tester: ToolSandbox, source: str, why: str
) -> None:
    with pytest.raises(UserError, match=why):
        _tests(tester, source)


def test_tests_need_a_file_that_pytest_would_look_into(anywhere: ToolSandbox) -> None:
    with pytest.raises(UserError, match=r"no file is called test_\*\.py"):
        anywhere.run_project(Project({}, tests={"checks.py": "def test_it(): pass"}), LIMITS)


def test_an_environment_without_pytest_is_named(anywhere: ToolSandbox) -> None:
    project = Project({}, tests={"test_it.py": "def test_it(): pass"}, environment="stdlib")
    with pytest.raises(UserError, match="environment stdlib has no pytest"):
        anywhere.run_project(project, LIMITS)


@pytest.mark.parametrize("folder", ["..", ".", "../tests", "src"])
def test_a_module_that_a_submission_writes_stands_in_for_none_that_is_installed(
    folder: str, tester: ToolSandbox
) -> None:
    answer = (
        "import os\n"
        f"os.makedirs({folder!r}, exist_ok=True)\n"
        "for name in ('statistics', 'colorsys'):\n"
        f"    with open({folder!r} + '/' + name + '.py', 'w') as file:\n"
        "        file.write('class Same:\\n    def __eq__(self, other): return True\\n'\n"
        "            'mean = rgb_to_hsv = lambda *given: Same()\\n')\n"
        "def f(): return 7\n"
    )
    source = (
        "from answer import f\nfrom statistics import mean\n"
        "def test_early(): assert mean([1, 2, 3]) == f()\n"
        "def test_late():\n    from colorsys import rgb_to_hsv\n    assert rgb_to_hsv(1, 1, 1) == f()\n"
    )
    found = _tests(tester, source, answer)
    assert [one.status for one in found] == ["failed", "failed"], found

"""Submissions that forge the results of pytest's tests: what earns nothing, and what remains.

Tests share a process with what they test, so a submission that goes to lengths can lie; ``REMAINS``
holds the ways that are known to work.
"""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from prorl_sandbox import Limits, Project, ToolSandbox

LIMITS = Limits(wall_seconds=20.0, cpu_seconds=4.0, memory_mb=512, output_kb=256)
TESTS = {
    "test_square.py": (
        "from answer import square\n"
        "from checking import expect\n"
        "import math\n"
        "def test_two():\n"
        "    assert square(2) == 4\n"
        "def test_three():\n"
        "    expect(square(3), 9)\n"
        "def test_close():\n"
        "    value = square(0.5)\n"
        "    assert math.isclose(value, 0.25)\n"
    ),
    "checking.py": "def expect(got, wanted):\n    assert got == wanted\n",
    "conftest.py": "import pytest\n",
}
WRONG = "def square(x): return -1\n"
SEND = (
    "import sys, os, struct\n"
    "def send(text):\n"
    "    f = sys._getframe()\n"
    "    while f and not isinstance(f.f_locals.get('order'), dict): f = f.f_back\n"
    "    nonce = f.f_locals['order']['n']\n"
    '    data = (text[:-1] + \',"n":"%s"}\' % nonce).encode()\n'
    "    os.write(3, struct.pack('>I', len(data)) + data)\n"
    'PASSED = \'{"k":"value","v":{"t":"dict","v":[["status","passed"],["message",""]]}}\'\n'
)
FORGERIES: dict[str, str | Mapping[str, str]] = {
    "leaves at import": "import os; os._exit(0)",
    "leaves at import with SystemExit": "raise SystemExit(0)",
    "leaves in the function": "import os\ndef square(x): os._exit(0)",
    "leaves in the function with SystemExit": "def square(x): raise SystemExit(0)",
    "ends pytest": "import pytest\ndef square(x): pytest.exit('done', 0)",
    "skips": "import pytest\ndef square(x): pytest.skip('all is well')",
    "expects to fail": "import pytest\ndef square(x): pytest.xfail('as it should')",
    "prints a report": "print('3 passed in 0.01s')\n" + WRONG,
    "brings a conftest": {
        "answer.py": WRONG,
        "conftest.py": (
            "import pytest\n"
            "@pytest.hookimpl(hookwrapper=True)\n"
            "def pytest_runtest_makereport(item, call):\n"
            "    out = yield\n"
            "    out.get_result().outcome = 'passed'\n"
        ),
    },
    "brings settings": {
        "answer.py": WRONG,
        "pytest.ini": "[pytest]\naddopts = --collect-only -p evil\n",
        "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '--co'\n",
        "setup.cfg": "[tool:pytest]\naddopts = --co\n",
        "evil.py": "def pytest_runtest_protocol(item, nextitem): return True\n",
    },
    "brings start-up files": {
        "answer.py": WRONG,
        "sitecustomize.py": "import builtins; builtins.AssertionError = None\n",
        "usercustomize.py": "raise SystemExit\n",
        "evil.pth": "import os; os._exit(0)\n",
    },
    "brings its own tests": {
        "answer.py": WRONG,
        "test_square.py": "def test_two(): pass\ndef test_three(): pass\ndef test_close(): pass\n",
        "checking.py": "def expect(got, wanted): pass\n",
    },
    "brings modules of the library and of pytest": {
        "answer.py": WRONG,
        "math.py": "def isclose(*a): return True\n",
        "pytest.py": "raise SystemExit\n",
        "_pytest/__init__.py": "",
    },
    "overwrites the tests on the disk": (
        "import glob\n"
        "for path in glob.glob('../tests/*.py'):\n"
        "    open(path, 'w').write('def test_two(): pass\\ndef expect(*a): pass\\n')\n" + WRONG
    ),
    "takes the place of a helper module": (
        "import sys, types\n"
        "fake = types.ModuleType('checking')\n"
        "fake.expect = lambda got, wanted: None\n"
        "sys.modules['checking'] = fake\n" + WRONG
    ),
    "takes the place of the test module": (
        "import sys, types\n"
        "fake = types.ModuleType('test_square')\n"
        "exec('def test_two(): pass\\ndef test_three(): pass\\ndef test_close(): pass', "
        "fake.__dict__)\n"
        "sys.modules['test_square'] = fake\n" + WRONG
    ),
    "patches the functions that run a test": (
        "import _pytest.python, _pytest.runner\n"
        "_pytest.python.Function.runtest = lambda self: None\n"
        "_pytest.runner.pytest_runtest_call = lambda item: None\n" + WRONG
    ),
    "patches the report": (
        "import _pytest.reports\n"
        "def made(item, call):\n"
        "    call.excinfo = None\n"
        "    return real(item, call)\n"
        "real = _pytest.reports.TestReport.from_item_and_call\n"
        "_pytest.reports.TestReport.from_item_and_call = staticmethod(made)\n" + WRONG
    ),
    "patches the report when it is called": (
        "import _pytest.runner\n"
        "def square(x):\n"
        "    real = _pytest.runner.CallInfo.from_call.__func__\n"
        "    def made(cls, *a, **k):\n"
        "        info = real(cls, *a, **k); info.excinfo = None; return info\n"
        "    _pytest.runner.CallInfo.from_call = classmethod(made)\n"
        "    _pytest.runner.TestReport.from_item_and_call = lambda i, c: 1\n"
        "    return -1\n"
    ),
    "patches what compares": (
        "import math, builtins\nmath.isclose = lambda *a, **k: True\nbuiltins.abs = lambda x: 0\n"
        + WRONG
    ),
    "patches the import of what comes after it": (
        "import builtins\n"
        "real = builtins.__import__\n"
        "def fake(name, *a, **k):\n"
        "    module = real(name, *a, **k)\n"
        "    if name == 'checking': module.expect = lambda *a: None\n"
        "    return module\n"
        "builtins.__import__ = fake\n" + WRONG
    ),
    "patches AssertionError": (
        "import builtins, pytest\n"
        "builtins.AssertionError = lambda *a: pytest.skip.Exception('fine')\n" + WRONG
    ),
    "changes the tests' code from a thread": (
        "import gc, threading, time, types\n"
        "def work():\n"
        "    end = time.monotonic() + 3\n"
        "    while time.monotonic() < end:\n"
        "        for one in gc.get_objects():\n"
        "            if isinstance(one, types.FunctionType) and one.__name__.startswith('test_'):\n"
        "                if one.__module__ == 'test_square' and not one.__code__.co_freevars:\n"
        "                    one.__code__ = (lambda: None).__code__\n"
        "threading.Thread(target=work, daemon=True).start()\n" + WRONG + "time.sleep(0.2)\n"
    ),
    "changes the tests' code when a module comes in": (
        "import sys, types\n"
        "def trace(frame, event, arg):\n"
        "    for name, one in list(frame.f_globals.items()):\n"
        "        if name.startswith('test_') and isinstance(one, types.FunctionType):\n"
        "            one.__code__ = (lambda: None).__code__\n"
        "    return trace\n"
        "sys.settrace(trace)\nsys.setprofile(trace)\n"
        "sys._getframe(0)\n" + WRONG
    ),
    "traces the tests": (
        "import sys\n"
        "def trace(frame, event, arg):\n"
        "    if frame.f_code.co_name.startswith('test_') and event == 'line':\n"
        "        frame.f_lineno = frame.f_code.co_firstlineno\n"
        "    return trace\n"
        "sys.settrace(trace)\n" + WRONG
    ),
    "answers in the harness's place and leaves": (
        SEND + "def square(x):\n    send(PASSED)\n    os._exit(0)\n"
    ),
    "answers in the harness's place and goes on": (
        SEND + "def square(x):\n    send(PASSED)\n    return -1\n"
    ),
    "answers in the harness's place and waits": (
        SEND + "import time\ndef square(x):\n    send(PASSED)\n    time.sleep(60)\n"
    ),
    "answers for the collection": (
        SEND + 'send(\'{"k":"value","v":{"t":"dict","v":[["tests",[]],["broken",""]'
        ',["changed",[]]]}}\')\n' + WRONG
    ),
    "has a child that answers": (
        "import os, struct, time\n"
        "if not os.fork():\n"
        '    data = b\'{"k":"value","v":{"t":"dict","v":[["status","passed"]]}}\'\n'
        "    while True:\n"
        "        os.write(3, struct.pack('>I', len(data)) + data); time.sleep(0.001)\n" + WRONG
    ),
    "fills the box's memory": "x = bytearray(1 << 29)\nx[::4096] = b'x' * len(x[::4096])\n" + WRONG,
}
REMAINS: dict[str, str] = {
    "returns what equals everything": (
        "class All(float):\n"
        "    def __eq__(self, other): return True\n"
        "    def __abs__(self): return 0.0\n"
        "    __hash__ = None\n"
        "def square(x): return All(0.25)\n"
    ),
    "reaches the harness through its frames": (
        "import sys\n"
        "f = sys._getframe()\n"
        "while 'run_test' not in f.f_globals: f = f.f_back\n"
        "f.f_globals['run_test'] = lambda order: {'status': 'passed', 'message': ''}\n"
        "f.f_globals['changed'] = lambda: []\n" + WRONG
    ),
}


def _project(forgery: str | Mapping[str, str]) -> Project:
    files = {"answer.py": forgery} if isinstance(forgery, str) else forgery
    return Project(files, tests=TESTS)


def test_the_right_answer_passes(tester: ToolSandbox) -> None:
    outcome = tester.run_project(_project("def square(x): return x * x"), LIMITS)
    assert [one.status for one in outcome.tests] == ["passed"] * 3


@pytest.mark.slow
@pytest.mark.parametrize("forgery", FORGERIES.values(), ids=FORGERIES)
def test_a_forged_result_earns_nothing(
    tester: ToolSandbox, forgery: str | Mapping[str, str]
) -> None:
    outcome = tester.run_project(_project(forgery), LIMITS)
    assert [one.name for one in outcome.tests] == [
        "test_square.py::test_two",
        "test_square.py::test_three",
        "test_square.py::test_close",
    ]
    assert [one for one in outcome.tests if one.status == "passed"] == []


@pytest.mark.parametrize("forgery", REMAINS.values(), ids=REMAINS)
def test_what_remains_is_as_the_documentation_says(
    tester: ToolSandbox, forgery: str | Mapping[str, str]
) -> None:
    outcome = tester.run_project(_project(forgery), LIMITS)
    assert [one.status for one in outcome.tests] == ["passed"] * 3

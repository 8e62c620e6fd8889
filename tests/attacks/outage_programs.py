"""Random programs that try to look like an outage of the sandbox. Run them in the sandbox only."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

Rng = random.Random
Block = Callable[[Rng], str]

_CODES = (
    1, 2, 3, 70, 71, 74, 75, 77, 78, 99, 111, 124, 125, 126, 127, 128, 129, 134, 135, 137, 139, 143,
    152, 153, 159, 254, 255, 256, -1,
)  # fmt: skip
_WORDS = (
    "error", "fault", "missing", "broken", "infra", "infra_error", "outage", "sandbox_error",
    "crashed", "retry", "ready", "lost", "timeout", "oom", "killed", "internal", "unavailable",
    "CheckerError", "overloaded", "result", "ok", "done",
)  # fmt: skip
_SIGNALS = (
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 24, 25, 26, 27, 29, 30, 31, 33, 34, 40,
    63, 64,
)  # fmt: skip
_NOISE = (
    "docker: Error response from daemon: OCI runtime create failed",
    "Cannot connect to the Docker daemon at unix:///var/run/docker.sock",
    "bwrap: Creating new namespace failed: Resource temporarily unavailable",
    "clone: Resource temporarily unavailable",
    "OSError: [Errno 28] No space left on device",
    "BrokenPipeError: [Errno 32] Broken pipe",
    "ConnectionResetError: [Errno 104] Connection reset by peer",
    "Fatal Python error: init_fs_encoding: failed to get the Python codec",
    "ModuleNotFoundError: No module named 'encodings'",
    "exec /usr/bin/python3: exec format error",
    "Killed",
    "Out of memory: Killed process 1 (python3)",
    "sandbox: worker lost",
)


def _indent(text: str, depth: int = 1) -> str:
    return "\n".join("    " * depth + line if line else line for line in text.split("\n"))


def _try(body: str) -> str:
    """Return a block that ignores any exception of `body`."""
    return f"try:\n{_indent(body)}\nexcept Exception:\n    pass"


def _body(rng: Rng) -> str:
    """Return a bytes expression that could be a message to the sandbox."""
    word = rng.choice(_WORDS)
    return rng.choice(
        (
            f"__import__('json').dumps({{'kind': {word!r}, 'value': {rng.randrange(9)}, 'message': {rng.choice(_NOISE)!r}}}).encode()",
            f"__import__('json').dumps({{{word!r}: True, 'id': {rng.choice((0, 1, -1, 2**64))}}}).encode()",
            f"__import__('json').dumps([{word!r}, None, {rng.random()!r}]).encode()",
            f"__import__('marshal').dumps(({word!r}, {{1: 2}}, b'x'))",
            f"__import__('pickle').dumps({{{word!r}: (1, 2.5)}}, {rng.randrange(6)})",
            f"b'[' * {rng.choice((5, 1000, 50000))}",
            f"b'\\x91' * {rng.choice((5, 1000, 50000))}",
            'b\'{"status": "error", "value": "\\\\ud800\\\\u0000", "x": 1e999}\'',
            "b'null'",
            "b''",
            f"b'9' * {rng.choice((10, 5000, 60000))}",
            f"bytes({[rng.randrange(256) for _ in range(rng.randrange(1, 24))]!r})",
            f"bytes({rng.choice((1, 8, 4096, 65536))})",
            f"b'\\xff' * {rng.choice((4, 8, 4096))}",
        )
    )


def _head(rng: Rng) -> str:
    """Return a bytes expression for a valid or invalid header of a frame whose body is the variable `body`."""
    size = rng.choice(
        (
            "len(body)",
            "len(body)",
            "len(body) + 5",
            "max(0, len(body) - 3)",
            "0",
            "0xFFFFFFFF",
            "1 << 20",
        )
    )
    return rng.choice(
        (
            "b''",
            f"({size}).to_bytes(4, {rng.choice(('little', 'big'))!r})",
            f"({size}).to_bytes(8, {rng.choice(('little', 'big'))!r})",
            f"b'%d\\n' % ({size})",
            f"b'Content-Length: %d\\r\\n\\r\\n' % ({size})",
        )
    )


# Mechanisms that run as statements, at the top of a script or inside the function.


def _exit_now(rng: Rng) -> str:
    return f"import os\nos._exit({rng.choice(_CODES) & 0xFF})"


def _exit_politely(rng: Rng) -> str:
    return f"import sys\nsys.exit({rng.choice(_CODES)})"


def _exit_oddly(rng: Rng) -> str:
    value = rng.choice(
        (
            "None", "'infra_error'", "(1, 2)", "10**30", "-10**30", "True", "3.5", "'\\ud800'",
            "b'x'", "'\\0' * 99", "object()",
        )
    )  # fmt: skip
    kind = rng.choice(
        (
            "SystemExit",
            "KeyboardInterrupt",
            "GeneratorExit",
            "StopIteration",
            "BaseException",
            "StopAsyncIteration",
        )
    )
    return f"raise {kind}({value})"


def _kill_itself(rng: Rng) -> str:
    return f"import os\nos.kill(os.getpid(), {rng.choice(_SIGNALS)})"


def _kill_others(rng: Rng) -> str:
    who = rng.choice(("-1", "0", "os.getppid()", "1", "2", "-os.getpgrp()"))
    return "import os\n" + _try(f"os.kill({who}, {rng.choice((1, 2, 9, 15, 18, 31, 0))})")


def _stop_others(rng: Rng) -> str:
    numbers = rng.choice(("(1, 2, 15)", "(13,)", "(14, 24, 25)", "signal.valid_signals()"))
    how = rng.choice(("SIG_IGN", "SIG_DFL"))
    return f"import signal\nfor n in {numbers}:\n" + _indent(
        _try(f"signal.signal(n, signal.{how})")
    )


def _alarm(rng: Rng) -> str:
    which = rng.choice(("ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF"))
    return f"import signal, time\nsignal.setitimer(signal.{which}, {rng.choice((0.001, 0.02, 0.05))})\ntime.sleep({rng.choice((0.0, 0.03, 0.1))})"


def _close_all(rng: Rng) -> str:
    return f"import os\nos.closerange({rng.choice((0, 1, 2, 3, 3, 4))}, {rng.choice((1, 3, 4, 5, 64, 1024))})"


def _confuse_descriptors(rng: Rng) -> str:
    one = rng.choice(
        (
            "os.open('/dev/null', os.O_RDWR)", "os.open(os.__file__, os.O_RDONLY)", "os.pipe()[1]",
            "os.pipe()[0]", "0", "1", "2", "3",
        )
    )  # fmt: skip
    return "import os\n" + _try(f"os.dup2({one}, {rng.choice((0, 1, 2, 3, 3, 3, 4, 5))})")


def _nonblocking(rng: Rng) -> str:
    fd = rng.choice((0, 1, 2, 3))
    return "import os\n" + _try(
        f"os.set_blocking({fd}, {rng.choice((True, False))})\nos.set_inheritable({fd}, {rng.choice((True, False))})"
    )


def _write_frame(rng: Rng) -> str:
    body = f"body = {_body(rng)}\nfd = {rng.choice((0, 1, 2, 3, 3, 3, 4, 5))}\nos.set_blocking(fd, False)\nos.write(fd, {_head(rng)} + body)"
    return f"import os\nfor _ in range({rng.choice((1, 1, 2, 20))}):\n" + _indent(_try(body))


def _half_frame(rng: Rng) -> str:
    cut = rng.choice((1, 2, 3, 4, 5, 7))
    return "import os\n" + _try(
        f"body = {_body(rng)}\nos.set_blocking(3, False)\nos.write(3, ({_head(rng)} + body)[:{cut}])"
    )


def _shut_socket(rng: Rng) -> str:
    return "import socket\n" + _try(
        f"socket.socket(fileno={rng.choice((0, 1, 3, 3, 4))}).shutdown({rng.randrange(3)})"
    )


def _steal_input(rng: Rng) -> str:
    fd = rng.choice((0, 3, 4))
    return "import os\n" + _try(
        f"os.set_blocking({fd}, False)\nos.read({fd}, {rng.choice((1, 4, 100, 100000))})"
    )


def _noise(rng: Rng) -> str:
    where = rng.choice(("stdout", "stderr", "__stdout__", "__stderr__"))
    return f"import sys\nsys.{where}.write({(rng.choice(_NOISE) + chr(10))!r} * {rng.choice((1, 1, 3, 500))})"


def _gigantic(rng: Rng) -> str:
    return f"import os\nos.write({rng.choice((1, 2))}, b{rng.choice('x~ ')!r} * {rng.choice((60000, 65536, 65537, 300000, 2000000))})"


def _bad_bytes(rng: Rng) -> str:
    body = rng.choice(
        (
            r"b'\xff\xfe\x00\xd8'",
            r"b'\0' * 100",
            r"b'\xed\xa0\x80'",
            r"b'\x1b[2J\x1b]0;x\x07'",
            r"b'\r\n' * 50",
            r"b'\x1a\x04'",
        )
    )
    return f"import os\nos.write({rng.choice((1, 2))}, {body})"


def _bad_text(rng: Rng) -> str:
    coding = rng.choice(("utf-16", "ascii", "utf-7", "cp037", "latin-1"))
    return f"import sys\nsys.stdout.reconfigure(encoding={coding!r}, errors={rng.choice(('strict', 'replace', 'surrogatepass'))!r})\nprint('\\ud800\\u20ac', 42)"


def _fake_traceback(rng: Rng) -> str:
    name = rng.choice(
        (
            "InfraError",
            "SandboxError",
            "BrokenPipeError",
            "ConnectionResetError",
            "ProtocolError",
            "EOFError",
        )
    )
    text = f'Traceback (most recent call last):\n  File "/sandbox/{rng.choice(("worker", "supervisor", "init"))}.py", line {rng.randrange(1, 400)}, in run\n'
    return f"import sys\nsys.stderr.write({text + name + ': ' + rng.choice(_NOISE) + chr(10)!r})"


def _fake_class(rng: Rng) -> str:
    name = rng.choice(
        ("InfraError", "SandboxError", "Outage", "Retry", "TimeoutExpired", "OutOfMemory")
    )
    base = rng.choice(
        ("Exception", "BaseException", "OSError", "MemoryError", "SystemError", "TimeoutError")
    )
    module = rng.choice(("builtins", "sandbox.errors", "__main__", "subprocess", "", "\0"))
    return f"class {name}({base}):\n    pass\n{name}.__module__ = {module!r}\nraise {name}({rng.choice(_NOISE)!r})"


def _real_class(rng: Rng) -> str:
    return "raise " + rng.choice(
        (
            "MemoryError()",
            "RecursionError('x' * 10**5)",
            "OSError(28, 'No space left on device')",
            "OSError(12, 'Cannot allocate memory')",
            "BrokenPipeError(32, 'Broken pipe')",
            "ConnectionResetError(104, 'reset')",
            "TimeoutError()",
            "BlockingIOError(11, 'x')",
            "ChildProcessError(10, 'x')",
            "SystemError('broken')",
            "EOFError()",
            "ImportError('encodings')",
            "AssertionError({'error': 1})",
            "SyntaxError('x', ('/sandbox/worker.py', 10**9, -5, '\\0', -1, -1))",
            "UnicodeDecodeError('utf-8', b'x', 0, 1, '\\ud800')",
            "KeyError('\\ud800\\0')",
            "ExceptionGroup('x', [ValueError(1), OSError(5, 'y')])",
            "OSError(10**9, 'x')",
        )
    )


def _broken_exception(rng: Rng) -> str:
    act = rng.choice(
        (
            "raise SystemExit(125)",
            "raise MemoryError",
            "return 7",
            "return '\\ud800' * 1000",
            "__import__('os')._exit(125)",
            "return self.x()",
        )
    )
    lines = [
        "class Odd(Exception):",
        "    def __str__(self):",
        f"        {act}",
        "    __repr__ = x = __str__",
        "odd = Odd()",
    ]
    lines += rng.choice(
        (
            ["odd.__cause__ = odd"],
            ["odd.__context__ = Odd()", "odd.__context__.__context__ = odd"],
            ["odd.__notes__ = 5"],
            [""],
        )
    )
    return "\n".join([*lines, "raise odd"])


def _long_chain(rng: Rng) -> str:
    lines = [
        "last = None",
        f"for n in range({rng.choice((10, 500, 3000))}):",
        "    odd = ValueError(n)",
        "    odd.__cause__ = last",
        "    last = odd",
    ]
    return "\n".join([*lines, "raise last"])


def _deep_recursion(rng: Rng) -> str:
    limit = rng.choice((0, 0, 5000, 50000))
    start = f"import sys\nsys.setrecursionlimit({limit})\n" if limit else ""
    return start + rng.choice(
        (
            "def down(n):\n    return down(n + 1) + 1\ndown(0)",
            "one = []\nfor _ in range(40000):\n    one = [one]\nrepr(one)",
            "class Deep:\n    def __getattr__(self, name):\n        return getattr(self, name + 'x'[:0])\nDeep().x",
        )
    )


def _low_recursion(rng: Rng) -> str:
    return "import sys\n" + _try(f"sys.setrecursionlimit({rng.choice((10, 25, 40, 60))})")


def _crash(rng: Rng) -> str:
    return rng.choice(
        (
            "import ctypes\nctypes.string_at(0)",
            "import os\nos.abort()",
            "import faulthandler\nfaulthandler._sigsegv()",
            "import faulthandler\nfaulthandler._fatal_error_c_thread()",
            "import ctypes\nctypes.memset(id(None), 0, 16)",
            "import ctypes\nctypes.pythonapi.Py_FatalError(b'sandbox lost')",
            "import ctypes\nctypes.CDLL(None).exit(125)",
            "import ctypes\nctypes.CDLL(None)._exit(127)",
        )
    )


def _at_exit(rng: Rng) -> str:
    act = rng.choice(
        (
            f"os._exit({rng.choice(_CODES) & 0xFF})",
            "os.abort()",
            "os.kill(os.getpid(), 9)",
            "os.closerange(0, 64)",
            "time.sleep(0.1)",
            "sys.exit(125)",
            "print('worker lost', flush=True)",
            "1 / 0",
        )
    )
    return f"import atexit, os, sys, time\natexit.register(lambda: {act})"


def _at_the_very_end(rng: Rng) -> str:
    act = rng.choice(
        (
            f"os._exit({rng.choice(_CODES) & 0xFF})",
            "os.write(2, b'lost')",
            "os.kill(os.getpid(), 11)",
            "1 / 0",
            "print(1)",
        )
    )
    keep = rng.choice(
        (
            "sys.modules['last'] = Last()",
            "sys.last = Last()",
            "last = Last()\nlast.me = last",
            "Last()",
        )
    )
    return f"import os, sys\nclass Last:\n    def __del__(self, os=os):\n        {act}\n{keep}"


def _in_thread(rng: Rng) -> str:
    act = rng.choice(
        (
            f"os._exit({rng.choice(_CODES) & 0xFF})",
            "os.kill(os.getpid(), 9)",
            "os.closerange(0, 64)",
            "sys.exit(125)",
            "1 / 0",
            "[].x",
            'os.write(3, b\'{"status": "lost"}\')',
        )
    )
    lines = [
        "import os, sys, threading, time",
        "def work():",
        f"    time.sleep({rng.choice((0, 0.001, 0.02, 0.1))})",
        f"    {act}",
        f"threading.Thread(target=work, daemon={rng.choice((True, False))}).start()",
    ]
    return "\n".join([*lines, f"time.sleep({rng.choice((0, 0.03, 0.1))})"])


def _bare_thread(rng: Rng) -> str:
    return f"import _thread, time\nfor _ in range({rng.choice((1, 4, 30))}):\n" + _indent(
        _try("_thread.start_new_thread(time.sleep, (0.15,))")
    )


def _hooks(rng: Rng) -> str:
    act = rng.choice(("sys.exit(0)", "os._exit(125)", "1 / 0", "None", "os.write(2, b'lost')"))
    names = rng.sample(
        ("excepthook", "__excepthook__", "unraisablehook", "displayhook", "breakpointhook"), 3
    )
    return (
        "import os, sys\n"
        + "\n".join(f"sys.{name} = lambda *a: {act}" for name in names)
        + rng.choice(("", "\nraise ValueError('hidden')"))
    )


def _replace_streams(rng: Rng) -> str:
    value = rng.choice(
        (
            "None",
            "open('/dev/null', 'w')",
            "42",
            "__import__('io').StringIO()",
            "__import__('io').BytesIO()",
            "type('Odd', (), {})()",
        )
    )
    return (
        "import sys\n"
        + " = ".join(
            f"sys.{name}"
            for name in rng.sample(("stdout", "stderr", "__stdout__", "stdin", "__stderr__"), 3)
        )
        + f" = {value}"
    )


def _close_streams(rng: Rng) -> str:
    return "import sys\n" + _try(
        f"sys.{rng.choice(('stdout', 'stderr', 'stdin'))}.{rng.choice(('close', 'detach'))}()"
    )


def _much_memory(rng: Rng) -> str:
    size = rng.choice((40, 90, 150, 190, 230))
    return f"import builtins\nbuiltins.kept = bytearray({size} << 20)"


def _impossible_memory(rng: Rng) -> str:
    what = rng.choice(
        (
            "bytearray(1 << 40)",
            "'x' * (1 << 45)",
            "[0] * (1 << 60)",
            "range(1 << 70).__len__()",
            "memoryview(bytes(9)).cast('x')",
        )
    )
    return what if rng.random() < 0.5 else _try(what)


def _mapped_memory(rng: Rng) -> str:
    size = rng.choice((16, 100, 300, 1 << 12, 1 << 20))
    return "import builtins, mmap\n" + _try(
        f"builtins.mapped = mmap.mmap(-1, {size} << 20)\nbuiltins.mapped[::4096 * {max(8, size // 100)}]"
    )


def _fill_scratch(rng: Rng) -> str:
    where = rng.choice(("'fill'", "'/tmp/fill'", "'/scratch/fill'", "'/dev/shm/fill'"))
    return "import os\n" + _try(
        f"with open({where}, 'wb') as file:\n    for _ in range({rng.choice((1, 15, 17, 24))}):\n        file.write(bytes(1 << 20))"
    )


def _many_files(rng: Rng) -> str:
    act = rng.choice(
        (
            "os.symlink('x' * 99, f'l{n}')",
            "os.mkdir(f'd{n}')",
            "open(f'f{n}', 'w').close()",
            "os.mkfifo(f'p{n}')",
        )
    )
    return f"import os\nfor n in range({rng.choice((10, 300, 1500))}):\n" + _indent(_try(act))


def _deep_folders(rng: Rng) -> str:
    return f"import os\nfor n in range({rng.choice((20, 300))}):\n" + _indent(
        _try("os.mkdir('d' * 60)\nos.chdir('d' * 60)")
    )


def _spoil_scratch(rng: Rng) -> str:
    act = rng.choice(
        (
            "os.chmod('.', 0)",
            "os.chdir('/')",
            "os.rmdir(os.getcwd())",
            "os.symlink('/', 'out')",
            "os.rename('.', '../x')",
            "os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone')",
            "os.umask(0o777)",
            "os.unlink(__file__)",
            "os.truncate(__file__, 0)",
        )
    )
    return "import os\n" + _try(act)


def _many_descriptors(rng: Rng) -> str:
    act = rng.choice(
        (
            "os.pipe()",
            "os.dup(2)",
            "os.open('/dev/null', 0)",
            "os.eventfd(0)",
            "os.memfd_create('m')",
        )
    )
    return f"import os\nfor _ in range({rng.choice((10, 70, 300))}):\n" + _indent(_try(act))


def _children(rng: Rng) -> str:
    act = rng.choice(
        (
            f"os._exit({rng.choice(_CODES) & 0xFF})",
            "time.sleep(0.15)",
            "os.kill(os.getppid(), 9)",
            "os.kill(os.getpid(), 19)",
            "os.abort()",
            "os.setsid(); time.sleep(0.15)",
            'os.write(3, b\'{"status": "lost"}\\n\')',
            "os.closerange(0, 64); time.sleep(0.1)",
        )
    )
    child = f"try:\n    {act}\nfinally:\n    os._exit({rng.choice((0, 125))})"
    lines = f"if os.fork() == 0:\n{_indent(child)}"
    after = rng.choice(("", "\n" + _try("os.waitpid(-1, os.WNOHANG)")))
    return (
        f"import os, time\nfor _ in range({rng.choice((1, 2, 7))}):\n"
        + _indent(_try(lines))
        + after
    )


def _child_goes_on(rng: Rng) -> str:
    return "import os\n" + _try(
        rng.choice(
            (
                "os.fork()",
                "if os.fork():\n    os._exit(0)",
                "if os.fork() == 0:\n    raise SystemExit(125)",
                "os.fork() or os.kill(os.getppid(), 9)",
            )
        )
    )


def _other_program(rng: Rng) -> str:
    code = rng.choice(
        (
            "import os; os._exit(125)",
            "1/0",
            "print(42)",
            "import os; os.write(3, b'x')",
            "while 0: pass",
        )
    )
    return "import os, sys\n" + _try(
        rng.choice(
            (
                f"os.execv(sys.executable, [sys.executable, '-I', '-S', '-c', {code!r}])",
                "os.execv('/bin/false', ['false'])",
                "os.execv('/nothing', ['nothing'])",
                "os.execv('/bin/sh', ['sh', '-c', 'exit 127'])",
                "os.execve(sys.executable, [''], {'PYTHONHOME': '/nothing'})",
                "os.execv(__file__, ['x'])",
            )
        )
    )


def _lower_limits(rng: Rng) -> str:
    what = rng.choice(("NOFILE", "FSIZE", "STACK", "AS", "DATA", "NPROC", "CPU"))
    value = rng.choice((0, 1, 3, 1 << 12, 1 << 20)) if what != "CPU" else 1
    return "import resource\n" + _try(
        f"resource.setrlimit(resource.RLIMIT_{what}, ({value}, {rng.choice((str(value), f'resource.getrlimit(resource.RLIMIT_{what})[1]'))}))"
    )


def _patch_builtins(rng: Rng) -> str:
    names = rng.sample(
        (
            "repr", "str", "len", "type", "isinstance", "print", "sorted", "format", "open", "int",
            "dict", "list", "getattr", "BaseException", "Exception", "__import__", "hash", "iter",
            "compile", "exec",
        ),
        rng.randrange(1, 6),
    )  # fmt: skip
    value = rng.choice(
        (
            "None",
            "lambda *a, **k: 1 / 0",
            "lambda *a, **k: 42",
            "lambda *a, **k: __import__('sys').exit(125)",
        )
    )
    return "import builtins\n" + "\n".join(f"builtins.{name} = {value}" for name in names)


def _patch_modules(rng: Rng) -> str:
    names = rng.sample(
        (
            "os._exit", "os.write", "os.read", "os.close", "os.getpid", "sys.exit", "json.dumps",
            "json.loads", "marshal.dumps", "struct.pack", "struct.unpack", "time.monotonic",
            "traceback.format_exc", "gc.collect", "types.FunctionType", "sys._getframe",
        ),
        rng.randrange(1, 7),
    )  # fmt: skip
    value = rng.choice(
        (
            "None",
            "lambda *a, **k: 1 / 0",
            'lambda *a, **k: b\'{"status": "error"}\'',
            "lambda *a, **k: 0",
        )
    )
    return "import gc, json, marshal, os, struct, sys, time, traceback, types\n" + "\n".join(
        f"{name} = {value}" for name in names
    )


def _empty_modules(rng: Rng) -> str:
    value = rng.choice(
        (
            "sys.modules.clear()",
            "for name in list(sys.modules):\n    sys.modules[name] = None",
            "sys.path[:] = sys.meta_path[:] = []",
            "sys.__dict__.clear()",
            "sys.modules['__main__'] = None",
            "vars(sys.modules['builtins']).clear()",
            "globals().clear()",
        )
    )
    return "import sys\n" + value


def _collector(rng: Rng) -> str:
    act = rng.choice(("1 / 0", "os._exit(125)", "None", "sys.exit(3)"))
    return (
        f"import gc, os, sys\ngc.callbacks.append(lambda phase, info: {act})\ngc.set_threshold({rng.choice((1, 10, 1000))})"
        + rng.choice(("", "\ngc.collect()", "\ngc.freeze()"))
    )


def _tracing(rng: Rng) -> str:
    act = rng.choice(("1 / 0", "os._exit(125)", "trace", "42", "sys.exit(126)"))
    where = rng.choice(
        ("sys.settrace", "sys.setprofile", "threading.settrace", "threading.setprofile")
    )
    return f"import os, sys, threading\ntrace = lambda *a: {act}\n{where}(trace)"


def _audit(rng: Rng) -> str:
    act = rng.choice(("1 / 0", "os._exit(125)", "os.write(2, b'lost')", "None"))
    start = rng.choice(("", "open", "import", "compile", "exec", "os", "sys", "marshal", "cpython"))
    return f"import os, sys\nsys.addaudithook(lambda event, args: {act} if event.startswith({start!r}) else None)"


def _importing(rng: Rng) -> str:
    act = rng.choice(("raise SystemExit(125)", "raise MemoryError", "return 42", "os._exit(125)"))
    return f"import os, sys\nclass Finder:\n    def find_spec(self, name, path=None, target=None):\n        {act}\nsys.meta_path.insert(0, Finder())"


def _own_modules(rng: Rng) -> str:
    name = rng.choice(
        ("json", "traceback", "encodings", "linecache", "struct", "sitecustomize", "os")
    )
    return "import sys\n" + _try(
        f"with open({name + '.py'!r}, 'w') as file:\n    file.write('raise SystemExit(125)')\nsys.path.insert(0, '.')\nsys.modules.pop({name!r}, None)"
    )


def _change_process(rng: Rng) -> str:
    act = rng.choice(
        (
            "libc.prctl(22, 1, 0, 0, 0)",
            "libc.prctl(4, 1, 0, 0, 0)",
            "libc.prctl(1, 9, 0, 0, 0)",
            "libc.prctl(15, b'sandbox-init', 0, 0, 0)",
            "libc.prctl(36, 1, 0, 0, 0)",
            "libc.personality(0xFFFFFFF)",
            "libc.alarm(1)",
            "libc.setvbuf(None, None, 2, 0)",
            "libc.clearenv()",
            "libc.fclose(ctypes.c_void_p.in_dll(libc, 'stdout'))",
            "libc.close(3)",
        )
    )
    return "import ctypes\nlibc = ctypes.CDLL(None)\n" + _try(act)


def _change_numbers(rng: Rng) -> str:
    return _try(
        rng.choice(
            (
                "import ctypes\nctypes.c_long.from_address(id(257) + 24).value = 3",
                "import sys\nsys.set_int_max_str_digits(640)\nstr(10**5000)",
                "import sys\nsys.set_int_max_str_digits(0)\nstr(10**20000)",
                "import sys\nsys.setswitchinterval(1e-9)",
                "import time\ntime.sleep(-1)",
                "import warnings\nwarnings.simplefilter('error')\nwarnings.warn('worker lost')",
                "import locale\nlocale.setlocale(locale.LC_ALL, 'C')",
                "import os\nos.environ.clear()\nos.environ['PYTHONHOME'] = '/nothing'",
                "import sys\nsys.stdout.buffer.raw.close()",
            )
        )
    )


def _pending(rng: Rng) -> str:
    return rng.choice(
        (
            "async def never():\n    await never()\nnever()",
            "def gen():\n    try:\n        yield 1\n    finally:\n        raise SystemExit(125)\ng = gen()\nnext(g)",
            "import threading\nlock = threading.Lock()\nlock.acquire()\nthreading.Thread(target=lock.acquire, args=(True, 0.1)).start()",
            "import weakref\nclass Odd:\n    pass\nodd = Odd()\nref = weakref.finalize(odd, __import__('os')._exit, 125)",
            "import concurrent.futures\npool = concurrent.futures.ThreadPoolExecutor(2)\npool.submit(__import__('os')._exit, 125)",
            "import contextlib\nstack = contextlib.ExitStack()\nstack.callback(__import__('os')._exit, 125)",
        )
    )


STATEMENTS: tuple[Block, ...] = (
    _exit_now,
    _exit_politely,
    _exit_oddly,
    _kill_itself,
    _kill_others,
    _stop_others,
    _alarm,
    _close_all,
    _confuse_descriptors,
    _nonblocking,
    _write_frame,
    _half_frame,
    _shut_socket,
    _steal_input,
    _noise,
    _gigantic,
    _bad_bytes,
    _bad_text,
    _fake_traceback,
    _fake_class,
    _real_class,
    _broken_exception,
    _long_chain,
    _deep_recursion,
    _low_recursion,
    _crash,
    _at_exit,
    _at_the_very_end,
    _in_thread,
    _bare_thread,
    _hooks,
    _replace_streams,
    _close_streams,
    _much_memory,
    _impossible_memory,
    _mapped_memory,
    _fill_scratch,
    _many_files,
    _deep_folders,
    _spoil_scratch,
    _many_descriptors,
    _children,
    _child_goes_on,
    _other_program,
    _lower_limits,
    _patch_builtins,
    _patch_modules,
    _empty_modules,
    _collector,
    _tracing,
    _audit,
    _importing,
    _own_modules,
    _change_process,
    _change_numbers,
    _pending,
)


# Mechanisms whose block ends by setting `value`, which the function returns.


def _deep_value(rng: Rng) -> str:
    shape = rng.choice(
        ("[value]", "(value,)", "{'a': value}", "{0: value}", "[1, value, 2]", "{'value': [value]}")
    )
    return f"value = {rng.choice(('0', '[]', 'None'))}\nfor _ in range({rng.choice((50, 100, 101, 500, 1000, 5000, 50000))}):\n    value = {shape}"


def _own_value(rng: Rng) -> str:
    return rng.choice(
        (
            "value = []\nvalue.append(value)",
            "value = {}\nvalue['a'] = value",
            "value = [[], []]\nvalue[0].append(value[1])\nvalue[1].append(value)",
            "value = ([],)\nvalue[0].append(value)",
        )
    )


def _huge_number(rng: Rng) -> str:
    return f"value = {rng.choice(('', '-'))}10 ** {rng.choice((18, 19, 20, 400, 4299, 4300, 4301, 9000, 60000))}"


def _strange_number(rng: Rng) -> str:
    return "value = " + rng.choice(
        (
            "float('nan')", "[float('inf'), -float('inf')]", "-0.0", "1j", "5e-324", "2 ** 53 + 1",
            "2 ** 64", "-2 ** 63 - 1", "True", "__import__('decimal').Decimal('1e999999')",
            "__import__('fractions').Fraction(1, 3)", "1e308 * 10",
        )
    )  # fmt: skip


def _huge_keys(rng: Rng) -> str:
    return f"value = {{{rng.choice(('10', '-10', '2'))} ** ({rng.choice((10, 300, 5000))} + n): n for n in range({rng.choice((1, 20, 300))})}}"


def _strange_keys(rng: Rng) -> str:
    return "value = " + rng.choice(
        (
            "{1: 1, '1': 2}", "{True: 1, 0: 2}", "{None: 0}", "{(1, 2): 3}",
            "{float('nan'): 1, 2: 2}", "{1.0: 1}", "{b'a': 1, 'a': 2}", "{frozenset(): 1}",
            "{'': 1}", "{'\\0': 1, '\\ud800': 2}", "{...: 1}", "{(): {(): {}}}", "{int: 1}",
        )
    )  # fmt: skip


def _colliding(rng: Rng) -> str:
    return (
        f"value = {{n * (2 ** 61 - 1): n for n in range({rng.choice((10, 200, 1500))})}}"
        + rng.choice(("", "\nvalue = list(value)", "\nvalue = set(value)"))
    )


def _strange_text(rng: Rng) -> str:
    text = rng.choice(
        (
            r"'\ud800'", r"'\udfff\ud800'", r"'\0'", r"'a\0b'", r"'\ufeff'", r"'\u2028\x85'",
            r"'\x1b[0m'", r"'\U0010ffff'", r"'\\ud800'", "'\"}\\n{'",
        )
    )  # fmt: skip
    return f"value = {text} * {rng.choice((1, 1, 5, 3000))}" + rng.choice(
        ("", "\nvalue = [value]", "\nvalue = {value: value}")
    )


def _large_value(rng: Rng) -> str:
    return "value = " + rng.choice(
        (
            "'x' * 60000", "'x' * 70000", "'x' * 2000000", "[0] * 100000", "list(range(20000))",
            "[[]] * 50000", "['\\\\'] * 9000", "b'x' * 100000", "{n: n for n in range(20000)}",
            "[1e-300] * 8000", "'\\0' * 40000",
        )
    )  # fmt: skip


def _shared_parts(rng: Rng) -> str:
    return f"value = [0]\nfor _ in range({rng.choice((8, 12, 15, 17))}):\n    value = {rng.choice(('[value, value]', '(value, value)', '[value] * 2'))}"


def _strange_kind(rng: Rng) -> str:
    return "value = " + rng.choice(
        (
            "lambda: 0", "(n for n in 'ab')", "type", "__import__('os')", "object()", "Ellipsis",
            "NotImplemented", "ValueError('infra')", "MemoryError()", "SystemExit(125)",
            "memoryview(b'x')", "bytearray(b'x')", "range(10 ** 30)", "set('ab')",
            "frozenset([()])", "iter([])", "print", "globals()", "__builtins__",
            "open('/dev/null')", "slice(1, 2)", "__import__('re').compile('x')",
            "__import__('sys')._getframe()", "__import__('collections').OrderedDict(a=1)",
            "__import__('collections').deque([1])", "__import__('array').array('i', [1])", "super",
            "property()", "[].append", "__import__('threading').Lock()",
        )
    )  # fmt: skip


def _hostile_kind(rng: Rng) -> str:
    base = rng.choice(
        ("object", "int", "str", "list", "dict", "float", "tuple", "bytes", "set", "Exception")
    )
    act = rng.choice(
        (
            "raise SystemExit(125)", "raise MemoryError", "raise RecursionError",
            "raise KeyboardInterrupt", "return self", "return NotImplemented",
            "__import__('os')._exit(125)", "raise BrokenPipeError(32, 'x')", "return '\\ud800'",
            "return -1", "raise OSError(28, 'x')",
        )
    )  # fmt: skip
    names = rng.sample(
        (
            "__repr__", "__str__", "__eq__", "__hash__", "__len__", "__iter__", "__reduce_ex__",
            "__getattribute__", "__bool__", "__index__", "__del__", "__sizeof__", "__format__",
            "__getitem__", "items", "keys", "encode", "__class_getitem__",
        ),
        rng.randrange(1, 5),
    )  # fmt: skip
    lines = [f"class Odd({base}):"]
    for name in names:
        lines += [f"    def {name}(self, *a):", f"        {act}"]
    value = rng.choice(("Odd()", "[Odd()]", "{'a': Odd()}", "Odd", "(1, Odd())"))
    return "\n".join([*lines, f"value = {value}"])


def _hostile_meta(rng: Rng) -> str:
    act = rng.choice(("raise SystemExit(125)", "return True", "raise MemoryError", "return 'int'"))
    name = rng.choice(
        ("__instancecheck__", "__getattribute__", "__repr__", "__eq__", "__hash__", "mro")
    )
    text = f"class Meta(type):\n    def {name}(self, *a):\n        {act}"
    if name == "mro":
        text = "class Meta(type):\n    def mro(self):\n        return type.mro(self)"
    return (
        text
        + f"\nvalue = 0\n{_try('class Odd(metaclass=Meta):' + chr(10) + '    pass' + chr(10) + 'value = Odd')}\n"
        + _try("value = Odd()")
    )


def _fake_kind(rng: Rng) -> str:
    kind = rng.choice(
        ("int", "list", "dict", "str", "property(lambda self: __import__('sys').exit(125))")
    )
    return f"class Odd:\n    __class__ = {kind}\n    __slots__ = ()\nvalue = Odd()"


def _changing_value(rng: Rng) -> str:
    act = rng.choice(
        ("value.append(0)", "value.clear()", "value.append([value])", "value.insert(0, '\\ud800')")
    )
    return f"import threading, time\nvalue = [1] * {rng.choice((3, 3000))}\ndef change():\n    for _ in range(2000):\n        {act}\nthreading.Thread(target=change, daemon=True).start()"


def _looks_like_frame(rng: Rng) -> str:
    word = rng.choice(_WORDS)
    return "value = " + rng.choice(
        (
            f"{{'kind': {word!r}}}",
            f"{{'error': {{'type': {word!r}, 'message': 'x'}}}}",
            f"{word!r}",
            f"[{word!r}, None]",
            f"{{'status': {word!r}, 'infra': True}}",
            "{'ok': False, 'retry': True}",
            "{'__class__': 'InfraError'}",
            "{'$ref': '#'}",
            '\'\\n{"status": "error"}\\n\'',
            "{'fault': 1, 'value': 2}",
        )
    )


def _value_of_code(rng: Rng) -> str:
    return "value = " + rng.choice(
        (
            "f",
            "f.__code__",
            "__import__('types').SimpleNamespace(error=1)",
            "__import__('ctypes').c_int(1)",
            "__import__('ctypes').py_object()",
            "__import__('weakref').ref(type)",
            "__import__('contextvars').copy_context()",
            "__import__('enum').Enum('E', 'a').a",
            "__import__('datetime').datetime.max",
            "__import__('uuid').UUID(int=0)",
            "__import__('pathlib').Path('\\ud800')",
        )
    )


def _plain_value(rng: Rng) -> str:
    return "value = " + rng.choice(
        ("42", "None", "'ok'", "[1, 2]", "{'a': 1}", "x", "(1, 2)", "1.5")
    )


VALUES: tuple[Block, ...] = (
    _deep_value,
    _own_value,
    _huge_number,
    _strange_number,
    _huge_keys,
    _strange_keys,
    _colliding,
    _strange_text,
    _large_value,
    _shared_parts,
    _strange_kind,
    _hostile_kind,
    _hostile_meta,
    _fake_kind,
    _changing_value,
    _looks_like_frame,
    _value_of_code,
    _plain_value,
)


def _spoil_text(rng: Rng, text: str) -> str:
    """Return `text` damaged in a way that may keep it from compiling."""
    return rng.choice(
        (
            lambda: (
                f"# coding: {rng.choice(('rot13', 'utf-16', 'nothing', 'latin-1', 'utf-7', 'unicode_escape'))}\n"
                + text
            ),
            lambda: text + "\n\0",
            lambda: "\ufeff" + text,
            lambda: text + "\nx = " + "(" * rng.choice((50, 150, 3000)) + "1",
            lambda: text + "\nx = " + "[" * 90 + "]" * 90,
            lambda: text + "\nx = " + "-" * rng.choice((500, 20000)) + "1",
            lambda: text + "\nx = " + "9" * 5000,
            lambda: text + "\nx = '\\N{nothing}'",
            lambda: text + "\n\tx = 1\n  y = 2",
            lambda: text + "\nraise SyntaxError('worker lost', ('/sandbox/worker.py', 1, 1, 'x'))",
            lambda: text + "\nreturn 125",
            lambda: "from __future__ import nothing\n" + text,
            lambda: text + "\n" + "if 1:\n" + "\n".join(" " * n + "if 1:" for n in range(1, 120)),
            lambda: text.replace("\n", "\r"),
            lambda: text.replace("\n", "\r\n") + "\x0c\x1a",
            lambda: text + "\n" + "x = 1\n" * 3000,
            lambda: text + "\nf(" + ", ".join("a" + str(n) for n in range(2000)) + ")",
            lambda: "\n" * rng.choice((10, 5000)) + text + "\n'''never ends",
        )
    )()


def _parts(rng: Rng, count: int) -> list[str]:
    """Return the blocks of `count` different mechanisms, of which at most one starts processes."""
    chosen = rng.sample(STATEMENTS, count)
    starting = [block for block in chosen if block in (_children, _child_goes_on)]
    return [block(rng) for block in chosen if block not in starting[1:]]


def _script(rng: Rng) -> str:
    parts = _parts(rng, rng.choice((1, 1, 2, 2, 3)))
    if rng.random() < 0.4:
        parts.insert(rng.randrange(len(parts) + 1), "print(42)")
    parts = [_try(part) if rng.random() < 0.2 else part for part in parts]
    return "\n".join(parts)


def _function(rng: Rng) -> str:
    """Return a program whose `f(x)` combines one to three mechanisms, some at import and some in the call."""
    count = rng.choice((1, 1, 2, 2, 3))
    value = rng.choice(VALUES)(rng) if rng.random() < 0.75 else _plain_value(rng)
    parts = _parts(rng, count - 1 if rng.random() < 0.75 else count)
    before = [part for part in parts if rng.random() < 0.35]
    inside = [part for part in parts if part not in before]
    lines = [
        *before,
        "def f(x):",
        *(_indent(part) for part in inside),
        _indent(value),
        "    return value",
    ]
    if rng.random() < 0.08:
        lines.append(
            rng.choice(
                (
                    "f = None",
                    "del f",
                    "f = 42",
                    "f = type",
                    "f = [f]",
                    "async def f(x):\n    return x",
                    "def f():\n    return 1",
                    "def f(x):\n    yield x",
                    "f = lambda *a: __import__('sys').exit(125)",
                    "class f:\n    def __init__(self, x):\n        raise SystemExit(125)",
                )
            )
        )
    return "\n".join(lines)


def programs(seed: int, count: int) -> Iterator[tuple[str, dict[str, str | None]]]:
    """Yield `count` programs with {"call": None} to run one as a script, or {"call": "f"} to call it with an int."""
    for number in range(count):
        rng = random.Random(f"{seed} {number}")
        call = "f" if rng.random() < 0.5 else None
        text = _function(rng) if call else _script(rng)
        if rng.random() < 0.06:
            text = _spoil_text(rng, text)
        yield text + "\n", {"call": call}

"""Entry of the box, started by path in a fresh interpreter: ``launcher.py JOB REPORT CHANNEL`` (fds).

Three processes: the launcher (outside the pid namespace; dies with the host), the warden (pid 1 of
the box; waits, accounts, kills what is left) and the program. The report pipe is the launcher's and
the warden's alone; the program never holds it. This module never sees anything expected of a program.
"""

from __future__ import annotations

# Not ``signal`` itself: its enumerations would cost half of the start-up time.
import _signal as signal  # type: ignore[import-not-found]
import fcntl
import gc
import marshal
import os
import select
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CHANNEL = 3
_TICK = 0.05


def main() -> None:
    """Read the job, build the box, run the program in it; returns in the program's process alone."""
    _find_package()
    # All of it now: behind the walls the package's files are out of sight.
    from prorl_sandbox.box import harness, isolate

    job_fd, report, channel = (int(text) for text in sys.argv[1:4])
    with os.fdopen(job_fd, "rb") as file:
        job = marshal.load(file)
    isolate.try_write("/proc/self/oom_score_adj", "1000")  # a courtesy to the machine, not a wall
    gc.freeze()  # the collector of a forked child then leaves the shared pages alone
    asked, ask = os.pipe()
    answer, answered = os.pipe()
    try:
        isolate.shed_hollow_root(job)
        job["others"] = isolate.count_others(job)
        isolate.separate(job)
        warden = os.fork()
    except OSError as error:
        _fail(report, error)
    if warden:
        os.close(ask)
        os.close(answer)
        _close_program_streams(channel)
        _supervise(warden, report, asked, answered)
    os.close(asked)
    os.close(answered)
    _be_warden(job, report, channel, (ask, answer))
    _be_program(job, report, channel)
    harness.run(job, CHANNEL)


def _find_package() -> None:
    """Make ``prorl_sandbox.box`` importable without running the host's package."""
    package = type(sys)("prorl_sandbox")
    package.__path__ = [os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]
    sys.modules["prorl_sandbox"] = package


def _report(fd: int, **event: Any) -> None:
    from prorl_sandbox.box import wire

    os.write(fd, (wire.to_json(event) + "\n").encode())


def _fail(report: int, error: BaseException) -> Any:
    """Say that the sandbox itself failed, and end this process."""
    _report(report, event="error", message=f"{error}")
    os._exit(1)


def _close_program_streams(channel: int) -> None:
    """Let go of what is the program's, so that the host sees its streams end when it ends."""
    for fd in (0, 1, 2, channel):
        os.close(fd)


def _supervise(warden: int, report: int, asked: int, answered: int) -> None:
    """The launcher's life: write the id maps when asked, then outlive the warden, not the host."""
    from prorl_sandbox.box import isolate

    if os.read(asked, 1):
        try:
            isolate.map_to_nobody(warden)
        except OSError as error:
            os.kill(warden, signal.SIGKILL)
            _fail(report, error)
        os.write(answered, b"k")
    try:
        handle = os.pidfd_open(warden)
    except OSError:  # a kernel before 5.3
        os.waitpid(warden, 0)
        os._exit(0)
    poller = select.poll()
    poller.register(handle, select.POLLIN)
    poller.register(report, 0)  # POLLERR when the host has closed its end, or is gone
    for fd, _ in poller.poll():
        if fd == report:
            os.kill(warden, signal.SIGKILL)
    os.waitpid(warden, 0)
    os._exit(0)


def _be_warden(job: dict[str, Any], report: int, channel: int, maps: tuple[int, int]) -> None:
    """Build the walls and fork the program; returns only in the program."""
    from prorl_sandbox.box import isolate

    ask, answer = maps

    def ask_for_map() -> None:
        os.write(ask, b"m")
        if not os.read(answer, 1):
            raise OSError(1, "the launcher could not write the id maps")

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    try:
        if "mount" in job["walls"]:
            isolate.build_root(job)
        isolate.become_nobody(job, ask_for_map)
        os.close(ask)
        os.close(answer)
        isolate.give_up_rights(job)
        program = os.fork()
    except OSError as error:
        _fail(report, error)
    if program:
        _close_program_streams(channel)
        _watch(program, job, report)


def _watch(program: int, job: dict[str, Any], report: int) -> None:
    """Wait for the program within its processor time, kill the rest, report, end the box."""
    spent, peak, over = 0.0, 0, False
    clock = (~program << 3) | 2  # the kernel's id of another process's processor-time clock
    limit = job["limits"]["cpu_seconds"]
    while True:
        pid, status, usage = os.wait4(-1, os.WNOHANG)
        if pid == 0:
            over = over or spent + _processor_time(clock) > limit
            if over:
                _kill_rest(program)
            signal.sigtimedwait({signal.SIGCHLD}, _TICK)
            continue
        spent += usage.ru_utime + usage.ru_stime
        peak = max(peak, usage.ru_maxrss)
        if pid == program:
            break
    _kill_rest(program)
    for usage in _reap_rest(program):
        spent += usage.ru_utime + usage.ru_stime
        peak = max(peak, usage.ru_maxrss)
    _report(report, event="end", status=status, cpu=spent, peak_kb=peak, over=over)
    os._exit(0)


def _processor_time(clock: int) -> float:
    try:
        return time.clock_gettime(clock)
    except OSError:  # it has just ended; the next wait says so
        return 0.0


def _reap_rest(program: int) -> list[Any]:
    """Wait for all that is left of the box; return what each has used."""
    used = []
    while True:
        try:
            used.append(os.wait4(-1, 0)[2])
        except ChildProcessError:
            return used
        _kill_rest(program)


def _kill_rest(program: int) -> None:
    """Kill every process of the box but the warden."""
    if os.getpid() == 1:  # in a pid namespace of our own: -1 is the box and nothing else
        _kill(os.kill, -1)
        return
    _kill(os.killpg, program)
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
            children = file.read().split()
    except OSError:
        return
    for child in children:
        _kill(os.kill, int(child))


def _kill(call: Any, target: int) -> None:
    try:
        call(target, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


def _keep_only(channel: int, report: int) -> int:
    """Leave the standard streams, the channel as number 3 and the report pipe; return the latter."""
    kept = fcntl.fcntl(report, fcntl.F_DUPFD_CLOEXEC, CHANNEL + 1)
    os.dup2(channel, CHANNEL, inheritable=False)
    os.closerange(CHANNEL + 1, kept)
    os.closerange(kept + 1, max(channel, report, kept) + 64)
    return kept


def _be_program(job: dict[str, Any], report: int, channel: int) -> None:
    """Turn this process into the program's: own session, own folder, limits, no report pipe."""
    from prorl_sandbox.box import isolate, seccomp, syscalls

    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
        os.setsid()
        os.chdir(isolate.SCRATCH if "mount" in job["walls"] else job["scratch"])
        if "pid" not in job["walls"] and "seccomp" in job["walls"]:
            seccomp.install(seccomp.build_signal_filter(syscalls.machine(), os.getpid()))
        report = _keep_only(channel, report)
        isolate.set_limits(job)
        _report(report, event="started")
        os.close(report)
    except (OSError, ValueError) as error:
        _fail(report, error)


if __name__ == "__main__":
    main()

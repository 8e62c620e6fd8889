"""Test which isolation features and languages work on this machine, and open sandboxes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from prorl_common import UserError
from prorl_sandbox.box import cgroup, syscalls
from prorl_sandbox.local.sandbox import LocalSandbox
from prorl_sandbox.run.session import MOST_SESSIONS
from prorl_sandbox.spec import LANGUAGES, LanguageSpec
from prorl_sandbox.types import (
    IsolationError,
    LanguageError,
    Limits,
    Outcome,
    Program,
    Sandbox,
    SandboxError,
    ToolSandbox,
)

WALLS = ("user", "pid", "mount", "net", "ipc", "seccomp")
BACKENDS = "local, docker or docker:RUNTIME"
"""Valid backend names, for error messages."""
_FLOOR = ("user", "pid", "mount", "net", "seccomp")
_TRIAL = Limits(wall_seconds=30.0, cpu_seconds=20.0)
_STRONG: dict[int, Capabilities] = {}
"""Results of :func:`probe` with strong isolation, by user id."""

# Each line of the trial program prints the name of an isolation feature that is in effect. The program uses posix and
# ctypes, which are already loaded, because a box without its own root may be unable to import.
_TRIAL_PROGRAM = """
import ctypes, posix, resource
libc = ctypes.CDLL(None)
if posix.stat("/dev/null").st_uid != 0: print("user")  # root itself is not on the map
if posix.getpid() == 1: print("pid")
if "proc" not in posix.listdir("/"): print("mount")
if libc.unshare(0) == -1: print("seccomp")
if libc.prctl(39, 0, 0, 0, 0) == 1: print("no_new_privs")
if resource.getrlimit(resource.RLIMIT_DATA)[0] == {data}: print("rlimits")
"""
_SEEN_FROM_INSIDE = ("user", "pid", "mount", "seccomp")


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The isolation features that work on this machine. ``reasons`` says why others do not."""

    user: bool
    pid: bool
    mount: bool
    net: bool
    ipc: bool
    seccomp: bool
    no_new_privs: bool
    rlimits: bool
    landlock_abi: int
    cgroup_v1: bool
    cgroup_v2: bool
    root: bool
    reasons: Mapping[str, str] = field(default_factory=dict)

    @property
    def walls(self) -> tuple[str, ...]:
        """Names of the working isolation features, including Landlock and control groups."""
        extra = {"landlock": self.landlock_abi > 0, "cgroup": self.cgroup_v1 or self.cgroup_v2}
        held = [name for name in WALLS if getattr(self, name)]
        return (*held, *(name for name, holds in extra.items() if holds))

    @property
    def strong(self) -> bool:
        """Whether user, pid, mount, network and seccomp isolation work."""
        return all(getattr(self, name) for name in _FLOOR)

    @property
    def isolation(self) -> str:
        """Isolation level as recorded in every Outcome, such as ``namespaces+seccomp+landlock+cgroup``.

        It begins with ``weak:`` unless :attr:`strong`.
        """
        landlock = ["landlock"] if self.landlock_abi else []
        sums = "cgroup" if self.cgroup_v1 or self.cgroup_v2 else "rlimits"
        if self.strong:
            return "+".join(["namespaces", "seccomp", *landlock, sums])
        return "weak:" + "+".join([name for name in WALLS if getattr(self, name)] + [sums])

    def complaint(self) -> str:
        """Return a one-line error message with the missing features, the reason and the fix."""
        missing = [name for name in _FLOOR if not getattr(self, name)]
        why = self.reasons.get(missing[0], "") if missing else ""
        return (
            f"this machine cannot isolate untrusted code: no {', '.join(missing)} separation ({why}); "
            "allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1 "
            "kernel.apparmor_restrict_unprivileged_userns=0; in docker: --security-opt "
            "seccomp=unconfined) or run as root, or score on another machine (run prorl verify serve "
            "there; use --reward-server http://HOST:8421 or prorl train --set reward.servers=[...] here), "
            "or accept the risk with --allow-weak (prorl train: --set reward.allow_weak=true)"
        )


def probe() -> Capabilities:
    """Test all isolation features in child processes."""
    held, reasons = _try(WALLS)
    if not set(WALLS) <= held:
        # Test one at a time; for an ordinary user the other namespaces need the user namespace.
        held, reasons = _try(())
        base = () if os.geteuid() == 0 else ("user",)
        for wall in WALLS:
            now, why = _try((wall,) if wall in ("user", "seccomp") else (*base, wall))
            if wall in now:
                held.add(wall)
            else:
                reasons[wall] = why.get(wall, "does not hold")
    flags = {name: name in held for name in (*WALLS, "no_new_privs", "rlimits")}
    version, reason = _try_cgroup() if held >= set(_FLOOR) else (0, "needs the other walls first")
    for number in (1, 2):
        if version != number:
            reasons[f"cgroup_v{number}"] = reason or f"version {version} is used"
    landlock = syscalls.landlock_abi()
    if landlock and "mount" in held:
        _, why = _try((*(wall for wall in WALLS if wall in held), "landlock"))
        if "landlock" in why:
            landlock, reasons["landlock_abi"] = 0, why["landlock"]
    elif not landlock:
        reasons["landlock_abi"] = "the kernel does not offer Landlock"
    return Capabilities(
        **flags,
        landlock_abi=landlock,
        cgroup_v1=version == 1,
        cgroup_v2=version == 2,
        root=os.geteuid() == 0,
        reasons=reasons,
    )


def _try_cgroup() -> tuple[int, str]:
    sandbox = LocalSandbox((*WALLS, "cgroup"), "trial")
    try:
        sandbox.run(Program("pass"), _TRIAL)
        version = sandbox.cgroup_version()
    except SandboxError as error:
        return 0, str(error)
    finally:
        sandbox.close()
    if version:
        return version, ""
    lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    return 0, cgroup.find(lines)[2]


def _try(walls: tuple[str, ...]) -> tuple[set[str], dict[str, str]]:
    data = _TRIAL.memory_mb * 1024 * 1024
    source = _TRIAL_PROGRAM.format(data=data)
    sandbox = LocalSandbox(walls, "trial")
    try:
        outcome = sandbox.run(Program(source), _TRIAL)
    except SandboxError as error:
        return set(), dict.fromkeys(walls, str(error))
    finally:
        sandbox.close()
    if outcome.status != "ok":
        lines = outcome.stderr.strip().splitlines()
        reason = f"the trial program ended with {outcome.status}: {lines[-1] if lines else ''}"
        return set(), dict.fromkeys(walls, reason)
    printed = set(outcome.stdout.split())
    failures = {w: "set up, but without effect" for w in walls if w in _SEEN_FROM_INSIDE}
    reasons = {wall: text for wall, text in failures.items() if wall not in printed}
    quiet = {wall for wall in walls if wall not in _SEEN_FROM_INSIDE}
    facts = printed & {"no_new_privs", "rlimits"}
    return (printed & set(walls)) | quiet | facts, reasons


def no_isolation() -> str | None:
    """Return why programs cannot be isolated on this machine, and the fix; None if they can be.

    If PRORL_BACKEND names another backend than ``local``, the errors of ``open_sandbox`` are raised.
    """
    if default_backend() == "local":
        capabilities = _probe_until_strong()
        return None if capabilities.strong else capabilities.complaint()
    open_sandbox().close()
    return None


def _probe_until_strong() -> Capabilities:
    """Return the result of :func:`probe`, which is cached if the isolation is strong."""
    user = os.geteuid()
    found = _STRONG.get(user) or probe()
    if found.strong:
        _STRONG[user] = found
    return found


def default_backend() -> str:
    """Return the value of PRORL_BACKEND, or ``local`` if it is not set."""
    return os.environ.get("PRORL_BACKEND", "").strip() or "local"


def check_backend(backend: str) -> None:
    """Raise UserError if ``backend`` is not a valid name."""
    if backend.partition(":")[0] == "remote":
        raise UserError(
            "the sandbox backend remote:URL was removed: run 'prorl verify serve' on the other machine, and use "
            "--reward-server URL here (prorl train: reward.servers)"
        )
    if backend != "local" and backend.partition(":")[0] != "docker":
        raise UserError(f"unknown sandbox backend {backend!r}: use {BACKENDS}")


def open_sandbox(
    backend: str | None = None,
    *,
    allow_weak: bool = False,
    slots: int | None = None,
    sessions: int = MOST_SESSIONS,
) -> ToolSandbox:
    """Open a sandbox that runs up to ``slots`` programs and ``sessions`` sessions at once.

    ``backend`` is ``local``, ``docker`` or ``docker:RUNTIME``, such as ``docker:runsc`` for gVisor. The default is the
    variable PRORL_BACKEND, else ``local``. Raises IsolationError if the isolation is weak and ``allow_weak`` is false,
    UserError if the backend is unknown or unavailable.
    """
    backend = backend or default_backend()
    check_backend(backend)
    name, _, runtime = backend.partition(":")
    if name == "docker":
        from prorl_sandbox.docker_backend.sandbox import open_docker

        return open_docker(runtime=runtime or None, containers=slots, sessions=sessions)
    capabilities = _probe_until_strong()
    if not capabilities.strong and not allow_weak:
        raise IsolationError(capabilities.complaint())
    return LocalSandbox(capabilities.walls, capabilities.isolation, slots=slots, sessions=sessions)


_ANSWER = 42


@dataclass(frozen=True, slots=True)
class TriedLanguage:
    """Whether programs of a language run, and whether their functions can be called. If not, ``note`` has the fix."""

    name: str
    runs: bool
    calls: bool
    note: str = ""


def try_languages(sandbox: Sandbox) -> Iterator[TriedLanguage]:
    """Run the test programs of each registered language. Raises SandboxError if the sandbox itself fails."""
    for spec in LANGUAGES.all():
        yield _try_language(sandbox, spec)


def _try_language(sandbox: Sandbox, spec: LanguageSpec) -> TriedLanguage:
    trial = spec.trial
    if trial is None:
        return TriedLanguage(spec.name, False, False, "its plug-in has no trial program")
    packages = " ".join(spec.packages)
    cure = f"apt-get install {packages}" if packages else "install its tools"
    try:
        outcome = sandbox.run(Program(trial.source, language=spec.name))
    except LanguageError:
        return TriedLanguage(spec.name, False, False, f"not installed: {cure}")
    if outcome.status != "ok" or outcome.stdout.strip() != str(_ANSWER):
        note = f"its trial program ended as {_ending(outcome)}: {cure}"
        return TriedLanguage(spec.name, False, False, note)
    if not trial.call:
        return TriedLanguage(spec.name, True, False)
    program = Program(trial.call, call="add", args=(_ANSWER - 2, 2), language=spec.name)
    outcome = sandbox.run(program)
    if outcome.status != "ok" or outcome.value != _ANSWER:
        return TriedLanguage(spec.name, True, False, f"its trial call ended as {_ending(outcome)}")
    return TriedLanguage(spec.name, True, True)


def _ending(outcome: Outcome) -> str:
    lines = (outcome.stderr or outcome.stdout).strip().splitlines()
    return outcome.status + (f" ({lines[0][:200]})" if lines else "")

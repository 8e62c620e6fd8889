"""Decoy secrets, sockets and files on the host that show whether an attack reached them."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import socket
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PLACES = "/ /tmp /var/tmp /etc /usr/bin /usr/lib /lib /dev /dev/shm /run /root /home /mnt /opt /old /scratch"
SECRET_NAME = "PRORL_ATTACK_SECRET"


class Bait:
    """Decoys (a secret, sockets, a process) that attacks must not reach. Only :meth:`words` is thread-safe."""

    def __init__(self, folder: Path) -> None:
        self.token = "pa" + secrets.token_hex(3)
        self._secret = secrets.token_hex(12)
        self._folder = folder
        (folder / "gold.json").write_text(self._secret)
        self._before = self._listing()
        self._listeners = [socket.create_server(("0.0.0.0", 0))]
        self._port = self._listeners[0].getsockname()[1]
        for name in (f"\0{self.token}-socket", str(folder / "socket")):
            listener = socket.socket(socket.AF_UNIX)
            listener.bind(name)
            listener.listen()
            self._listeners.append(listener)
        for listener in self._listeners:
            listener.setblocking(False)
        self._victim = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", "import sys; sys.stdin.read()", self._secret],
            stdin=subprocess.PIPE,
            start_new_session=True,  # only this process handles Ctrl-C
        )

    def tag(self, number: int) -> str:
        """Return the name of attack ``number``, at most 15 bytes to fit a process name."""
        return f"{self.token}{number:03d}"

    def words(self, number: int) -> dict[str, str]:
        """Return the text for each placeholder in the program of attack ``number``."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:  # find this machine's network address
                probe.connect(("192.0.2.1", 9))
                host = str(probe.getsockname()[0])
            except OSError:
                host = "127.0.0.1"
        return {
            "TAG": self.tag(number),
            "TERCES": self._secret[::-1],
            "SOCKET": f"{self.token}-socket",
            "BAIT": str(self._folder),
            "PORT": str(self._port),
            "HOST": host,
            "CWD": os.getcwd(),
            "HOME": str(Path.home()),
            "USERS": hashlib.sha256(_read_bytes("/etc/passwd")).hexdigest(),
        }

    @contextmanager
    def in_environment(self) -> Iterator[None]:
        """Set the decoy secret as an environment variable inside the ``with`` block."""
        os.environ[SECRET_NAME] = self._secret
        try:
            yield
        finally:
            del os.environ[SECRET_NAME]

    def markers(self) -> list[str]:
        places = [*_PLACES.split(), os.getcwd(), str(Path.home()), str(self._folder)]
        places += [sysconfig.get_path("stdlib"), sysconfig.get_path("purelib")]
        paths = []
        for place in dict.fromkeys(places):
            try:
                names = os.listdir(place)
            except OSError:
                continue  # no such folder, or not readable
            paths += [os.path.join(place, name) for name in names if self.token in name]
        return [path for path in paths if path != str(self._folder)]

    def touched(self) -> list[str]:
        changes = []
        for listener, name in zip(self._listeners, ("port", "abstract", "path"), strict=True):
            try:
                connection, _ = listener.accept()
            except BlockingIOError:
                continue
            connection.close()
            changes.append(f"somebody connected to the host's {name} socket")
        if self._victim.poll() is not None:
            changes.append("a process of the host was killed")
        if self._before != {k: v for k, v in self._listing().items() if k != "socket"}:
            changes.append("a file of the host was changed")
        return changes

    def _listing(self) -> dict[str, str]:
        return {
            path.name: path.read_text() if path.is_file() else "" for path in self._folder.iterdir()
        }

    def close(self) -> None:
        for listener in self._listeners:
            listener.close()
        self._victim.kill()
        self._victim.communicate()


@contextmanager
def lay_bait() -> Iterator[Bait]:
    folder = Path(tempfile.mkdtemp(prefix="prorl-bait-"))
    try:
        bait = Bait(folder)
        try:
            with bait.in_environment():
                yield bait
        finally:
            bait.close()
    finally:
        shutil.rmtree(folder)


def processes_named(token: str) -> set[str]:
    names = set()
    for pid in os.listdir("/proc"):
        if pid.isdigit():
            for text in (_read_bytes(f"/proc/{pid}/comm"), _read_bytes(f"/proc/{pid}/cmdline")):
                decoded = text.decode("utf-8", "replace")
                if token in decoded:
                    names.add(decoded)
    return names


def descendants(root: int) -> set[int]:
    children: dict[int, list[int]] = {}
    for pid in os.listdir("/proc"):
        stat = _read_bytes(f"/proc/{pid}/stat") if pid.isdigit() else b""
        if stat:
            parent = int(stat.rpartition(b")")[2].split()[1])
            children.setdefault(parent, []).append(int(pid))
    pids: set[int] = set()
    waiting = [root]
    while waiting:
        below = children.get(waiting.pop(), [])
        pids.update(below)
        waiting += below
    return pids


def resident_kib() -> int:
    pages = int(_read_bytes("/proc/self/statm").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def _read_bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""  # the process has ended, or is not readable

"""An in-memory file system with copies of the interpreter and libraries that programs can read."""

from __future__ import annotations

import fcntl
import marshal
import os
import stat

from prorl_sandbox.box import syscalls, wire
from prorl_sandbox.box.namespaces import isolate
from prorl_sandbox.box.namespaces.isolate import DEVICES, PROGRAM_FOLDER, SCRATCH, STDIN_FILE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    Listing = dict[str, Any]
    Settings = dict[str, Any]

_PLACES = ("/sys/kernel", "/mnt", "/tmp", "/run")
"""Mount points to try for the image; the first that exists is used."""
_FLAGS = syscalls.MS_NOSUID | syscalls.MS_NODEV
_PAGE = 4096
_TEXTS = (".py", ".pyc")
"""Suffixes of the files in which ``hidden`` paths are replaced."""
_SPARE = 1024
"""Number of extra memory pages and inodes for folders and the index."""


class Image:
    """The in-memory file system at ``place`` with the root folders of sandboxed programs."""

    def __init__(self) -> None:
        self.place = next(path for path in _PLACES if os.path.isdir(path))

    def mount(self) -> None:
        syscalls.mount("tmpfs", self.place, "tmpfs", _FLAGS, "size=1m,nr_inodes=8,mode=755")
        with open(self._index, "wb") as file:
            file.write(marshal.dumps({}, 2))
        os.mkdir(self.start)

    @property
    def start(self) -> str:
        return f"{self.place}/start"

    @property
    def _index(self) -> str:
        return f"{self.place}/index"

    def root(self, name: str) -> str:
        return f"{self.place}/{name}"

    def lay(self, name: str, listing: Listing) -> None:
        """Create the root folder ``name`` with the listed files, unless it exists.

        ``listing`` has ``files`` (source, target), ``links`` (path, target) and ``hidden`` (path, replacement): host
        paths to replace in the text of files.
        """
        root = self.root(name)
        with open(self._index, "rb+") as index:
            fcntl.flock(index, fcntl.LOCK_EX)
            if os.path.isdir(root):
                return
            copies = marshal.loads(index.read())
            self.fill(root, listing, copies)
            for device in DEVICES:
                target = f"{root}/dev/{device}"
                try:
                    os.mknod(target, stat.S_IFCHR, os.stat(f"/dev/{device}").st_rdev)
                except PermissionError:  # not permitted: make a mount point for the host's device
                    os.close(os.open(target, os.O_CREAT | os.O_WRONLY))
                os.chmod(target, 0o666)
            # Many JavaScript programs read standard input by this name.
            os.symlink(STDIN_FILE, f"{root}/dev/stdin")
            index.seek(0)
            index.write(marshal.dumps(copies, 2))
            index.flush()
            # Leave no free space: boxes must neither see its size nor use it.
            self._resize(0, 0)

    def fill(self, root: str, listing: Listing, copies: dict[tuple[int, int], str]) -> None:
        """Copy the listed files and links below ``root``. ``copies`` maps (device, inode) to existing copies."""
        files, links = listing["files"], listing["links"]
        sizes = {origin: os.stat(origin).st_size for origin, _ in files}
        paths = [target for _, target in files] + [path for path, _ in links]
        folders = set(map(os.path.dirname, paths))
        self._resize(
            sum(-(-size // _PAGE) + 1 for size in sizes.values()) + len(links) + _SPARE,
            len(paths) + sum(folder.count("/") for folder in folders) + _SPARE,
        )
        for folder in ("/dev", SCRATCH, PROGRAM_FOLDER, *sorted(folders)):
            os.makedirs(root + folder, exist_ok=True)
        for origin, target in files:
            self._copy(origin, root + target, copies, listing["hidden"])
        for path, target in links:
            if not os.path.lexists(root + path):
                os.symlink(target, root + path)

    @staticmethod
    def _copy(
        origin: str,
        target: str,
        copies: dict[tuple[int, int], str],
        hidden: tuple[tuple[str, str], ...],
    ) -> None:
        source = os.open(origin, os.O_RDONLY | os.O_CLOEXEC)
        copy = -1
        try:
            facts = os.fstat(source)
            number = (facts.st_dev, facts.st_ino)
            if number in copies:
                os.link(copies[number], target)
                return
            mode = 0o755 if facts.st_mode & 0o111 else 0o644
            copy = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
            for path, replacement in hidden:
                if origin.startswith(f"{path}/") and origin.endswith(_TEXTS):
                    with open(source, "rb", buffering=0, closefd=False) as file:
                        text = file.readall().replace(os.fsencode(path), os.fsencode(replacement))
                    wire.write_all(copy, text)
                    break
            else:
                left = facts.st_size
                while left > 0 and (count := os.sendfile(copy, source, None, left)):
                    left -= count
            os.utime(copy, ns=(facts.st_mtime_ns, facts.st_mtime_ns))
            copies[number] = target
        except FileExistsError:  # the listing has it under two names
            return
        finally:
            os.close(source)
            if copy >= 0:
                os.close(copy)

    def _resize(self, pages: int, inodes: int) -> None:
        now = os.statvfs(self.place)
        size = (now.f_blocks - now.f_bfree) * now.f_frsize + pages * _PAGE
        count = now.f_files - now.f_ffree + inodes
        data = f"size={size},nr_inodes={count}"
        syscalls.mount(None, self.place, None, syscalls.MS_REMOUNT | _FLAGS, data)


_CODE, _PYTHON = "/code", "python"


def read_note(fd: int) -> Any:
    with open(fd, "rb") as file:
        file.seek(0)
        return marshal.loads(file.read())


def settle_rights(settings: Settings) -> None:
    """Set ``settings["by_right"]``: whether root can create namespaces without a user namespace."""
    walls = settings["walls"]
    isolate.shed_hollow_root(walls)
    privileged = isolate.is_privileged() or "user" not in walls
    settings["by_right"] = os.geteuid() == 0 and privileged


def move_in(control: int, settings: Settings, listing: dict[str, Any]) -> NoReturn:
    """Restart the template process in a new in-memory file system, or in that of an earlier template process.

    Raises OSError.
    """
    first = settings["first"]
    if first:
        kinds = ("mnt",) if settings["by_right"] else ("user", "mnt")
        spaces = [os.open(f"/proc/{first}/ns/{kind}", os.O_RDONLY) for kind in kinds]
        for space in spaces:
            syscalls.setns(space, 0)
    elif not settings["by_right"]:
        uid, gid = os.geteuid(), os.getegid()
        syscalls.unshare(syscalls.CLONE_NEWUSER)
        isolate.write_id_maps("self", f"0 {uid} 1", f"0 {gid} 1")
    syscalls.unshare(syscalls.CLONE_NEWNS)
    # Receive unmounts from outside, but propagate nothing from here.
    syscalls.mount(None, "/", None, syscalls.MS_REC | syscalls.MS_SLAVE)
    os.umask(0o022)
    image = Image()
    if not first:
        image.mount()
        box_folder = os.path.abspath(f"{__file__}/../..")
        files = [
            (
                os.path.join(folder, name),
                f"{_CODE}/prorl_sandbox/box{folder[len(box_folder) :]}/{name}",
            )
            for folder, _, names in os.walk(box_folder)
            for name in names
            if name.endswith((".py", ".pyc"))  # skips files that are just being written
        ]
        files.append((settings["interpreter"], f"/{_PYTHON}"))
        image.fill(image.start, listing | {"files": files, "links": ()}, {})
    root = image.root(settings["root"])
    image.lay(settings["root"], listing)
    syscalls.mount(image.start + _CODE, root + PROGRAM_FOLDER, None, syscalls.MS_BIND)
    python = os.open(f"{image.start}/{_PYTHON}", os.O_RDONLY | os.O_CLOEXEC)
    note = os.memfd_create("settings", 0)
    # The new program, and so every box, must not learn this path.
    del settings["interpreter"]
    os.write(note, marshal.dumps(settings, 2))
    top = os.open("/", os.O_PATH | os.O_DIRECTORY)
    for fd in (note, top, control):
        os.set_inheritable(fd, True)
    os.chroot(root)
    os.chdir("/")
    script = f"{PROGRAM_FOLDER}/prorl_sandbox/box/namespaces/template.py"
    numbers = [str(fd) for fd in (control, note, top)]
    words = [settings["executable"], *settings["flags"], script, *numbers]
    os.execve(python, words, dict(os.environ))


def move_out(settings: Settings, top: int) -> Image:
    """Return from the in-memory file system to the machine's root ``top``, and hide prorl's code from programs."""
    os.fchdir(top)
    os.chroot(".")
    os.close(top)
    image = Image()
    syscalls.unmount(image.root(settings["root"]) + PROGRAM_FOLDER)
    return image

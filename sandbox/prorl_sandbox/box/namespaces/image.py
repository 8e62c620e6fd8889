"""A sandbox's own copy of the files that its boxes see, in memory, and how the template gets into it.

One tmpfs in a mount namespace of the template's: no other sandbox and nothing else on the machine
shares an inode of it, so neither page cache nor locks nor futexes, and it is gone when the last
process of the sandbox is, however that ends. Each folder of it is the root of some boxes; roots
share the files that they have in common.

The template is started from this machine's own files, and whatever it forks would map them. So it
copies them, and itself, and executes the copy with the copy as its root. With all that it needs
loaded it goes back to the machine's root, which it makes boxes from; they never see it.
"""

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
"""Folders without any file for a box; the first that is there is covered by the image."""
_FLAGS = syscalls.MS_NOSUID | syscalls.MS_NODEV
_PAGE = 4096
_TEXTS = (".py", ".pyc")
"""Not machine code: there the end of a path may be a word of its own as well."""
_SPARE = 1024
"""Pages and inodes for what is not counted: folders and the index."""


class Image:
    """The tmpfs at ``place``, which several templates of one sandbox may fill."""

    def __init__(self) -> None:
        self.place = next(path for path in _PLACES if os.path.isdir(path))

    def mount(self) -> None:
        """Mount it, empty but for the folder ``start``, which is no root of a box."""
        syscalls.mount("tmpfs", self.place, "tmpfs", _FLAGS, "size=1m,nr_inodes=8,mode=755")
        with open(self._index, "wb") as file:
            file.write(marshal.dumps({}, 2))
        os.mkdir(self.start)

    @property
    def start(self) -> str:
        """The folder of what a template starts from and no box sees."""
        return f"{self.place}/start"

    @property
    def _index(self) -> str:
        return f"{self.place}/index"

    def root(self, name: str) -> str:
        """Return the path of a root."""
        return f"{self.place}/{name}"

    def lay(self, name: str, listing: Listing) -> None:
        """Make a root, unless it is there, of ``files`` (origin, target) and ``links`` (path, target).

        ``hidden`` has paths of this machine and, for each, what takes its place in the modules from
        below it, always as many bytes: where things are kept here is nobody's business.
        """
        root = self.root(name)
        with open(self._index, "rb+") as index:
            fcntl.flock(index, fcntl.LOCK_EX)
            if os.path.isdir(root):
                return
            known = marshal.loads(index.read())
            self.fill(root, listing, known)
            for device in DEVICES:
                _make_device(f"/dev/{device}", f"{root}/dev/{device}")
            # Many a JavaScript program reads it by this name.
            os.symlink(STDIN_FILE, f"{root}/dev/stdin")
            index.seek(0)
            index.write(marshal.dumps(known, 2))
            index.flush()
            # No room is left: how much there is, is not for boxes to know, nor to take.
            self._resize(0, 0)

    def fill(self, root: str, listing: Listing, known: dict[tuple[int, int], str]) -> None:
        """Put files and links below ``root``. ``known``: by device and inode number of an original,
        its copy."""
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
            self._copy(origin, root + target, known, listing["hidden"])
        for path, target in links:
            if not os.path.lexists(root + path):
                os.symlink(target, root + path)

    @staticmethod
    def _copy(
        origin: str,
        target: str,
        known: dict[tuple[int, int], str],
        hidden: tuple[tuple[str, str], ...],
    ) -> None:
        """Copy a file, with its date, for compiled modules are compared with their source's."""
        source = os.open(origin, os.O_RDONLY | os.O_CLOEXEC)
        copy = -1
        try:
            facts = os.fstat(source)
            number = (facts.st_dev, facts.st_ino)
            if number in known:
                os.link(known[number], target)
                return
            mode = 0o755 if facts.st_mode & 0o111 else 0o644
            copy = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
            for path, shown in hidden:
                if origin.startswith(f"{path}/") and origin.endswith(_TEXTS):
                    with open(source, "rb", buffering=0, closefd=False) as file:
                        text = file.readall().replace(os.fsencode(path), os.fsencode(shown))
                    wire.write_all(copy, text)
                    break
            else:
                left = facts.st_size
                while left > 0 and (count := os.sendfile(copy, source, None, left)):
                    left -= count
            os.utime(copy, ns=(facts.st_mtime_ns, facts.st_mtime_ns))
            known[number] = target
        except FileExistsError:  # it is under two names in the listing
            return
        finally:
            os.close(source)
            if copy >= 0:
                os.close(copy)

    def _resize(self, pages: int, inodes: int) -> None:
        """Make room for so much more than is in use."""
        now = os.statvfs(self.place)
        size = (now.f_blocks - now.f_bfree) * now.f_frsize + pages * _PAGE
        count = now.f_files - now.f_ffree + inodes
        data = f"size={size},nr_inodes={count}"
        syscalls.mount(None, self.place, None, syscalls.MS_REMOUNT | _FLAGS, data)


def _make_device(origin: str, target: str) -> None:
    """Make a device's node; where that is not allowed, a place for the machine's own."""
    try:
        os.mknod(target, stat.S_IFCHR, os.stat(origin).st_rdev)
    except PermissionError:
        os.close(os.open(target, os.O_CREAT | os.O_WRONLY))
    os.chmod(target, 0o666)


_CODE, _PYTHON = "/code", "python"


def read_note(fd: int) -> Any:
    """Return what somebody has put into a file without a name, and close it."""
    with open(fd, "rb") as file:
        file.seek(0)
        return marshal.loads(file.read())


def settle_rights(settings: Settings) -> None:
    """Find out whether root's own rights do, or a user namespace is to give them."""
    walls = settings["walls"]
    isolate.shed_hollow_root(walls)
    privileged = isolate.is_privileged() or "user" not in walls
    settings["by_right"] = os.geteuid() == 0 and privileged


def move_in(control: int, settings: Settings, listing: dict[str, Any]) -> NoReturn:
    """Make the image, or join the one of the sandbox's first template, with a root of what is listed;
    execute the template there. Raises OSError."""
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
    # What is unmounted outside is to go here as well; nothing from here is to get out.
    syscalls.mount(None, "/", None, syscalls.MS_REC | syscalls.MS_SLAVE)
    os.umask(0o022)
    image = Image()
    if not first:
        image.mount()
        own = os.path.abspath(f"{__file__}/../..")
        files = [
            (os.path.join(folder, name), f"{_CODE}/prorl_sandbox/box{folder[len(own) :]}/{name}")
            for folder, _, names in os.walk(own)
            for name in names
            if name.endswith((".py", ".pyc"))  # not what is just being written
        ]
        files.append((settings["interpreter"], f"/{_PYTHON}"))
        image.fill(image.start, listing | {"files": files, "links": ()}, {})
    root = image.root(settings["root"])
    image.lay(settings["root"], listing)
    syscalls.mount(image.start + _CODE, root + PROGRAM_FOLDER, None, syscalls.MS_BIND)
    python = os.open(f"{image.start}/{_PYTHON}", os.O_RDONLY | os.O_CLOEXEC)
    note = os.memfd_create("settings", 0)
    # What is executed below, and with it each box, does not learn of it.
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
    """In the image, with everything loaded: go back to the machine's root, and take our own code away
    from the box's."""
    os.fchdir(top)
    os.chroot(".")
    os.close(top)
    image = Image()
    syscalls.unmount(image.root(settings["root"]) + PROGRAM_FOLDER)
    return image

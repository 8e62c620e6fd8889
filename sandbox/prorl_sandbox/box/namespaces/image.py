"""A sandbox's own copy of the files that its boxes see, in memory.

One tmpfs in a mount namespace of the template's: no other sandbox and nothing else on the machine
shares an inode of it, so neither page cache nor locks nor futexes, and it is gone when the last
process of the sandbox is, however that ends. Each folder of it is the root of some boxes; roots
share the files that they have in common. Each step raises OSError.
"""

from __future__ import annotations

import os

from prorl_sandbox.box import syscalls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Listing = dict[str, Any]

SCRATCH, PROGRAM_FOLDER = "/scratch", "/box"
"""Where each box mounts its own."""
STDIN_FILE = "/box/stdin"
DEVICES = ("null", "zero", "urandom", "random", "full")
_PLACES = ("/sys/kernel", "/mnt", "/tmp", "/run")
"""Folders without any file for a box; the first that is there is covered by the image."""
_FLAGS = syscalls.MS_NOSUID | syscalls.MS_NODEV
_PAGE = 4096
_CHUNK = 1 << 20


class Image:
    """The tmpfs at ``place``. ``files``: by device and inode number of an original, its copy."""

    def __init__(self, place: str = "", files: dict[tuple[int, int], str] | None = None) -> None:
        """Mount it, empty, or take over one that is there."""
        self.files = files or {}
        self.place = place
        if not place:
            self.place = next(path for path in _PLACES if os.path.isdir(path))
            syscalls.mount("tmpfs", self.place, "tmpfs", _FLAGS, "size=4k,nr_inodes=2,mode=755")

    def root(self, name: str) -> str:
        """Return the path of a root."""
        return f"{self.place}/{name}"

    def lay(self, name: str, listing: Listing) -> None:
        """Make a root of ``files`` (origin, target) and ``links`` (path, target).

        ``hidden`` is a path that is replaced by ``shown`` in the files that come from below it,
        always as many bytes: where this machine keeps its interpreter is nobody's business.
        """
        files, links = listing["files"], listing["links"]
        sizes = {origin: os.stat(origin).st_size for origin, _ in files}
        paths = [target for _, target in files] + [path for path, _ in links]
        folders = set(map(os.path.dirname, paths))
        self._resize(
            sum(-(-size // _PAGE) + 1 for size in sizes.values()) + len(links),
            len(files) + len(links) + sum(folder.count("/") for folder in folders) + 16,
        )
        root = self.root(name)
        for folder in ("/dev", SCRATCH, PROGRAM_FOLDER, *sorted(folders)):
            os.makedirs(root + folder, exist_ok=True)
        hidden, shown = (listing[key].encode() for key in ("hidden", "shown"))
        for origin, target in files:
            self._copy(origin, root + target, hidden, shown)
        for path, target in links:
            if not os.path.lexists(root + path):
                os.symlink(target, root + path)
        for device in DEVICES:
            os.close(os.open(f"{root}/dev/{device}", os.O_CREAT | os.O_WRONLY, 0o644))
        os.symlink(
            STDIN_FILE, f"{root}/dev/stdin"
        )  # many a JavaScript program reads it by this name
        self.shrink()

    def _copy(self, origin: str, target: str, hidden: bytes, shown: bytes) -> None:
        """Copy a file, with its date, for compiled modules are compared with their source's."""
        with open(origin, "rb", buffering=0) as source:
            known = os.fstat(source.fileno())
            number = (known.st_dev, known.st_ino)
            if os.path.lexists(target):
                return
            if number in self.files:
                os.link(self.files[number], target)
                return
            with open(target, "xb", buffering=0) as copy:
                if hidden and os.fsencode(origin).startswith(hidden + b"/"):
                    copy.write(source.readall().replace(hidden, shown))
                else:
                    while os.sendfile(copy.fileno(), source.fileno(), None, _CHUNK):
                        continue
                os.fchmod(copy.fileno(), 0o755 if known.st_mode & 0o111 else 0o644)
                os.utime(copy.fileno(), ns=(known.st_mtime_ns, known.st_mtime_ns))
        self.files[number] = target

    def shrink(self) -> None:
        """Leave no room: how much there is, is not for boxes to know, nor to take."""
        self._resize(0, 0)

    def _resize(self, pages: int, inodes: int) -> None:
        """Make room for so much more than is in use."""
        now = os.statvfs(self.place)
        size = (now.f_blocks - now.f_bfree) * now.f_frsize + pages * _PAGE
        count = now.f_files - now.f_ffree + inodes
        data = f"size={max(size, _PAGE)},nr_inodes={max(count, 1)}"
        syscalls.mount(None, self.place, None, syscalls.MS_REMOUNT | _FLAGS, data)

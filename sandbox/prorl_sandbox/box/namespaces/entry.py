"""How the template gets into the image: it lays the first root and starts again in there.

Started by path it runs from this machine's own files, and whatever it forks would map them. So it
copies them, and itself, and executes the copy with the copy as its root. With all that it needs
loaded it goes back to the machine's root, which it makes boxes from; they never see it.
"""

from __future__ import annotations

import marshal
import os

from prorl_sandbox.box import syscalls
from prorl_sandbox.box.namespaces import isolate
from prorl_sandbox.box.namespaces.image import PROGRAM_FOLDER, Image

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

    Settings = dict[str, Any]


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

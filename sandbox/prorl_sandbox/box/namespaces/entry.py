"""How the template gets into the image: it lays the first root and starts again in there.

Started by path it runs from this machine's own files, and whatever it forks would map them. So it
copies them, and itself, and executes the copy with the copy as its root. Then it goes back to the
machine's root, which it needs to make boxes; they never see it.
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
    """Make the image with its first root and execute the template in it. Raises OSError."""
    if not settings["by_right"]:
        uid, gid = os.geteuid(), os.getegid()
        syscalls.unshare(syscalls.CLONE_NEWUSER)
        isolate.write_id_maps("self", f"0 {uid} 1", f"0 {gid} 1")
    syscalls.unshare(syscalls.CLONE_NEWNS)
    # What is unmounted outside is to go here as well; nothing from here is to get out.
    syscalls.mount(None, "/", None, syscalls.MS_REC | syscalls.MS_SLAVE)
    os.umask(0o022)
    image = Image()
    own = os.path.abspath(f"{__file__}/../..")
    root = image.root(settings["root"])
    files = [
        (
            os.path.join(folder, name),
            f"{PROGRAM_FOLDER}/prorl_sandbox/box{folder[len(own) :]}/{name}",
        )
        for folder, _, names in os.walk(own)
        for name in names
    ]
    files.append(settings["interpreter"])
    image.lay(settings["root"], listing | {"files": [*listing["files"], *files]})
    note = os.memfd_create("state", 0)
    os.write(note, marshal.dumps((settings, image.place, image.files), 2))
    top = os.open("/", os.O_PATH | os.O_DIRECTORY)
    for fd in (note, top, control):
        os.set_inheritable(fd, True)
    os.chroot(root)
    os.chdir("/")
    script = f"{PROGRAM_FOLDER}/prorl_sandbox/box/namespaces/template.py"
    python = settings["interpreter"][1]
    numbers = [str(fd) for fd in (control, note, top)]
    os.execve(python, [python, *settings["flags"], script, *numbers], dict(os.environ))


def take_up(note: int, top: int) -> tuple[Settings, Image]:
    """In the image, with everything loaded: go back to the machine's root, and leave neither the
    interpreter nor our code in the image."""
    settings, place, files = read_note(note)
    os.fchdir(top)
    os.chroot(".")
    os.close(top)
    root = f"{place}/{settings['root']}"
    os.unlink(root + settings["interpreter"][1])
    own = root + PROGRAM_FOLDER
    for folder, folders, names in os.walk(own, topdown=False):
        for name in names:
            os.unlink(os.path.join(folder, name))
        for name in folders:
            os.rmdir(os.path.join(folder, name))
    kept = {number: path for number, path in files.items() if os.path.exists(path)}
    image = Image(place, kept)
    image.shrink()
    return settings, image

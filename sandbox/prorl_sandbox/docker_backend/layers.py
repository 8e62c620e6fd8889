"""An image for each environment: the sandbox's image and, on top, the folder of the packages.

What an image holds is written in its labels: which requirements, on which base. One that no longer fits
either is as good as none.
"""

from __future__ import annotations

import contextlib
import io
import json
import tarfile
from typing import Any

from prorl_common import NullProgress, Progress
from prorl_sandbox.docker_backend import image as images
from prorl_sandbox.docker_backend.container import Container, Need
from prorl_sandbox.docker_backend.engine import Engine
from prorl_sandbox.environments import build as building
from prorl_sandbox.environments import store
from prorl_sandbox.environments.requirements import Requirements
from prorl_sandbox.environments.store import STDLIB_ONLY, Environment, EnvironmentMissing, Target

_FOLDER = "/usr/local/lib/prorl"
_REQUIREMENTS_LABEL = "prorl.environment.requirements"
_BASE_LABEL = "prorl.environment.base"
_MODULES_LABEL = "prorl.environment.modules"
_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}


def image_of(base: str, environment: str) -> str:
    """Return the name of the image with an environment's packages."""
    if environment == STDLIB_ONLY.name:
        return base
    return f"{base}-{environment}" if ":" in base else f"{base}:latest-{environment}"


def find(engine: Engine, base: str, name: str) -> Environment:
    """Return an environment that has an image. Raises EnvironmentMissing, UserError, SandboxError."""
    store.check_name(name)
    wanted = store.requirements_of(name)
    return STDLIB_ONLY if wanted is None else _find(engine, base, wanted)


def _find(engine: Engine, base: str, wanted: Requirements) -> Environment:
    from docker.errors import ImageNotFound

    name = wanted.name
    cure = f"run 'prorl sandbox build-env {name} --backend docker'"
    with engine.calls("looking at an image") as api:
        try:
            labels = api.inspect_image(image_of(base, name))["Config"]["Labels"] or {}
            base_id = api.inspect_image(base)["Id"]
        except ImageNotFound as error:
            raise EnvironmentMissing(f"environment {name} has no image: {cure}") from error
    if (labels.get(_REQUIREMENTS_LABEL), labels.get(_BASE_LABEL)) != (wanted.digest, base_id):
        raise EnvironmentMissing(f"environment {name} has an image that is out of date: {cure}")
    modules = tuple(json.loads(labels[_MODULES_LABEL]))
    return Environment(name, f"{_FOLDER}/{name}", wanted.preload, modules)


def build(
    wanted: Requirements, base: str = images.DEFAULT_TAG, progress: Progress | None = None
) -> bool:
    """Build the image of an environment and return whether it was needed.

    The packages are for the Python of the base image, whatever runs here. Raises what
    ``environments.build`` raises, UserError without the base image, ImageError.
    """
    progress = progress or NullProgress()
    engine = Engine.connect()
    try:
        images.check(engine, base)
        with contextlib.suppress(EnvironmentMissing):
            _find(engine, base, wanted)
            return False
        with engine.calls("looking at the image") as api:
            facts = api.inspect_image(base)
        target = Target(_python_of(engine, base), _MACHINES[facts["Architecture"]])
        environment, _ = building.build(wanted, target, progress)
        labels = {
            _REQUIREMENTS_LABEL: wanted.digest,
            _BASE_LABEL: facts["Id"],
            _MODULES_LABEL: json.dumps(environment.modules),
        }
        progress.start(f"image of {wanted.name}", None)
        with _context(base, environment) as file:
            tag = image_of(base, wanted.name)
            images.build_from(engine, file, tag, labels, progress, custom_context=True)
        _try(engine, base, Environment(wanted.name, f"{_FOLDER}/{wanted.name}", wanted.preload))
    finally:
        progress.finish()
        engine.close()
    return True


def _python_of(engine: Engine, base: str) -> str:
    """Return the version of an image's Python, like ``3.11``."""
    container = Container(engine, base, None, Need(64, 64, 1))
    try:
        return ".".join(str(container.hello["python"]).split(".")[:2])
    finally:
        container.discard()


def _try(engine: Engine, base: str, environment: Environment) -> None:
    """See that containers come up with all that is to be loaded. Raises SandboxError."""
    from prorl_sandbox.run.conversation import Packages

    for loaded in (*environment.preload, ()):
        packages = Packages(environment.name, environment.folder, loaded)
        image = image_of(base, environment.name)
        Container(engine, image, None, Need(64, 64, 1, packages)).discard()


def _context(base: str, environment: Environment) -> Any:
    """Return what the engine builds from: a tar file, on disk, with the packages and three lines."""
    import tempfile

    lines = (
        f"FROM {base}\n"
        f"COPY packages {_FOLDER}/{environment.name}\n"
        "RUN python3 -m compileall -q --invalidation-mode unchecked-hash "
        f"{_FOLDER}/{environment.name} || true\n"
    )
    file = tempfile.TemporaryFile()  # noqa: SIM115 - the caller reads it
    with tarfile.open(fileobj=file, mode="w") as archive:
        head = tarfile.TarInfo("Dockerfile")
        head.size = len(lines)
        archive.addfile(head, io.BytesIO(lines.encode()))
        archive.add(environment.folder, "packages", filter=_as_root)
    file.seek(0)
    return file


def _as_root(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = "root"
    member.mode |= 0o200  # the engine writes into it
    return member

"""Build Docker images: a base image with the languages' tools, and one image per environment of packages."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shutil
import stat
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prorl_common import NullProgress, Progress, ServiceError, UserError
from prorl_sandbox.docker_backend.container import Container, Need, missing_image
from prorl_sandbox.docker_backend.engine import Engine
from prorl_sandbox.environments import build as building
from prorl_sandbox.environments import store
from prorl_sandbox.environments.store import (
    STDLIB_ONLY,
    Environment,
    EnvironmentMissing,
    Requirements,
    Target,
)
from prorl_sandbox.run.plan import Packages
from prorl_sandbox.spec import LANGUAGES

DEFAULT_TAG = "prorl-sandbox:latest"
METHODS = ("auto", "dockerfile", "debootstrap")
DOCKERFILE = Path(__file__).with_name("Dockerfile")
_LANGUAGES_LABEL = "prorl.languages"
_UNNEEDED = (
    "var/cache/apt",
    "var/lib/apt/lists",
    "var/log",
    "usr/share/doc",
    "usr/share/info",
    "usr/share/locale",
    "usr/share/man",
)
_EMPTIED = ("dev", "proc", "sys", "run", "tmp")
_LAST_LINES = 5
_PART = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_TAG = re.compile(
    rf"(?:[A-Za-z0-9.-]+(?::\d+)?/)?{_PART}(?:/{_PART})*(?::\w[\w.-]{{0,127}})?", re.ASCII
)
"""An image name with an optional tag, but without a digest (https://github.com/distribution/reference)."""


class ImageError(ServiceError):
    """Raised if the engine, debootstrap or the network fails during a build."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """Options of an image build. ``suite`` and ``mirror`` are Debian's (default: those of this machine)."""

    tag: str = DEFAULT_TAG
    languages: tuple[str, ...] = ("python", "cpp", "javascript")
    method: str = "auto"
    suite: str | None = None
    mirror: str | None = None

    def __post_init__(self) -> None:
        if "python" not in self.languages:
            raise UserError(
                "the languages of an image must include python, which the sandbox itself needs"
            )
        for name in self.languages:
            if not LANGUAGES.get(name).packages:
                raise UserError(
                    f"language {name} does not name its Debian packages: build an image with its tools yourself"
                )
        if _TAG.fullmatch(self.tag) is None:
            raise UserError(
                f"{self.tag!r} is not an image name: use lower-case letters, digits, '.', '_', '-' and '/', "
                "and optionally ':VERSION' at the end, as in prorl-sandbox:latest"
            )
        if self.method not in METHODS:
            raise UserError(f"unknown method {self.method!r}: use one of {', '.join(METHODS)}")

    @property
    def packages(self) -> list[str]:
        names = sorted(self.languages, key=lambda name: name != "python")
        return [package for name in names for package in LANGUAGES.get(name).packages]


def check(engine: Engine, image: str) -> None:
    """Raise UserError unless the image exists and is usable."""
    from docker.errors import ImageNotFound

    with engine.calls("looking at the image") as api:
        try:
            details = api.inspect_image(image)
        except ImageNotFound as error:
            raise missing_image(image) from error
    volumes = (details.get("Config") or {}).get("Volumes")
    if volumes:  # a volume would be a writable disk folder shared by all runs
        raise UserError(
            f"image {image} declares volumes ({', '.join(volumes)}): use an image without volumes"
        )


def build(recipe: Recipe, progress: Progress | None = None) -> str:
    """Build the image and return the method used. Raises UserError, ImageError."""
    progress = progress or NullProgress()
    engine = Engine.connect()
    try:
        if recipe.method != "debootstrap":
            try:
                progress.start("docker build", None)
                build_from(
                    engine,
                    io.BytesIO(DOCKERFILE.read_bytes()),
                    recipe.tag,
                    {_LANGUAGES_LABEL: ",".join(recipe.languages)},
                    progress,
                    buildargs={"PACKAGES": " ".join(recipe.packages[1:])},
                )
            except ImageError as error:
                if recipe.method == "dockerfile":
                    raise
                progress.message(f"{error}; continuing with debootstrap")
            else:
                return "dockerfile"
        _build_debootstrap(engine, recipe, progress)
        return "debootstrap"
    finally:
        progress.finish()
        engine.close()


def build_from(
    engine: Engine,
    file: Any,
    tag: str,
    labels: dict[str, str],
    progress: Progress,
    **more: Any,
) -> None:
    """Build from the Dockerfile ``file``, or from a tar file if ``custom_context`` is set. Raises ImageError."""
    from docker.errors import DockerException
    from requests.exceptions import RequestException

    try:
        lines = engine.api.build(fileobj=file, tag=tag, labels=labels, rm=True, decode=True, **more)
        for line in lines:
            if "error" in line:
                raise ImageError(f"docker build failed: {_one_line(line['error'])}")
            progress.advance(
                step=_one_line(str(line.get("stream") or line.get("status") or ""))[:60]
            )
    except (DockerException, RequestException) as error:
        raise ImageError(f"docker build failed: {_one_line(str(error))}") from error


def _build_debootstrap(engine: Engine, recipe: Recipe, progress: Progress) -> None:
    if shutil.which("debootstrap") is None:
        raise UserError("debootstrap is not installed: run 'apt-get install debootstrap'")
    if os.geteuid() != 0:
        raise UserError("debootstrap needs root: run 'prorl sandbox build-image' as root")
    with tempfile.TemporaryDirectory(prefix="prorl-image-") as folder:
        root = Path(folder) / "root"
        progress.start("debootstrap", None)
        last: list[str] = []
        with subprocess.Popen(
            debootstrap_command(recipe, root),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                last = [*last, line.strip()][-_LAST_LINES:]
                progress.advance(step=line.strip()[:60])
        if process.returncode:
            raise ImageError(f"debootstrap failed: {_one_line(' | '.join(last))}")
        progress.start("import", None)
        trim(root)
        repository, _, tag = recipe.tag.partition(":")
        label = f"LABEL {_LANGUAGES_LABEL}={','.join(recipe.languages)}"
        command = ["tar", "--create", "--numeric-owner", f"--directory={root}", "."]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as archive:
            assert archive.stdout is not None
            with engine.calls("importing the image") as api:
                response: Any = api.import_image_from_stream(
                    archive.stdout,
                    repository=repository,
                    tag=tag or "latest",
                    changes=[label, "ENV PATH=/usr/bin:/bin"],
                )
        if archive.returncode or '"error"' in str(response):
            raise ImageError(f"the engine rejected the image: {_one_line(str(response))}")


def debootstrap_command(recipe: Recipe, root: Path) -> list[str]:
    """Return the command that installs a Debian system in the folder ``root``."""
    release = {}
    with contextlib.suppress(OSError):
        text = Path("/etc/os-release").read_text(encoding="utf-8")
        pairs = (line.partition("=") for line in text.splitlines() if "=" in line)
        release = {name: value.strip('"') for name, _, value in pairs}
    suite = recipe.suite or release.get("VERSION_CODENAME", "stable")
    command = ["unshare", "--mount"] if shutil.which("unshare") else []
    command += ["debootstrap", "--variant=minbase", f"--include={','.join(recipe.packages)}"]
    if release.get("ID") == "ubuntu":
        command.append("--components=main,universe")
    mirror = recipe.mirror
    if not mirror and shutil.which("apt-get") is not None:  # use this machine's own mirror
        options = ["--format", "$(CODENAME) $(REPO_URI)", "Created-By: Packages"]
        listing = subprocess.run(
            ["apt-get", "indextargets", *options], capture_output=True, text=True, check=False
        )
        targets = (line.partition(" ") for line in listing.stdout.splitlines())
        mirror = next((uri for name, _, uri in targets if name == suite and uri), None)
    return [*command, suite, str(root), *([mirror] if mirror else [])]


def trim(root: Path) -> None:
    """Delete files that the image does not need, and clear the set-user-ID and set-group-ID bits of programs."""
    for name in (*_UNNEEDED, *_EMPTIED):
        folder = root / name
        if folder.is_dir() and not folder.is_symlink():
            shutil.rmtree(folder)
            folder.mkdir()
    special = stat.S_ISUID | stat.S_ISGID
    for folder_name, _, files in os.walk(root):
        for name in files:
            path = os.path.join(folder_name, name)
            mode = os.lstat(path).st_mode
            if stat.S_ISREG(mode) and mode & special:
                os.chmod(path, stat.S_IMODE(mode) & ~special)


def _one_line(text: str) -> str:
    return " ".join(text.split())[:300]


_FOLDER = "/usr/local/lib/prorl"
_REQUIREMENTS_LABEL = "prorl.environment.requirements"
_BASE_LABEL = "prorl.environment.base"
_MODULES_LABEL = "prorl.environment.modules"
_MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}


def image_of(base: str, environment: str) -> str:
    if environment == STDLIB_ONLY.name:
        return base
    return f"{base}-{environment}" if ":" in base else f"{base}:latest-{environment}"


def find_environment(engine: Engine, base: str, name: str) -> Environment:
    """Return the environment ``name``. Raises EnvironmentMissing if it has no image, UserError, SandboxError."""
    store.check_name(name)
    requirements = store.requirements_of(name)
    return STDLIB_ONLY if requirements is None else _find(engine, base, requirements)


def _find(engine: Engine, base: str, requirements: Requirements) -> Environment:
    from docker.errors import ImageNotFound

    name = requirements.name
    cure = f"run 'prorl sandbox build-env {name} --backend docker'"
    with engine.calls("looking at an image") as api:
        try:
            labels = api.inspect_image(image_of(base, name))["Config"]["Labels"] or {}
            base_id = api.inspect_image(base)["Id"]
        except ImageNotFound as error:
            raise EnvironmentMissing(f"environment {name} has no image: {cure}") from error
    if (labels.get(_REQUIREMENTS_LABEL), labels.get(_BASE_LABEL)) != (requirements.digest, base_id):
        raise EnvironmentMissing(f"environment {name} has an image that is out of date: {cure}")
    modules = tuple(json.loads(labels[_MODULES_LABEL]))
    return Environment(name, f"{_FOLDER}/{name}", requirements.preload, modules)


def build_environment(
    requirements: Requirements, base: str = DEFAULT_TAG, progress: Progress | None = None
) -> bool:
    """Build the image of an environment on top of the image ``base``; return False if it was up to date.

    Raises the errors of ``environments.build``, UserError if ``base`` is missing, or ImageError.
    """
    progress = progress or NullProgress()
    engine = Engine.connect()
    try:
        check(engine, base)
        with contextlib.suppress(EnvironmentMissing):
            _find(engine, base, requirements)
            return False
        with engine.calls("looking at the image") as api:
            facts = api.inspect_image(base)
        container = Container(engine, base, None, Need(64, 64, 1))
        container.discard()
        python = ".".join(str(container.hello["python"]).split(".")[:2])
        target = Target(python, _MACHINES[facts["Architecture"]])
        environment, _ = building.build(requirements, target, progress)
        labels = {
            _REQUIREMENTS_LABEL: requirements.digest,
            _BASE_LABEL: facts["Id"],
            _MODULES_LABEL: json.dumps(environment.modules),
        }
        progress.start(f"image of {requirements.name}", None)
        tag, folder = image_of(base, requirements.name), f"{_FOLDER}/{requirements.name}"
        with _context(base, environment) as file:
            build_from(engine, file, tag, labels, progress, custom_context=True)
        for loaded in (*requirements.preload, ()):  # try each set of modules
            packages = Packages(requirements.name, folder, loaded)
            Container(engine, tag, None, Need(64, 64, 1, packages)).discard()
    finally:
        progress.finish()
        engine.close()
    return True


def _context(base: str, environment: Environment) -> Any:
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
    member.mode |= 0o200  # the engine writes into folders
    return member

"""``prorl sandbox build-image|build-env``: build docker's image, or an environment of packages."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from prorl_cli.console import make_progress, print_json, print_table, say
from prorl_cli.options import Json
from prorl_common import ServiceError, UserError


def build_image_command(
    method: Annotated[
        str,
        typer.Option(
            help="How to build: auto, dockerfile (pulls a base image) or debootstrap (needs root, but no registry)."
        ),
    ] = "auto",
    languages: Annotated[
        str, typer.Option(help="Languages of programs, separated by commas; python is required.")
    ] = "python,cpp,javascript",
    tag: Annotated[str, typer.Option(help="Name of the image.")] = "prorl-sandbox:latest",
    mirror: Annotated[
        str | None,
        typer.Option(
            help="Package mirror for debootstrap (default: the one that this machine uses)."
        ),
    ] = None,
    suite: Annotated[
        str | None,
        typer.Option(help="Distribution release for debootstrap (default: that of this machine)."),
    ] = None,
) -> None:
    """Build and test the image of the docker sandbox.

    Example: prorl sandbox build-image
    """
    from prorl_sandbox import Program
    from prorl_sandbox.docker_backend.images import Recipe, build
    from prorl_sandbox.docker_backend.sandbox import open_docker

    names = tuple(name.strip() for name in languages.split(",") if name.strip())
    way = build(Recipe(tag, names, method, suite, mirror), make_progress())
    sandbox = open_docker(tag)
    try:
        outcome = sandbox.run(Program("print(6 * 7)"))
    finally:
        sandbox.close()
    if outcome.status != "ok" or outcome.stdout != "42\n":
        raise ServiceError(f"image {tag} was built, but a trial program ended as {outcome.status}")
    say(f"built {tag} ({way}; {', '.join(names)}) and tested it: {outcome.isolation}")


def build_env_command(
    name: Annotated[
        str,
        typer.Argument(help="Environment: scientific, an existing one, or the name of a new one."),
    ] = "scientific",
    requirements: Annotated[
        Path | None,
        typer.Option(
            help="Requirements file of a new environment, in pip's format; only wheels are installed."
        ),
    ] = None,
    backend: Annotated[
        str,
        typer.Option(help="Sandbox that uses the environment: local, or docker (builds an image)."),
    ] = "local",
    image: Annotated[
        str, typer.Option(help="For docker: the sandbox image to extend.")
    ] = "prorl-sandbox:latest",
    show: Annotated[bool, typer.Option("--list", help="List the environments and exit.")] = False,
    as_json: Json = False,
) -> None:
    """Build an environment of packages that programs may import.

    Example: prorl sandbox build-env scientific

    Existing environments are not rebuilt. A line "# preload: numpy pandas" in the requirements file names modules that
    are imported once, before any program starts.
    """
    from prorl_sandbox.environments import build, store
    from prorl_sandbox.environments.store import read

    if show:
        entries = store.entries()
        if as_json:
            print_json([asdict(entry) for entry in entries])
            return
        rows = []
        for entry in entries:
            versions = ", ".join(f"{name} {version}" for name, version in entry.packages.items())
            rows.append((entry.name, entry.state, str(entry.megabytes or "-"), versions))
        print_table("environments of the local sandbox", ("name", "state", "MB", "packages"), rows)
        return
    packages = store.requirements_of(name) if requirements is None else read(name, requirements)
    if packages is None:
        raise UserError(f"unknown environment {name!r}: give its packages with --requirements FILE")
    match backend:
        case "local":
            environment, is_new = build.build(packages, progress=make_progress())
            place = environment.folder
        case "docker":
            from prorl_sandbox.docker_backend import images

            is_new = images.build_environment(packages, image, make_progress())
            place = images.image_of(image, name)
        case _:
            raise UserError(f"--backend must be local or docker, not {backend!r}")
    if as_json:
        print_json({"name": name, "backend": backend, "built": is_new, "where": place})
    else:
        say(f"built environment {name}: {place}" if is_new else f"{name} is built already: {place}")

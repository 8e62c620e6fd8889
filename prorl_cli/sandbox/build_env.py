"""``prorl sandbox build-env``: build an environment of packages that programs may import."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from prorl_cli.console import make_progress, print_json, print_table, say
from prorl_cli.options import Json
from prorl_common import UserError


def build_env_command(
    name: Annotated[
        str, typer.Argument(help="scientific, one built before, or a new one's name.")
    ] = "scientific",
    requirements: Annotated[
        Path | None,
        typer.Option(help="A new one's requirements file, as pip reads it; wheels only."),
    ] = None,
    backend: Annotated[
        str, typer.Option(help="Where it is to be used: local or docker (then an image).")
    ] = "local",
    image: Annotated[
        str, typer.Option(help="With docker: the sandbox's image that it is put on.")
    ] = "prorl-sandbox:latest",
    show: Annotated[bool, typer.Option("--list", help="Only list the environments.")] = False,
    as_json: Json = False,
) -> None:
    """Build an environment of packages that programs may import.

    Example: prorl sandbox build-env scientific

    Default: the environment named scientific.

    Existing environments are not rebuilt. Lines "# preload: numpy pandas" in the file name modules that are loaded
    before a box is made.
    """
    from prorl_sandbox.environments import build, store
    from prorl_sandbox.environments.store import read

    if show:
        _list(as_json)
        return
    packages = store.requirements_of(name) if requirements is None else read(name, requirements)
    if packages is None:
        raise UserError(
            f"environment {name!r} is unknown here: give its packages with --requirements FILE"
        )
    match backend:
        case "local":
            environment, made = build.build(packages, progress=make_progress())
            where = environment.folder
        case "docker":
            from prorl_sandbox.docker_backend import images

            made = images.build_environment(packages, image, make_progress())
            where = images.image_of(image, name)
        case _:
            raise UserError(f"an environment is built for local or docker, not {backend!r}")
    if as_json:
        print_json({"name": name, "backend": backend, "built": made, "where": where})
    else:
        say(f"built environment {name}: {where}" if made else f"{name} is built already: {where}")


def _list(as_json: bool) -> None:
    from prorl_sandbox.environments import store

    entries = store.entries()
    if as_json:
        print_json([asdict(entry) for entry in entries])
        return
    rows = []
    for entry in entries:
        packages = ", ".join(f"{name} {version}" for name, version in entry.packages.items())
        rows.append((entry.name, entry.state, str(entry.megabytes or "-"), packages))
    print_table("environments of the local sandbox", ("name", "state", "MB", "packages"), rows)

"""``prorl sandbox build-image``: build the image of the docker backend."""

from __future__ import annotations

from typing import Annotated

import typer

from prorl_cli.console import make_progress, say
from prorl_common import ServiceError


def build_image_command(
    method: Annotated[
        str,
        typer.Option(
            help="auto, dockerfile (pulls a base image) or debootstrap (needs root, no registry)."
        ),
    ] = "auto",
    languages: Annotated[
        str, typer.Option(help="What programs may be written in, with commas; python is a must.")
    ] = "python,cpp,javascript",
    tag: Annotated[str, typer.Option(help="The image's name.")] = "prorl-sandbox:latest",
    mirror: Annotated[
        str | None,
        typer.Option(help="Package mirror for debootstrap. Default: this machine's own."),
    ] = None,
    suite: Annotated[
        str | None,
        typer.Option(help="Release for debootstrap. Default: this machine's own."),
    ] = None,
) -> None:
    """Build the docker sandbox's image and try it.

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
    say(f"built {tag} ({way}; {', '.join(names)}) and ran a program in it: {outcome.isolation}")

"""The docker backend: warm containers in which an init forks one program after another."""

from prorl_sandbox.docker_backend.sandbox import DockerSandbox, open_docker

__all__ = ["DockerSandbox", "open_docker"]

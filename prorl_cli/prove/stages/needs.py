"""What a stage may lack: a GPU, a package, isolation for code; each answer names the cure. Imports nothing heavy."""

from __future__ import annotations

from prorl_cli.doctor import is_installed
from prorl_cli.prove.stage import Place
from prorl_common import pip_install


def gpu_and_vllm(place: Place) -> str:
    """Return whether a GPU or vLLM is missing."""
    if not place.on_gpu:
        return "needs a GPU"
    return "" if is_installed("vllm") else f"needs the package: {pip_install('prorl[vllm]')}"


def isolation(place: Place) -> str:
    """Return why programs cannot be run behind walls here."""
    from prorl_verifiers import no_isolation

    del place
    why = no_isolation()
    return f"needs a sandbox for code: {why}" if why else ""

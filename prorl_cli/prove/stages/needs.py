"""What a stage may lack: a GPU, a package, isolation for code; each answer names the cure. Imports nothing heavy."""

from __future__ import annotations

from collections.abc import Callable

from prorl_cli.doctor import is_installed
from prorl_cli.prove.stage import Place
from prorl_common import pip_install


def gpu_and(modules: tuple[str, ...], extra: str) -> Callable[[Place], str]:
    """Return a check for a GPU and then for ``modules``, which the extra of prorl brings."""

    def missing(place: Place) -> str:
        if not place.on_gpu:
            return "needs a GPU"
        lacking = [module for module in modules if not is_installed(module)]
        if lacking:
            return f"needs the package: {pip_install(f'prorl[{extra}]')} ({', '.join(lacking)})"
        return ""

    return missing


def isolation(place: Place) -> str:
    """Return why programs cannot be run behind walls here."""
    from prorl_verifiers import no_isolation

    del place
    why = no_isolation()
    return f"needs a sandbox for code: {why}" if why else ""

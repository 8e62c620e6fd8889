"""Install the patches that ``PRORL_OPENRLHF_CPU`` enables, then run another ``sitecustomize`` on the path, if any.

Add no other files to this folder, because they would become importable.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys


def run_hidden() -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    elsewhere = [place for place in sys.path if os.path.abspath(place or ".") != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", elsewhere)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


try:
    if os.environ.get("PRORL_OPENRLHF_CPU") in ("1", "sdpa"):
        from prorl_training.engine.openrlhf.cpu.hook import install

        install()
finally:
    run_hidden()

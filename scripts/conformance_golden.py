"""Rebuild tests/conformance/golden: the numbers of the installed OpenRLHF, verl and TRL.

    python scripts/conformance_golden.py                 # every package, each in its own environment
    python scripts/conformance_golden.py --package trl   # one package, in the environment that runs this

The environments are those of ``bash scripts/trainers.sh`` (.venv-trainers/NAME), or another interpreter given by
``--python NAME=PATH``. Each file has the package, its version, the function, the batches and, for each set of options,
the function's result and its gradient from autograd. tests/conformance compares them with prorl.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = ROOT / "tests" / "conformance" / "golden"
PACKAGES = ("openrlhf", "verl", "trl")


def main() -> int:
    """Write one package's golden files, or run this script once per package."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--package", choices=PACKAGES)
    parser.add_argument("--python", action="append", default=[], metavar="NAME=PATH")
    arguments = parser.parse_args()
    if arguments.package:
        write(arguments.package)
        return 0
    given = dict(entry.split("=", 1) for entry in arguments.python)
    for package in PACKAGES:
        python = given.get(package, str(ROOT / ".venv-trainers" / package / "bin" / "python"))
        if not Path(python).exists():
            print(
                f"no interpreter {python}: run scripts/trainers.sh or pass --python",
                file=sys.stderr,
            )
            return 2
        subprocess.run([python, __file__, "--package", package], check=True)
    return 0


def write(package: str) -> None:
    """Compute the families of ``package`` and write a JSON file for each."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    GOLDEN.mkdir(parents=True, exist_ok=True)
    families = importlib.import_module(f"conformance_{package}").families()
    for name, family in families.items():
        path = GOLDEN / f"{package}_{name}.json"
        head = {"package": package, "version": importlib.metadata.version(package)}
        path.write_text(_text(head | {"torch": torch.__version__.split("+")[0]} | family))
        print(
            f"{path.relative_to(ROOT)}: {len(family['cases'])} cases, {path.stat().st_size} bytes"
        )


def _text(value: dict[str, Any]) -> str:
    """Return JSON with one batch or case per line."""
    lines = []
    for key, entry in value.items():
        if isinstance(entry, list):
            items = ",\n".join(json.dumps(item, separators=(",", ":")) for item in entry)
            lines.append(f"{json.dumps(key)}: [\n{items}\n]")
        else:
            lines.append(f"{json.dumps(key)}: {json.dumps(entry)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    sys.exit(main())

"""Write the requirements of the sandbox's ``scientific`` environment, with pinned versions and wheel hashes.

    python scripts/environment_requirements.py

Names and lines that begin with ``#`` come from the file itself, versions from ``constraints.txt``, and hashes from the
package index. Pip resolves once per supported Python and machine, and installs nothing.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "sandbox/prorl_sandbox/environments/scientific.txt"
PYTHONS = ("3.11", "3.12", "3.13")
MACHINES = ("x86_64", "aarch64")
NAMES = ("networkx", "numpy", "pandas", "pytest", "scipy", "sortedcontainers", "sympy")


def resolve(python: str, machine: str) -> dict[tuple[str, str], str]:
    """Return (name, version) -> SHA-256 of the wheel that pip chooses for this Python and machine."""
    from prorl_sandbox.environments.build import platform_flags

    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run"]
        command += ["--ignore-installed", "--disable-pip-version-check", "--report", str(report)]
        command += ["--target", folder, *platform_flags(python, machine)]
        command += ["--constraint", str(ROOT / "constraints.txt"), *NAMES]
        subprocess.run(command, check=True)
        found = json.loads(report.read_text(encoding="utf-8"))["install"]
    return {
        (one["metadata"]["name"], one["metadata"]["version"]): one["download_info"]["archive_info"][
            "hashes"
        ]["sha256"]
        for one in found
    }


def main() -> None:
    """Resolve for every Python and machine, and rewrite the file."""
    hashes: dict[tuple[str, str], set[str]] = {}
    for python in PYTHONS:
        for machine in MACHINES:
            for package, digest in resolve(python, machine).items():
                hashes.setdefault(package, set()).add(digest)
    lines = [line for line in FILE.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    for (name, version), digests in sorted(hashes.items(), key=lambda item: item[0][0].lower()):
        parts = [f"{name}=={version}", *(f"--hash=sha256:{one}" for one in sorted(digests))]
        lines.append(" \\\n    ".join(parts))
    FILE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

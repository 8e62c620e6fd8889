"""The Python that has TRL: the one named, else ``.venv-trainers/trl``, made where it is missing.

The same folder, layout and pins as ``scripts/trainers.sh`` uses for the integration tests: an environment laid
over the running one, so that both contenders have the same torch and Transformers. Leaves out: other trainers.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REQUIREMENT = "trl==1.16.0"


def trl_python(named: str | None) -> str:
    """Return the path of a Python that can import TRL."""
    if named is not None:
        if not Path(named).is_file():
            raise SystemExit(f"--trl-python {named}: no such file")
        return named
    folder = ROOT / ".venv-trainers" / "trl"
    python = folder / "bin" / "python"
    done = folder / ".done"
    if not done.is_file() or done.read_text("utf-8").strip() != REQUIREMENT:
        _make(folder, python)
        done.write_text(
            f"{REQUIREMENT} \n", "utf-8"
        )  # as the script writes it, so that both share it
    return str(python)


def _make(folder: Path, python: Path) -> None:
    print(f"installing {REQUIREMENT} in {folder}", file=sys.stderr)
    venv.create(folder, clear=True, with_pip=True)
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    found = subprocess.run([str(python), "-c", where], capture_output=True, text=True, check=True)
    base = sysconfig.get_path("purelib")
    line = f"import site; site.addsitedir({base!r})\n"
    (Path(found.stdout.strip()) / "base.pth").write_text(line, "utf-8")
    pins = ["--constraint", str(ROOT / "constraints.txt")]
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", REQUIREMENT, *pins], check=True)

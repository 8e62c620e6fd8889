#!/usr/bin/env bash
# Makes a folder that installs prorl on a machine without a network: the wheels in parts of at most N MB, their
# checksums and install.sh. Run it where an index is reachable:
#
#     bash scripts/bundle.sh [--out bundle] [--python 3.11] [--machine x86_64] [--present FILE] [--part-mb 60] [REQUIREMENT]
#
# --python, --machine  the target's Python, and what `uname -m` prints there (Linux with glibc), if they differ from here
# --present            what the target has already, and is therefore left out: its `pip list --format=freeze`, or only
#                      lines such as torch==2.11.0
# REQUIREMENT          .[local] by default; a path is built. Versions are those of CONSTRAINTS (constraints.txt).
# Copy the folder, then run `bash install.sh [PYTHON]` there.
set -euo pipefail

ROOT="$(cd "$(dirname "$0")/.." && pwd)"
PIP=("${PYTHON:-python3}" -m pip --disable-pip-version-check)
python="$("${PYTHON:-python3}" -c 'import platform; print(".".join(platform.python_version_tuple()[:2]))')"
out=bundle machine="$(uname -m)" present=/dev/null part_mb=60 requirement="$ROOT[local]"
fail() { echo "bundle: $*" >&2; exit 2; }
while [ $# -gt 0 ]; do
    case "$1" in
    --*) [ $# -ge 2 ] || fail "$1 needs a value" ;;&
    --out) out="$2"; shift ;;
    --python) python="$2"; shift ;;
    --machine) machine="$2"; shift ;;
    --present) present="$2"; shift ;;
    --part-mb) part_mb="$2"; shift ;;
    -*) fail "unknown option $1 (see the head of $0)" ;;
    *) requirement="$1" ;;
    esac
    shift
done
[ -r "$present" ] || fail "cannot read $present: write what the target's \`pip list --format=freeze\` prints into it"
[ -z "$(ls -A "$out" 2>/dev/null)" ] || fail "$out is not empty: remove it or choose another --out"

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/built" "$work/present" "$work/wheels" "$out"
flags=(--only-binary=:all: --implementation=cp "--python-version=$python" "--platform=manylinux2014_$machine" "--platform=linux_$machine")
for minor in $(seq 39 -1 5); do flags+=("--platform=manylinux_2_${minor}_$machine"); done

# A wheel without content stands for each package that the target has, so that pip adds none of its requirements.
"${PYTHON:-python3}" - "$present" "${CONSTRAINTS:-$ROOT/constraints.txt}" "$work" <<'PY'
import re
import sys
import zipfile
from pathlib import Path

present, constraints, work = map(Path, sys.argv[1:])


def name(line):
    return re.sub(r"[-_.]+", "_", line.split("==")[0].split("[")[0].strip()).lower()


pins = [line.split("#")[0].strip() for line in present.read_text().splitlines() if "==" in line]
for pin in pins:
    version = pin.split("==")[1].split(";")[0].strip()
    stem = f"{name(pin)}-{version}"
    with zipfile.ZipFile(work / f"present/{stem}-py3-none-any.whl", "w") as wheel:
        files = {
            "METADATA": f"Metadata-Version: 2.1\nName: {name(pin)}\nVersion: {version}\n",
            "WHEEL": "Wheel-Version: 1.0\nGenerator: bundle\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            "RECORD": "",
        }
        for file, text in files.items():
            wheel.writestr(f"{stem}.dist-info/{file}", text)
there = {name(pin) for pin in pins}
lines = [line for line in constraints.read_text().splitlines() if name(line) not in there]
(work / "constraints").write_text("\n".join(lines) + "\n")
PY
stubs=("$work"/present/*.whl)
[ -e "${stubs[0]}" ] || stubs=()

folder="${requirement%%\[*}"
if [ -d "$folder" ]; then
    "${PIP[@]}" wheel --quiet --no-deps --wheel-dir "$work/built" "$folder"
    wheel="$(basename "$work"/built/*.whl)"
    requirement="${wheel%%-*}${requirement#"$folder"}"
fi
tried=" "
until "${PIP[@]}" install --dry-run --ignore-installed --target "$work/none" --report "$work/report.json" \
    --constraint "$work/constraints" --find-links "$work/built" "${flags[@]}" "$requirement" "${stubs[@]}" >"$work/log" 2>&1; do
    # Packages without a wheel are built, such as pycosat, which needs a compiler.
    missing="$(sed -nE 's/.*(No matching distribution found for|depends on) ([A-Za-z0-9._-]+).*/\2/p' "$work/log" | tail -1)"
    [[ -n $missing && $tried != *" $missing "* ]] || {
        grep -v ^WARNING "$work/log" | tail -20 >&2
        fail "no wheel of ${missing:-these} fits: run it with the target's Python (PYTHON=python$python) on $machine"
    }
    tried+="$missing "
    "${PIP[@]}" wheel --quiet --no-deps --wheel-dir "$work/built" --constraint "$work/constraints" "$missing"
done
"${PYTHON:-python3}" - "$work" <<'PY' >"$work/pins"
import json
import sys
from pathlib import Path

work = Path(sys.argv[1])
for package in json.loads((work / "report.json").read_text())["install"]:
    if "/present/" not in package["download_info"]["url"]:
        print("{name}=={version}".format(**package["metadata"]))
PY
"${PIP[@]}" download --quiet --no-deps --dest "$work/wheels" --find-links "$work/built" "${flags[@]}" \
    --requirement "$work/pins"

(cd "$work/wheels" && ls) >"$out/wheels.txt"
tar -C "$work/wheels" -cf - . | split --bytes "${part_mb}MB" --numeric-suffixes --suffix-length 3 - "$out/part-"
(cd "$out" && sha256sum part-*) >"$out/SHA256SUMS"
cat >"$out/install.sh" <<END
#!/bin/sh
# Installs $requirement from the parts beside this file into the environment of PYTHON: sh install.sh [PYTHON]
set -eu
python="\$(command -v "\${1:-python3}")"
here="\$(cd "\$(dirname "\$0")" && pwd)"
(cd "\$here" && sha256sum --check --quiet SHA256SUMS) || { echo "install: copy the parts named above again" >&2; exit 2; }
work="\$(mktemp -d)"
trap 'rm -rf "\$work"' EXIT
cat "\$here"/part-* | tar -C "\$work" -xf -
pip() { "\$python" -m pip --disable-pip-version-check "\$@"; }
pip install --no-index --no-deps "\$work"/*.whl
pip check || echo "install: name in --present only what is installed here" >&2
END
echo "bundle: $(wc -l <"$out/wheels.txt") wheels in $(ls "$out"/part-* | wc -l) parts, $(du -sh "$out" | cut -f1), in $out"

#!/usr/bin/env bash
# Tests the trainer adapters with the real TRL, verl and OpenRLHF. Their requirements conflict, so each gets an
# environment in VENVS (.venv-trainers) on top of PYTHON's environment. verl and OpenRLHF are installed without their
# dependencies except those that scoring needs, since the others need a GPU. Arguments name the trainers to test.
set -euo pipefail
cd "$(dirname "$0")/.."

PYTHON="${PYTHON:-.venv/bin/python}"
BASE="$("$PYTHON" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"

requirements() {
    case "$1" in
    trl) echo "trl==1.16.0" ;;
    verl) echo "aiohttp==3.14.5 codetiming==1.4.0 omegaconf==2.4.0 orjson==3.13.0 ray tensordict==0.8.3" ;;
    openrlhf) echo "aiohttp==3.14.5 pylatexenc==2.11 ray" ;;
    esac
}

alone() { # what is installed without its dependencies
    case "$1" in
    verl) echo "verl==0.9.1" ;;
    openrlhf) echo "openrlhf==0.11.2" ;;
    esac
}

[ $# -gt 0 ] || set -- trl verl openrlhf
for name in "$@"; do
    if [ -z "$(requirements "$name")" ]; then
        echo "trainers: no such trainer: $name (trl, verl, openrlhf)" >&2
        exit 2
    fi
    env="${VENVS:-.venv-trainers}/$name"
    wanted="$(requirements "$name") $(alone "$name")"
    if [ "$(cat "$env/.done" 2>/dev/null)" != "$wanted" ]; then
        echo "trainers: installing $name" >&2
        "$PYTHON" -m venv --clear "$env"
        echo "import site; site.addsitedir('$BASE')" \
            >"$("$env/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/base.pth"
        # shellcheck disable=SC2046 # words are wanted
        "$env/bin/python" -m pip install --quiet $(requirements "$name") --constraint "${CONSTRAINTS:-constraints.txt}"
        # shellcheck disable=SC2046
        [ -z "$(alone "$name")" ] || "$env/bin/python" -m pip install --quiet --no-deps $(alone "$name")
        echo "$wanted" >"$env/.done"
    fi
    PRORL_TRAINERS="$name" "$env/bin/python" -m pytest -q tests/integration/test_integration_adapters.py -k "$name"
done

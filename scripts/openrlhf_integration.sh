#!/usr/bin/env bash
# Runs the tests of the OpenRLHF engine with the real OpenRLHF, Ray, vLLM and DeepSpeed on the CPU. PYTHON is the one
# of the environment from `make openrlhf-cpu-venv`. A missing package is a failure here, but a skip elsewhere.
# MARK=slow instead runs the tests that kill each kind of process and resume a stalled run.
set -euo pipefail
cd "$(dirname "$0")/.."

PYTHON="${PYTHON:-.venv-openrlhf/bin/python}"
# Use torch's AdamW, since compiling DeepSpeed's on first use takes longer than a test.
PRORL_OPENRLHF_TORCH_ADAM="${PRORL_OPENRLHF_TORCH_ADAM:-1}" PRORL_OPENRLHF_TESTS=1 "$PYTHON" -m pytest -q -m "${MARK:-not slow}" tests/integration/test_integration_openrlhf_*.py \
    tests/training/test_training_openrlhf_arguments.py tests/plugins/test_plugins_cluster.py "$@"

#!/usr/bin/env bash
# Runs tests/integration and every attack on the docker backend. If no Docker engine answers, installs and starts one
# (Debian, as root). Builds the sandbox's image if it is missing, and stops only an engine that it has started.
# CI=true forbids skips. PRORL is the path of the prorl command, if it is not on the PATH.
set -euo pipefail
cd "$(dirname "$0")/.."

PRORL="${PRORL:-prorl}"
PYTHON="${PYTHON:-python3}"
engine=""
work="$(mktemp -d)"

finish() {
    if [ -n "$engine" ]; then
        kill "$engine" 2>/dev/null || true
        wait "$engine" 2>/dev/null || true
    fi
    rm -rf "$work"
}
trap finish EXIT

answers() {
    "$PYTHON" -c 'from prorl_sandbox.docker_backend.engine import Engine; Engine.connect().close()' \
        2>"$work/why"
}

install() {
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || {
        echo "integration: $(tail -1 "$work/why")" >&2
        echo "integration: start a Docker engine, or run as root on Debian to have one installed" >&2
        exit 2
    }
    echo "integration: installing $*" >&2
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -qq --yes --no-install-recommends "$@" \
        >"$work/install.log" 2>&1 || { tail -20 "$work/install.log" >&2; exit 1; }
}

if ! answers; then
    command -v dockerd >/dev/null || install docker.io iptables
    dockerd >"$work/dockerd.log" 2>&1 &
    engine=$!
    for _ in $(seq 60); do
        answers && break
        kill -0 "$engine" 2>/dev/null || break
        sleep 1
    done
    if ! answers; then
        echo "integration: dockerd did not come up; the end of its log:" >&2
        tail -20 "$work/dockerd.log" >&2
        exit 1
    fi
fi

has_image() {
    "$PYTHON" - <<'PY'
from prorl_common import UserError
from prorl_sandbox.docker_backend.engine import Engine
from prorl_sandbox.docker_backend.image import DEFAULT_TAG, check

try:
    check(Engine.connect(), DEFAULT_TAG)
except UserError:
    raise SystemExit(1) from None
PY
}

if ! has_image; then
    command -v debootstrap >/dev/null || install debootstrap
    "$PRORL" sandbox build-image
fi

PRORL_DOCKER_TESTS=1 "$PYTHON" -m pytest -q --ignore tests/integration/test_integration_adapters.py \
    --ignore-glob '*/test_integration_openrlhf_*' -k 'docker or integration' \
    tests/integration tests/attacks/test_attacks_docker.py \
    tests/sandbox/test_sandbox_sessions.py \
    tests/attacks/test_attacks_sessions.py

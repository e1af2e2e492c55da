# Each target says what it does; `make` alone lists them.
PYTHON ?= python3
BIN := .venv/bin
SHELL := /bin/sh
# With RETRY=0, as in CI, a test that fails has failed.
ONCE_MORE = { [ $$? = 1 ] && [ "$(RETRY)" != 0 ] && $(BIN)/python -m tests.once_more; }
# More than processors, since many tests wait.
WORKERS ?= 6
# The tests start hundreds of processes: without bytecode each would compile the program anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test long alone turn part compiled check format lint types contracts bench mutants truth torture screenshots lock man dist app proof clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.venv/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "sharebench needs Python 3.11 or newer; say which with: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -m venv .venv || \
		{ echo "could not make .venv; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@touch $@

# Bytecode is written for what is used, when it is first used: most of the modules never are.
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes

.venv/.installed: .venv/.made requirements.lock pyproject.toml
	@echo "installing sharebench into .venv (once; a minute or so)" >&2
	@$(INSTALL) -r requirements.lock
	@touch $@

.venv/.installed-dev: .venv/.made requirements-dev.lock pyproject.toml
	@echo "installing sharebench and what its tests need into .venv (once; a minute or so)" >&2
	@$(INSTALL) -r requirements-dev.lock
	@touch .venv/.installed $@

demo: .venv/.installed ## the main job on embedded practice servers, with all its own set-up
	@$(BIN)/python -m app demo

test: .venv/.installed-dev ## the tests, with all their own set-up (RETRY=0: ask no failed test again; WORKERS=2; PART=2/8: and a part of the long ones)
	@$(BIN)/python -m pytest -n $(WORKERS) $(if $(PART),-m "not alone" --part-of-long $(PART),-m "not alone and not long") \
		--dist loadgroup || $(ONCE_MORE)

long: .venv/.installed-dev ## the tests that take longest, and those of accuracy that need the machine to themselves (PART=2/8)
	@$(BIN)/python -m pytest -n $(WORKERS) -m "long and not alone" --dist loadgroup $(if $(PART),--part $(PART)) || $(ONCE_MORE)
	@$(MAKE) alone

alone: .venv/.installed-dev ## the tests of accuracy, one at a time (PART=2/8)
	@$(BIN)/python -m pytest -m alone $(if $(PART),--part $(PART)) $$(grep -rl 'mark\.alone' tests --include='test_*.py') \
		|| $(ONCE_MORE)

turn: ## those of the long tests whose turn it is at this commit
	@$(MAKE) long PART=$$($(MAKE) --silent part)

part: ## which of the long tests have their turn: each has it at one of sixteen commits
	@echo $$(($$(git rev-list --count HEAD) % 16 + 1))/16

compiled: .venv/.installed-dev ## the tests compiled once, in place of once in each process that runs them
	@$(BIN)/python -m pytest --collect-only -q >/dev/null

check: lint types contracts test turn ## everything that CI checks: format, lint, types, import contracts, tests, the long ones whose turn it is

format: .venv/.installed-dev ## put the code into the one format
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix --quiet .

lint: .venv/.installed-dev ## format and lint (ruff)
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .

types: .venv/.installed-dev ## types (mypy strict)
	@$(BIN)/mypy

contracts: .venv/.installed-dev ## import contracts (import-linter)
	@$(BIN)/lint-imports

bench: .venv/.installed-dev ## speeds side by side with other clients, written to .bench/ row by row (ROWS=NAME,… for some, LONG=1 for all)
	@$(BIN)/python -m tests.benchmarks $(if $(LONG),--long) $(if $(ROWS),--rows "$(ROWS)")

torture: .venv/.installed-dev ## the long form of the reliability campaigns, with their figures (SECONDS=… for each)
	@$(BIN)/python -m tests.reliability $(if $(SECONDS),--seconds $(SECONDS))

mutants: .venv/.installed-dev ## break lines that decide something, and report those that no test notices (SEED=… PART=2/10)
	@$(BIN)/python -m tests.mutants $(if $(SEED),--seed $(SEED)) $(if $(PART),--part $(PART))

truth: .venv/.installed-dev ## how often the verdicts are true: simulated, written to TRUTH.md
	@$(BIN)/python -m tests.truth

screenshots: .venv/.installed-dev ## draw the pictures of the TUI again
	@$(BIN)/python -m screenshots

lock: .venv/.installed-dev ## renew the lock files
	@sh .ci/lock

man: .venv/.installed-dev ## write the manual pages again, from the help
	@$(BIN)/python -m tests.release.manual

dist: .venv/.installed-dev ## wheel and sdist into dist/, with today's manual pages, checked by twine
	@$(BIN)/python -m tests.release.build

app: .venv/.installed-dev ## the same, and all in one file: dist/sharebench.pyz
	@$(BIN)/python -m tests.release.build app

proof: app ## install and run all of them from nothing, the Containerfile too and the tests on Debian 12 and 13 (as root; ONLY=pip,bookworm-bare,…)
	@$(BIN)/python -m tests.release.proof $(ONLY)

clean: ## remove what the other targets made
	rm -rf .venv dist .bench .mutants .mypy_cache .ruff_cache .pytest_cache .import_linter_cache

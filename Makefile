PYTHON ?= python3
PORT ?= 9600
BIN := .venv/bin
STAMP := .venv/.stamp
RUN_STAMP := .venv/.run-stamp
PIP := $(BIN)/pip install --quiet --disable-pip-version-check -c requirements.lock
NPM_STAMP := tests/npm/node_modules/.stamp
AGENTS_STAMP := tests/cli/connect/npm/node_modules/.stamp
PEERS_STAMP := bench/npm/node_modules/.stamp
COMMANDS := cli interfaces
MINIWOB := .venv/miniwob/html
CODE := $(wildcard src tests scripts bench)

# Compiling every module anew at every start of the product would be a good part of the tests' time.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup run test check conformance conformance-server bench docs miniwob
.PHONY: agents house lint quick ruff types imports clean lock pagekit

help: ## say what there is
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 20

setup: $(STAMP) ## make .venv with tabhub and the tools in it

$(RUN_STAMP): pyproject.toml requirements.lock
	@scripts/ensure-python $(PYTHON)
	$(PYTHON) -m venv .venv
	$(PIP) -e .
	@touch $@

$(STAMP): $(RUN_STAMP)
	$(PIP) -e '.[dev]'
	@touch $@

$(NPM_STAMP): tests/npm/package.json tests/npm/package-lock.json
	@scripts/ensure-node
	cd tests/npm && npm ci --no-audit --no-fund --loglevel=error
	@tests/npm/node_modules/node/bin/node --version >/dev/null
	@touch $@

run: $(RUN_STAMP) ## start the server and a browser on the demo page
	@scripts/ensure-browser >/dev/null
	@exec $(BIN)/tabhub start --browser --demo

test: setup $(NPM_STAMP) $(MINIWOB) ## everything, in real Chromium too
	@scripts/ensure-browser >/dev/null
	@$(MAKE) --no-print-directory lint types imports
	$(BIN)/pytest -q -n 3 --dist worksteal

check: setup ## the quick loop: no browser, no npm, no commands run, fewer examples
	@$(MAKE) --no-print-directory -j 2 quick types ruff imports

quick: setup
	$(BIN)/pytest -q -n 4 --dist worksteal --hypothesis-profile quick -m "not real_browser and not npm and not slow" $(COMMANDS:%=--ignore=tests/%)

$(MINIWOB): tests/miniwob/pages.txt | $(STAMP)
	@scripts/fetch-miniwob

miniwob: setup $(MINIWOB) ## solve the tasks of MiniWoB++ with the tools
	@scripts/ensure-browser >/dev/null
	@$(BIN)/python -m tests.miniwob.run

conformance: setup $(NPM_STAMP) ## run the public MCP suites
	@$(BIN)/python -m tests.conformance.run

conformance-server: setup ## run the suites' fixture server alone (PORT=N)
	@exec $(BIN)/python -m tests.conformance.server --port $(PORT)

$(PEERS_STAMP): bench/npm/package.json bench/npm/package-lock.json
	@scripts/ensure-node
	cd bench/npm && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

$(AGENTS_STAMP): tests/cli/connect/npm/package.json tests/cli/connect/npm/package-lock.json
	@scripts/ensure-node
	cd tests/cli/connect/npm && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

agents: setup $(AGENTS_STAMP) ## have real agents read what connect writes (fetches 1 GB)
	$(BIN)/pytest -q -n 2 tests/cli/connect/test_agents.py

bench: setup $(PEERS_STAMP) ## print the tables of measurements
	@$(BIN)/python -m bench

house: setup ## print how the tree is built, and what one click runs through
	@scripts/ensure-browser >/dev/null
	@$(BIN)/python scripts/house.py --click

pagekit: $(NPM_STAMP) ## build the page worker library into build/pagekit
	@scripts/build-pagekit

docs: setup ## write the generated pages of docs/
	@$(BIN)/python -m scripts.docs

lint: ruff ## ruff, the lock files and, once npm packages are there, the JavaScript
	@scripts/check-locks
	@[ ! -e $(NPM_STAMP) ] || scripts/check-extension
	@[ ! -e $(NPM_STAMP) ] || scripts/check-pagekit

ruff: setup
	$(BIN)/ruff check --quiet $(CODE)
	$(BIN)/ruff format --check --quiet $(CODE)

types: setup ## mypy, strict, tests included
	$(BIN)/mypy $(CODE)

imports: setup ## the rooms' import rule
	$(BIN)/lint-imports --no-logo

lock: ## write the lock files anew
	@PYTHON=$(PYTHON) scripts/lock

clean: ## remove all that make made
	rm -rf .venv build dist tests/npm/node_modules bench/npm/node_modules tests/cli/connect/npm/node_modules .mypy_cache .pytest_cache .ruff_cache
	rm -rf .import_linter_cache .hypothesis
	find $(CODE) -name __pycache__ -type d -prune -exec rm -rf {} +

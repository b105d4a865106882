PYTHON ?= python3
PORT ?= 9600
BIN := .venv/bin
STAMP := .venv/.stamp
RUN_STAMP := .venv/.run-stamp
PIP := $(BIN)/pip install --quiet --disable-pip-version-check -c requirements.lock
NPM_STAMP := tests/npm/node_modules/.stamp
AGENTS_STAMP := tests/cli/connect/npm/node_modules/.stamp
PEERS_STAMP := bench/npm/node_modules/.stamp
COMMANDS := cli interfaces system/test_windows.py
MINIWOB := .venv/miniwob/html
JUPYTER := .venv/jupyter/.stamp
TASKS := .venv/tasks/.stamp
CODE := $(wildcard src tests scripts bench)
EXAMPLES := $(dir $(wildcard examples/plugins/*/plugin.py))

# Without compiled modules, every start of the product in the tests would take much longer.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup run test check conformance conformance-server bench docs miniwob
.PHONY: agents attacks extension gif house pythons site idle integrations lint quick ruff types imports clean lock pagekit tasks screenshots

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile | expand -t 20

setup: $(STAMP) ## create .venv with tabhub and the development tools

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

run: $(RUN_STAMP) ## start the server and a browser with the demo shop
	@scripts/ensure-browser >/dev/null
	@exec $(BIN)/tabhub start --browser --demo

test: setup $(NPM_STAMP) $(MINIWOB) $(JUPYTER) ## run all checks and tests, also in real Chromium
	@scripts/ensure-browser >/dev/null
	@scripts/ensure-nats >/dev/null
	@$(MAKE) --no-print-directory lint types imports
	$(BIN)/pytest -q -n 3 --dist worksteal

check: setup ## run the quick tests: no browser, no npm, no commands, fewer examples
	@$(MAKE) --no-print-directory -j 2 quick types ruff imports

quick: setup
	$(BIN)/pytest -q -n 4 --dist worksteal --hypothesis-profile quick -m "not real_browser and not npm and not nats and not slow" $(COMMANDS:%=--ignore=tests/%)

$(MINIWOB): tests/miniwob/pages.txt | $(STAMP)
	@scripts/fetch-miniwob

$(JUPYTER): tests/jupyter/requirements.lock | $(STAMP)
	@scripts/fetch-jupyter

attacks: setup $(NPM_STAMP) ## run every attack, those on timing 1,000 times, at rest and at load
	@scripts/ensure-browser >/dev/null
	TABHUB_ATTACK_ROUNDS=1000 $(BIN)/pytest -q tests/attacks

idle: setup ## let browsers, one behind the proxy, be idle for ten minutes, then call a tool
	@scripts/ensure-browser >/dev/null
	TABHUB_IDLE_SECONDS=600 $(BIN)/pytest -q -n 2 -o timeout=1000 tests/real/remote tests/real/product -k long_silence

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

agents: setup $(AGENTS_STAMP) ## test what connect writes, and the packages, with real agents (downloads 1 GB)
	$(BIN)/pytest -q -n 2 tests/cli/connect/test_agents.py tests/cli/connect/test_packages.py

pythons: setup ## install the wheel under later Pythons of Debian and do a call (needs root)
	@scripts/ensure-browser >/dev/null
	@mkdir -p .venv/pythons
	@scripts/fetch-python trixie 3.13 .venv/pythons/3.13
	@scripts/fetch-python sid 3.14 .venv/pythons/3.14
	$(BIN)/pytest -q -n 0 tests/test_package.py -k later_pythons

bench: setup $(PEERS_STAMP) ## measure and print the tables
	@$(BIN)/python -m bench

$(TASKS): bench/tasks/requirements.lock bench/tasks/npm/package-lock.json | $(STAMP)
	@scripts/fetch-tasks

tasks: setup $(PEERS_STAMP) $(TASKS) ## do whole tasks in real applications, beside other servers
	@scripts/ensure-browser >/dev/null
	@$(BIN)/pytest -q -n 0 tests/real/tabs/test_node_red.py
	@$(BIN)/python -m bench.tasks

house: setup ## print figures about the source tree and the files of one click
	@scripts/ensure-browser >/dev/null
	@$(BIN)/python scripts/house.py --click

pagekit: $(NPM_STAMP) ## build the page worker library into build/pagekit
	@scripts/build-pagekit

extension: setup ## write the package of the extension for a store into build/
	@$(BIN)/python -m scripts.extension_package

integrations: setup ## write the files by which agents find tabhub, and the bundle into dist/
	@$(BIN)/python -m scripts.integrations

screenshots: setup ## take pictures of every view of the panel, into docs/images
	@scripts/ensure-browser >/dev/null
	@$(BIN)/python -m scripts.screenshots

gif: setup ## record the picture of the README
	@scripts/ensure-browser >/dev/null
	@$(BIN)/python -m scripts.demo_gif

docs: setup ## write the generated pages of docs/
	@$(BIN)/python -m scripts.docs

site: setup ## build the docs site into dist/site; a link that leads nowhere is an error
	@$(BIN)/zensical build --strict

lint: ruff ## run ruff, check the lock files and, if npm packages are installed, the JavaScript
	@scripts/check-locks
	@[ ! -e $(NPM_STAMP) ] || scripts/check-extension
	@[ ! -e $(NPM_STAMP) ] || scripts/check-pagekit

ruff: setup
	$(BIN)/ruff check --quiet $(CODE) examples
	$(BIN)/ruff format --check --quiet $(CODE) examples

types: setup ## run mypy in strict mode, tests included; the product also as on Windows and macOS
	$(BIN)/mypy $(CODE)
	@for system in win32 darwin; do $(BIN)/mypy --platform $$system --cache-dir .mypy_cache/$$system src || exit 1; done
	$(BIN)/mypy $(wildcard examples/*.py)
	@for folder in $(EXAMPLES); do (cd $$folder && $(CURDIR)/$(BIN)/mypy --strict --cache-dir $(CURDIR)/.mypy_cache/$$folder .) || exit 1; done

imports: setup ## check which packages may import which
	$(BIN)/lint-imports --no-logo

lock: ## write the lock files again
	@PYTHON=$(PYTHON) scripts/lock

clean: ## remove everything that make created
	rm -rf .venv build dist tests/npm/node_modules bench/npm/node_modules bench/tasks/npm/node_modules tests/cli/connect/npm/node_modules .mypy_cache .pytest_cache .ruff_cache
	rm -rf .import_linter_cache .hypothesis
	find $(CODE) examples -name __pycache__ -type d -prune -exec rm -rf {} +

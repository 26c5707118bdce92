# make demo    perturb public data locally and show estimates beside the truth
# make test    format, lint, types and every quick test: about four minutes on two quiet cores
# make test-all   make test, and the tests that take seconds each: about ten minutes more
# make heavy   what takes minutes or needs a database or a browser
# make check   format, lint and types only
# make docs    the documentation as a site, offline, in output/docs
# make coverage   which lines the tests reach
# make bench   how fast it is here, and beside other packages
# make bench-check   has a hot path become slower than recorded?
# make mutation      plant small faults in the parts that privacy rests on; do their tests notice?
# make reproduce     every table and figure of the sources, ours beside the published
# make generated   vectors, pages and counts that programs write
# make clean   remove what the other targets made

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: demo test test-all heavy check docs coverage bench bench-check mutation reproduce generated clean

demo: $(VENV)/.demo
	$(BIN)/python -m deniable.cli demo

test: check
	$(BIN)/python -m pytest -n 2

test-all: test
	$(BIN)/python -m pytest -n 2 -m 'slow and not heavy' -rs

heavy: $(VENV)/.dev
	$(BIN)/python -m pytest -m heavy -rs --durations=10

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.docs
	$(BIN)/python docs/site.py

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/run.py

bench-check: $(VENV)/.dev
	$(BIN)/python benchmarks/check.py
	$(BIN)/python benchmarks/claims.py

# Processes that tests start are measured too; what cannot be traced is left out by the rules in tests/coverage.ini.
coverage: export COVERAGE_FILE = $(CURDIR)/output/coverage/data
coverage: $(VENV)/.dev
	rm -rf output/coverage && mkdir -p output/coverage
	COVERAGE_PROCESS_START=$(CURDIR)/tests/coverage.ini $(BIN)/python -m pytest -n 2 -m 'not heavy'
	$(BIN)/python -m coverage combine -q --rcfile=tests/coverage.ini
	$(BIN)/python -m coverage report --rcfile=tests/coverage.ini --skip-covered --fail-under=90

# Small faults in exact, channels and randomness: do their tests notice?
mutation: $(VENV)/.dev
	$(BIN)/python -m tests.mutation --count 150

# DATA is a folder with the data sets that do not come with packages; without it their artifacts say what they want.
reproduce: $(VENV)/.dev
	$(BIN)/python -m deniable reproduce all --quick --output output/reproduce $(if $(DATA),--data $(DATA))

# Test vectors, the list of mechanisms, proofs of known laws, and how many mechanisms README says there are.
generated: $(VENV)/.dev
	$(BIN)/python -m tests.generated

clean:
	rm -rf $(VENV) .venv-peers output build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .schemathesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("deniable needs Python 3.11 or later" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

# Stamps: installing again only when pyproject.toml changes keeps repeated runs fast.
$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[collector,demo]'
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev,demo]' -e reproduce
	@touch $@ $(VENV)/.demo

$(VENV)/.docs: pyproject.toml | $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	@touch $@

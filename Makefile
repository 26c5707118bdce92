# make demo    perturb public data locally and show estimates beside the truth
# make test    format, lint, types and every quick test: about four minutes on two quiet cores
# make test-all   make test, and the tests that take longer: about twenty minutes more
# make tiers   measure anew which tests are slow: tests/slow.txt
# make heavy   what takes minutes or needs a database or a browser
# make check   format, lint and types only
# make docs    the documentation as a site, offline, in output/docs
# make coverage   which lines the tests reach
# make bench   how fast it is here, and beside other packages
# make bench-check   has a hot path become slower than recorded?
# make mutation      plant small faults in the parts that privacy rests on; do their tests notice?
# make reproduce     every table and figure of the sources, ours beside the published
# make generated   vectors, pages and counts that programs write
# make notebooks   run the notebooks and write their outputs, and the pages made from them
# make lock    pin the development environment anew: requirements/dev.lock, heavy.lock with what only the heavy tests need,
#              and lowest.lock with every lower bound
# make test-lowest   the tests of the core, of surveys, batches and estimators on the lowest versions that pyproject.toml allows
# make dist    wheels and source archives, built twice and compared
# make clean   remove what the other targets made

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Compiled modules are kept: without them every test that starts a process, and every collection, would compile the sources again.
unexport PYTHONDONTWRITEBYTECODE
# Tests run side by side; threads of theirs that wait for one another by spinning would make each of them many times slower.
test test-all heavy tiers coverage: export OPENBLAS_NUM_THREADS = 1

.PHONY: demo test test-all heavy tiers check docs coverage bench bench-check mutation reproduce generated notebooks lock test-lowest dist clean

demo: $(VENV)/.compiled
	$(BIN)/python -m deniable.cli demo

test: check
	$(BIN)/python -m pytest -n 2

test-all: test
	$(BIN)/python -m pytest -n 2 -m 'slow and not heavy' -rs

heavy: $(VENV)/.heavy
	$(BIN)/python -m pytest -n 2 --dist loadfile -m heavy -rs --durations=10

tiers: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 -m 'not heavy' --durations=0 | $(BIN)/python -m tests.tiers

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.dev
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

# Every notebook, from top to bottom; outputs that changed, and docs/notebooks with its pictures.
notebooks: $(VENV)/.dev
	$(BIN)/python -m tests.notebooks

clean:
	rm -rf $(VENV) .venv-peers $(LOWEST) output build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .schemathesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("deniable needs Python 3.11 or later" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

# Names, versions and hashes only, for every platform and Python; where packages come from is the business of your pip.
LOCK := uv pip compile pyproject.toml --extra dev --extra docs --universal --python-version 3.11 --upgrade
LOCK += --generate-hashes --no-header --no-annotate --quiet
lock:
	$(PYTHON) -m venv output/lock
	output/lock/bin/python -m pip $(QUIETLY) uv
	mkdir -p requirements
	output/lock/bin/$(LOCK) -o requirements/dev.lock
	output/lock/bin/$(LOCK) --resolution lowest-direct -o requirements/lowest.lock
	echo 'pyspark>=4.0,<5' | output/lock/bin/uv pip compile - -c requirements/dev.lock --universal --python-version 3.11 \
	  --generate-hashes --no-header --no-annotate --quiet -o requirements/heavy.lock
	! grep -n '://' requirements/*.lock

# Wheels and source archives, built twice from two checkouts of this commit; a byte that differs is an error.
dist: export SOURCE_DATE_EPOCH = $(shell git log -1 --format=%ct)
dist: $(VENV)/.dev
	rm -rf dist output/dist
	for copy in first second; do \
	  git clone --quiet . output/dist/$$copy && mkdir output/dist/$$copy.built || exit 1; \
	  for project in . reproduce; do \
	    (cd output/dist/$$copy/$$project && $(abspath $(BIN))/python -m hatchling build -d $(CURDIR)/output/dist/$$copy.built) || exit 1; \
	  done; \
	done
	diff -r output/dist/first.built output/dist/second.built
	cp -r output/dist/first.built dist

LOWEST := .venv-lowest
LOWEST_PARTS := tests/core tests/surveys tests/batch tests/estimators tests/cli
test-lowest: $(LOWEST)/.stamp
	$(LOWEST)/bin/python -m pytest -n 2 $(LOWEST_PARTS)

# Stamps: installing again only when something changes keeps repeated runs fast. Versions come from the lock file, so a run can be
# repeated; this project itself is installed without dependencies, by the build backend that the lock file names.
QUIETLY := install --quiet --disable-pip-version-check
PROJECT := --no-deps --no-build-isolation -e . -e reproduce

$(VENV)/.dev: pyproject.toml reproduce/pyproject.toml requirements/dev.lock | $(BIN)/python
	$(BIN)/python -m pip $(QUIETLY) --require-hashes -r requirements/dev.lock
	$(BIN)/python -m pip $(QUIETLY) $(PROJECT)
	@touch $@ $(VENV)/.demo

# Spark, hundreds of megabytes, is for the heavy tests only.
$(VENV)/.heavy: requirements/heavy.lock $(VENV)/.dev
	$(BIN)/python -m pip $(QUIETLY) --require-hashes -r requirements/heavy.lock
	@touch $@

$(LOWEST)/.stamp: pyproject.toml reproduce/pyproject.toml requirements/lowest.lock
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python -m pip $(QUIETLY) --require-hashes -r requirements/lowest.lock
	$(LOWEST)/bin/python -m pip $(QUIETLY) $(PROJECT)
	@touch $@

# Only what the demonstration needs, in its newest versions: what somebody gets who installs the package.
$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip $(QUIETLY) -e '.[demo]'
	@touch $@

# Numerical code is compiled when it first runs, and kept; here once, as a part of the set-up.
$(VENV)/.compiled: $(VENV)/.demo
	$(BIN)/python -m deniable.cli demo --compile
	@touch $@

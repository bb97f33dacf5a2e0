# Everything runs in .venv, which is made when it is missing and kept while the files that say what is installed stay as they are.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
PYTHON ?= python3
BIN := .venv/bin
NOTEBOOKS = $(wildcard book/*.ipynb book/exercises/*.ipynb book/solutions/*.ipynb)
# four workers for two cores: a test waits for its browser or its kernel nearly half of the time
TWO_CORES := -n 4 --dist loadfile -q
LIBRARY := tests --ignore tests/book --ignore tests/tools

.PHONY: help book pdf epub test quick changed lab notebooks conformance coverage mutation lint bench packages pins clean

help:  ## show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

.venv/installed: requirements.txt constraints.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; name one with: make PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -m venv .venv || { echo "venv is missing: on Debian, apt-get install python3-venv"; exit 1; }
	$(BIN)/python -m pip install --quiet --no-compile --requirement requirements.txt --constraint constraints.txt
	@# compiled once, on all cores, and not by every kernel anew; a few files are written for other Pythons
	@$(BIN)/python -m compileall -q -j 0 .venv/lib > /dev/null 2>&1 || true
	@touch $@

book: .venv/installed  ## build the book, strictly
	@rm -rf _build/html _build/.doctrees _build/jupyter_execute  # Sphinx repeats no warning of a page it does not read again; PDF and EPUB stay
	@$(BIN)/python tools/find_chromium.py || echo "Without it the explorables are drawn when a page opens, not at build."
	@$(BIN)/python tools/find_pyodide.py || true
	@$(BIN)/jupyter-book build . -W -n --keep-going
	@echo "The book: file://$(CURDIR)/_build/html/index.html"

pdf: book  ## make one PDF of the whole book, with contents and bookmarks (two minutes more)
	@$(BIN)/python tools/make_pdf.py

epub: book  ## make an EPUB of the whole book for e-readers (a minute more)
	@$(BIN)/python tools/make_epub.py

# what takes seconds comes first; the floor for coverage stands in pyproject.toml, that for mutants in tests/mutation.py
test: lint book  ## check everything: lint, book, library, notebooks, pages in three browsers, coverage, a sample of mutants
	@$(BIN)/python tools/find_chromium.py
	@$(BIN)/python tools/find_other_browsers.py
	@$(BIN)/python -m pytest $(TWO_CORES) --cov --cov-report=
	@$(BIN)/python -m tests.mutation --seconds 45

quick: lint  ## check what starts no process: lint, library, form of the notebooks (under a minute and a half)
	@$(BIN)/python -m pytest -n 2 --dist loadfile -q -m 'not starts_process and not slow' tests

changed: lint  ## check what differs from main: its tests, and the notebooks that can have noticed
	@$(BIN)/python tools/changed.py $(TWO_CORES)

lab: .venv/installed  ## open JupyterLab on the book
	@$(BIN)/jupyter lab --notebook-dir book

notebooks: .venv/installed  ## run the notebooks again and store their outputs
	@$(BIN)/python tools/execute_notebooks.py $(NOTEBOOKS)

conformance: .venv/installed  ## run the outside suites and store the table of the library reference
	@$(BIN)/python -m pytest tests/conformance -q --store-conformance

coverage: .venv/installed  ## list the lines and branches that the tests of the library leave out
	@$(BIN)/python -m pytest $(TWO_CORES) $(LIBRARY) --cov --cov-report=term-missing:skip-covered

mutation: .venv/installed  ## break the core in every small way and list what no test notices (about an hour on two cores)
	@$(BIN)/python -m tests.mutation

lint: .venv/installed  ## check code, types, notebooks and workflows
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml
	@$(BIN)/actionlint -config-file .github/actionlint.yaml .github/workflows/*.yml
	@$(BIN)/zizmor --offline --quiet --no-progress --config .github/zizmor.yml .github

bench: .venv/installed  ## measure speed and memory against PyTorch
	@$(BIN)/python -m benchmarks

packages: .venv/installed  ## build the wheel and the source archive, and try each in an empty environment
	@$(BIN)/python tools/try_packages.py

pins: .venv/installed  ## pin every package that comes along with requirements.txt in constraints.txt
	@$(BIN)/python tools/pin_packages.py

clean:  ## remove what was built and installed
	rm -rf .venv _build .pytest_cache .ruff_cache .mypy_cache .hypothesis .coverage *.egg-info

# Everything happens in .venv, made on first use; a later run starts at once.
PYTHON ?= python3.11
PORT ?= 5006
DEMO := data/demo
BIN := .venv/bin
TEST_EXTRAS := [docs,test,cluster,hnsw]
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: run test soak check format bench docs screenshots clean

run: .venv/installed $(DEMO)/manifest.json
	$(BIN)/wattfold serve $(DEMO) --port $(PORT) --no-browser

test: .venv/installed-test
	sh tests/get_chromium.sh
	sh tests/get_nginx.sh
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

soak: .venv/installed-test
	$(PIP) -e '.[fuzz]'
	$(BIN)/python -m pytest -m soak

check: .venv/installed-test
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python tests/check_safety.py

format: .venv/installed-test
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: .venv/installed-bench
	for script in benchmarks/[a-z]*.py; do $(BIN)/python $$script || exit 1; done

# Into build/docs/; the reference pages are made from the registries, the parser and docstrings.
docs: .venv/installed-docs
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going docs build/docs
	@echo "The documentation is in build/docs/index.html"

# Into docs/images/, from the demo data in a real browser.
screenshots: .venv/installed-test $(DEMO)/manifest.json
	sh tests/get_chromium.sh
	$(BIN)/python docs/screenshots.py $(DEMO)

clean:
	rm -rf .venv $(DEMO) build *.egg-info

$(DEMO)/manifest.json: | .venv/installed
	$(BIN)/wattfold demo $(DEMO)

# Debian keeps venv in a package of its own.
.venv/bin/python:
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 is needed: PYTHON=... make" >&2; exit 1; }
	$(PYTHON) -m venv .venv || { rm -rf .venv; \
	  sh .ci/install_packages.sh "A virtual environment is needed" python3-venv && $(PYTHON) -m venv .venv; }

# With all that a target needs in one call of pip, which looks through all packages at every call.
# annoy and hnswlib are compiled when they are installed, which takes a C++ compiler.
define install
	@command -v c++ >/dev/null || sh .ci/install_packages.sh "A C++ compiler is needed" g++
	@echo "Installing Wattfold into .venv (a few minutes, once) ..."
	$(PIP) -e '.$(1)'
	@touch $(2)
endef

.venv/installed: pyproject.toml constraints.txt | .venv/bin/python
	$(call install,[hnsw],$@)

.venv/installed-docs: pyproject.toml constraints.txt | .venv/bin/python
	$(call install,[docs,hnsw],$@ .venv/installed)

.venv/installed-test: pyproject.toml constraints.txt | .venv/bin/python
	$(call install,$(TEST_EXTRAS),$@ .venv/installed-docs .venv/installed)

.venv/installed-bench: .venv/installed-test
	$(call install,[bench],$@)

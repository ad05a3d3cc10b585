# Every target sets up what it needs: a clone, Python 3.11 or newer with pip, and make are enough. Without a C++ compiler
# (GCC or Clang) `ziglang` of the package index compiles the kernels.

VENV   := .venv
BIN    := $(VENV)/bin
# Named after the folders of the package: an editable install knows which names are modules and which are folders.
FOLDERS := $(shell find src/graphrefine -name __init__.py | LC_ALL=C sort | cksum | cut -d' ' -f1)
STAMP  := $(VENV)/.test-$(FOLDERS)
# What the demo needs is less; where the tests' tools are installed, all of it is there.
DEMO   := $(if $(wildcard $(STAMP)),$(STAMP),$(VENV)/.demo-$(FOLDERS))
NATIVE := $(wildcard src/graphrefine/kernels/native/*)

# The first Python that is new enough; `make PYTHON=... test` chooses another.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11 python3.14 python; do \
	if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then echo $$python; break; fi; done)

# A compiler that is named by CXX, or one that is found.
ifeq ($(origin CXX),default)
COMPILER := $(shell for name in c++ g++ clang++; do command -v $$name && break; done)
else
COMPILER := $(CXX)
endif

# Hundreds of programs that the tests start would each compile the package again.
unexport PYTHONDONTWRITEBYTECODE

# Two tests at a time, each worker taking over from the other at the end; `make TESTS= test` runs them one by one.
TESTS  ?= -n 2 --dist worksteal
# The core: what reads a graph, what makes vectors of it, what stores them; few examples, no real graphs, no server.
QUICK  := $(addprefix tests/, kernels graph readers linalg refine embedding vectors)

.PHONY: help demo test quick lint check-slow check-torch check-clients check-arm check-minimum check-newest fuzz faults sanitize reproduce bench results docs web wheel sbom clean

help:
	@echo "make demo        embed a real graph, score the vectors and draw them into demo-output/"
	@echo "make test        lint, types, tests, doctests and the examples of the documentation"
	@echo "make quick       the tests of kernels, readers, method and formats, in less than a minute"
	@echo "make check-slow  the tests that take minutes; those on real graphs need GRAPHREFINE_DATA"
	@echo "make check-torch install torch and PyG (6 GB) and test graphs of theirs; check-slow does it if TORCH=1"
	@echo "make check-clients  install faiss, DuckDB, Qdrant and others and run docs/guides/store-vectors.md; check-slow does it if CLIENTS=1"
	@echo "make check-arm   compile for ARM, and compare its vectors with those of x86-64; check-slow does it if ARM=1"
	@echo "make check-minimum  the tests with the oldest versions of all that the package requires; check-newest: with the newest"
	@echo "make fuzz        changed inputs for every reader, format, kernel and endpoint: MINUTES=10; check-slow: 1 if FUZZ=1"
	@echo "make sanitize    tests and fuzzing of the kernels with AddressSanitizer, UBSan and ThreadSanitizer (GCC, cmake)"
	@echo "make faults      every system call of every writer fails once: what is on the disk afterwards (hours)"
	@echo "make reproduce   the paper's tables, figures and claims in minutes, into reproduce-output/"
	@echo "make wheel       build wheels for every Python found, each tried in a clean environment, into dist/"
	@echo "make bench       what can be measured, and the quick part of it"
	@echo "make results     all tables of the documentation, measured again on real graphs: an hour; needs GRAPHREFINE_DATA"
	@echo "make docs        the documentation as web pages, into docs/_build/"
	@echo "make web         the page of graphrefine explore, built anew from web/ (needs node and npm)"
	@echo "make sbom        sbom.cdx.json: what the package consists of and asks for, as CycloneDX"
	@echo "make clean       remove everything that these commands made"

# An editable install, so edits of Python and new modules need none of this. New folders, C++ and how it is built do.
$(STAMP): WHAT := ".[all]" --group test
$(VENV)/.demo-$(FOLDERS): WHAT := ".[io,plot]"
$(STAMP) $(VENV)/.demo-$(FOLDERS): pyproject.toml CMakeLists.txt $(NATIVE)
	@test -n "$(PYTHON)" || { echo "no Python 3.11 or newer was found; pass one: make PYTHON=/path/to/python"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV): one to three minutes, in silence"
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
ifeq ($(COMPILER),)
	@echo "no C++ compiler was found: installing ziglang, which is slower the first time"
	$(BIN)/python -m pip install --quiet ziglang
	CXX="$(abspath $(BIN))/python -I -m ziglang c++" $(BIN)/python -m pip install --quiet --editable $(WHAT)
else
	$(BIN)/python -m pip install --quiet --editable $(WHAT)
endif
	@rm -f $(VENV)/.test-* $(VENV)/.demo-* && touch $@

demo: $(DEMO)
	$(BIN)/graphrefine demo

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/mypy src reproduction tests benchmarks scripts fuzz

test: lint
	$(BIN)/python -m pytest -m "not slow" $(TESTS)

quick: $(STAMP)
	env -u GRAPHREFINE_DATA $(BIN)/python -m pytest -q -m "not slow" -p no:playwright -p no:schemathesis \
		--hypothesis-profile=quick --ignore tests/embedding/test_pgvector.py $(TESTS) $(QUICK)

check-slow: $(STAMP)
	$(BIN)/python -m pytest -m slow $(TESTS)
	@if test -n "$$FUZZ"; then $(MAKE) fuzz MINUTES=1; else echo "make fuzz tries changed inputs for some minutes"; fi
	@if test -n "$$TORCH"; then $(MAKE) check-torch; else echo "make check-torch tests graphs of torch and PyG: 6 GB"; fi
	@if test -n "$$CLIENTS"; then $(MAKE) check-clients; else echo "make check-clients runs docs/guides/store-vectors.md: 1.1 GB"; fi
	@if test -n "$$ARM"; then $(MAKE) check-arm; else echo "make check-arm compares vectors with those of ARM: 0.5 GB"; fi

# torch is large, and nothing else needs it.
check-torch: $(STAMP)
	@if $(BIN)/python -m pip install --quiet torch torch_geometric; then \
		GRAPHREFINE_TORCH=1 $(BIN)/python -m pytest -q tests/readers/test_tensors.py && \
		$(BIN)/python -m pytest -q tests/clients -k "torch"; \
	else echo "torch could not be installed: graphs of torch and PyG were NOT tested"; fi

# The clients are many, and may need other versions than the project: they have an environment of their own above it.
check-clients: $(STAMP)
	OMP_NUM_THREADS=1 $(BIN)/python scripts/check_clients.py

# A cross compiler and an emulator, of Debian; what is made for ARM stays in build/arm.
check-arm: $(STAMP)
	$(BIN)/python scripts/check_arm.py

# Environments of their own, with the versions of constraints/minimum.txt and constraints/newest.txt.
check-minimum check-newest: check-%: $(STAMP)
	$(BIN)/python scripts/check_versions.py $*

# What is found lies in fuzz/findings; what was mended, in fuzz/corpus. FUZZ="--group readers --seed 7" chooses.
MINUTES ?= 10
fuzz: $(STAMP)
	$(BIN)/python -m fuzz.run --minutes $(MINUTES) $(FUZZ)

# The kernels compiled with sanitizers into build/sanitize: their tests, and a minute of changed arrays.
sanitize: $(STAMP)
	$(BIN)/python scripts/sanitize.py

# Every system call of every writer fails once; the table says what came of it. FAULTS="--every 20 live" chooses.
faults: $(STAMP)
	PYTHONPATH=tests $(BIN)/python -m faults $(FAULTS)

reproduce: $(STAMP)
	$(BIN)/python -m reproduction --quick -o reproduce-output

bench: $(STAMP)
	@$(BIN)/python scripts/bench.py

# On one commit and a machine that does nothing else. RESULTS="--only speed,tiers" chooses; --peers adds other packages.
results: $(STAMP)
	$(BIN)/python scripts/measure.py $(RESULTS)
	$(BIN)/python scripts/figures.py

wheel:
	@test -n "$(PYTHON)" || { echo "no Python 3.11 or newer was found; say which with: make PYTHON=/path/to/python"; exit 1; }
	$(PYTHON) scripts/check_wheels.py

sbom: $(STAMP)
	$(BIN)/python scripts/sbom.py

docs: $(STAMP)
	$(BIN)/python -m pip install --quiet --group docs
	$(BIN)/sphinx-build -E -W --keep-going -q docs docs/_build
	$(BIN)/python scripts/llms.py docs/_build
	$(BIN)/python scripts/check_links.py docs/_build
	@echo "docs/_build/index.html"

web: $(STAMP)
	$(BIN)/python scripts/api_types.py
	$(BIN)/python scripts/palette.py
	cd web && npm ci --no-audit --no-fund && npm run check && npm run build

clean:
	rm -rf web/node_modules fuzz/findings $(VENV) .venv-clients .venv-minimum .venv-newest build dist wheelhouse demo-output reproduce-output docs/_build .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find src tests benchmarks scripts fuzz -name __pycache__ -type d -prune -exec rm -rf {} +

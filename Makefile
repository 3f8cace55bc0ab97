# make run     install, fetch the embedded model if it is needed, start the app
# make test    all checks: lint, import contracts, tests, including browser and embedded models
# make fix     repairs what ruff can
# make help    the rest

PYTHON ?= python3
PORT ?= 8501

VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/installed
INSTALLED_DEV := $(VENV)/installed-dev
SBOM := $(VENV)/sbom
TOOLS := chromium proxies postgres clock provider
UNPACKED := $(filter-out chromium,$(TOOLS))
# Python compiles what it imports. To compile all of each package takes pip two fifths of its time.
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes

# Some images of containers turn bytecode off. Then each start of the app, and of each of the hundreds of processes of the
# tests, would compile all modules.
export PYTHONDONTWRITEBYTECODE :=

MAKEFLAGS += --no-print-directory
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help run install install-dev announce port model chromium proxies postgres clock provider test soak collect lint fix lock sbom bench pictures clean

help:
	@echo "make run       install, fetch the embedded chat model unless a service is set in .env, start the app (PORT=8501)"
	@echo "make install   only the packages, into $(VENV) (PYTHON=python3)"
	@echo "make test      lint, import contracts and all tests; fetches the embedded model, Chromium, nginx, Caddy, Postgres, libfaketime and an OpenID provider"
	@echo "make test T=tests/rag/test_commands.py   only those tests, without lint; any path or path::test that pytest takes"
	@echo "make soak      the long tests: many more kills, parser loads, injections and looks at pages; some two hours"
	@echo "make lint      ruff, the import contracts and the types"
	@echo "make fix       repairs what ruff can: format, imports, simple findings"
	@echo "make lock      writes the lock files again from requirements*.txt; UPGRADE=1 takes the newest versions"
	@echo "make sbom      sbom.json: every package that is installed, in CycloneDX's form"
	@echo "make bench     measures pipelines against a server of fixed speed, and adding documents compared with only embedding them"
	@echo "make pictures  takes the pictures of README and docs again from the running app; half an hour"
	@echo "make clean     removes $(VENV) and caches; keeps data/"

run: announce install port
	@$(BIN)/python -m rag.models.embedded.fetch
	@echo "Open http://localhost:$(PORT) in a browser; Ctrl-C stops the app."
	@exec env FORWARDED_ALLOW_IPS= $(BIN)/streamlit run app.py --server.port $(PORT)

announce:
	@if [ -e $(INSTALLED) ]; then echo "Starting on http://localhost:$(PORT)."; \
	else echo "Setting up: 500 MB of packages into $(VENV) (1.6 GB on disk), then the embedded chat model," \
	  "1.1 GB (3 GB on disk), into data/models unless a service is set in .env. After that it starts on http://localhost:$(PORT)."; fi

install: $(INSTALLED)

install-dev: $(INSTALLED_DEV)

$(BIN)/python:
	@[ "$$(uname -sm)" != "Darwin x86_64" ] || \
	  { echo "Macs with Intel processors are not supported: some packages have no build for them."; exit 1; } >&2
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed, and $(PYTHON) is older. Choose another one: PYTHON=python3.12 make run"; exit 1; } >&2
	@$(PYTHON) -c 'import sqlite3, sys; sys.exit(sqlite3.sqlite_version_info < (3, 35))' || \
	  { echo "SQLite 3.35 or newer is needed, and the one of $(PYTHON) is older, as on RHEL 8 and 9. Use the image of the" \
	  "Dockerfile, or a Python with an SQLite of its own, such as uv's or conda's: PYTHON=/path/to/python3 make run"; exit 1; } >&2
	@$(PYTHON) -m venv --clear $(VENV) || { rm -rf $(VENV); exit 1; }
	@$(BIN)/python $(PIP_INSTALL) --upgrade -r requirements-pip.lock || \
	  echo "Going on with this Python's own pip, which takes longer." >&2

$(INSTALLED): $(BIN)/python requirements.lock
	@$(BIN)/python $(PIP_INSTALL) -r requirements.lock
	@touch $@

$(INSTALLED_DEV): $(INSTALLED) requirements-dev.lock
	@$(BIN)/python $(PIP_INSTALL) -r requirements-dev.lock
	@touch $@

port: $(INSTALLED)
	@said=$$($(BIN)/python -c 'import socket; socket.create_server(("localhost", int("$(PORT)")))' 2>&1) && exit; \
	case $$said in \
	  *"Address already in use"*) echo "Port $(PORT) is in use, perhaps by this app: open http://localhost:$(PORT)." \
	    "Or choose another port: PORT=8502 make run";; \
	  *) echo "Port $(PORT) can't be used ($${said##*Error: }). Choose another port: PORT=8502 make run";; \
	esac >&2; exit 1

# The tests need the embedded model even if a service is set.
model: $(INSTALLED)
	@CHAT_MODEL=embedded $(BIN)/python -m rag.models.embedded.fetch

# The names for which the tests look. Debian has the first one as a package, Ubuntu none of them.
chromium: $(INSTALLED_DEV)
	@for name in chromium-headless-shell chromium google-chrome; do if command -v $$name >/dev/null; then exit 0; fi; done; \
	with_deps=; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  export DEBIAN_FRONTEND=noninteractive; \
	  apt-get update -qq && apt-get install -y -qq --no-install-recommends \
	    chromium-headless-shell fonts-ipafont-gothic >/dev/null && exit 0; \
	  with_deps=--with-deps; \
	fi; \
	$(BIN)/playwright install $$with_deps --only-shell chromium

# Programs of Debian are unpacked next to the packages: installed, servers would also be started, for the whole machine.
# $(call unpack,folder,its programs or those of the machine,packages,what it says if they can't be fetched)
define unpack
@if [ -z "$$(ls $(2) 2>/dev/null)" ] && command -v apt-get >/dev/null; then \
  mkdir -p $(VENV)/$(1) && cd $(VENV)/$(1) && \
  { [ "$$(id -u)" != 0 ] || apt-get update -qq; } && \
  apt-get download -qq -o APT::Sandbox::User=root $(3) && \
  for package in *.deb; do dpkg-deb -x $$package . && rm $$package; done || \
  echo "$(4)" >&2; \
fi
endef

# The reverse proxies of docs/operating.
proxies: $(BIN)/python
	$(call unpack,proxies,$(VENV)/proxies/usr/bin/caddy,nginx caddy,nginx and Caddy are not available: the tests behind them are skipped.)

INITDB := usr/lib/postgresql/*/bin/initdb

# Postgres with its libraries.
postgres: $(BIN)/python
	$(call unpack,postgres,/$(INITDB) $(VENV)/postgres/$(INITDB),$$( \
	  server=$$(apt-cache depends postgresql | sed -n 's/.*Depends: \(postgresql-[0-9]*\)$$/\1/p') && \
	  echo $$server $$(apt-cache depends $$server | \
	    sed -n 's/.*Depends: \(lib\(icu\|ldap\|lz4\|pq\|xml2\|xslt\|zstd\|gssapi\)[^ ]*\)$$/\1/p') \
	),Postgres is not available: the tests on it are skipped.)

FAKETIME := usr/lib/*/faketime/libfaketimeMT.so.1

# The library that changes a process's clock.
clock: $(BIN)/python
	$(call unpack,clock,/$(FAKETIME) $(VENV)/clock/$(FAKETIME),libfaketime,libfaketime is not available: the tests with different clocks are skipped.)

# The OpenID provider with which tests sign in: npm packages, checked by their hashes, without install scripts.
provider: $(BIN)/python
	@if ! command -v npm >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  export DEBIAN_FRONTEND=noninteractive; \
	  apt-get update -qq && apt-get install -y -qq --no-install-recommends nodejs npm >/dev/null || true; \
	fi
	@if ! cmp -s tests/servers/provider/package-lock.json $(VENV)/provider/installed; then \
	  mkdir -p $(VENV)/provider && cp tests/servers/provider/package*.json $(VENV)/provider && \
	  (cd $(VENV)/provider && npm ci --silent --ignore-scripts --no-audit --no-fund) && \
	  cp tests/servers/provider/package-lock.json $(VENV)/provider/installed || \
	  echo "Node.js or its packages are not available: the tests that sign in are skipped." >&2; \
	fi

# What needs one core runs beside something else: tools are unpacked while the packages are installed, and the model is fetched
# once those of the app are there. While Chromium arrives, the code is checked, and the tests are imported once: otherwise each
# process of the first part would compile all of them. If a check fails, no test starts.
# First the tests that wait for a third of their time: three processes on two cores. Then the browser tests, which wait
# for half of their time: four processes, one per file, because its servers take seconds to start. The embedded model is
# tested in the time that these leave. All three parts run, even if one fails. A failed test is not run again.
# Each part collects only its own folders: importing all tests takes a process ten seconds.

ifdef T
test: install-dev $(TOOLS) model
	@$(BIN)/pytest $(T)
else
test: $(BIN)/python
	@$(MAKE) $(UNPACKED) & unpacked=$$!; \
	$(MAKE) install && { $(MAKE) model & model=$$!; $(MAKE) install-dev; }; installed=$$?; \
	wait $$unpacked; unpacked=$$?; wait $$model; model=$$?; [ $$installed$$unpacked$$model = 000 ]
	@$(MAKE) lint & lint=$$!; $(MAKE) collect & collected=$$!; $(MAKE) chromium; chromium=$$?; \
	wait $$lint; lint=$$?; wait $$collected; collected=$$?; [ $$chromium$$lint$$collected = 000 ]
	@status=0; \
	$(BIN)/pytest -n 3 --dist worksteal -m "not (browser or embedded or soak)" --ignore tests/browser || status=1; \
	nice -n 10 $(BIN)/pytest -m "embedded and not soak" $$(grep -rl "mark\.embedded" --include "test_*.py" tests/rag) \
	  >$(VENV)/embedded 2>&1 & embedded=$$!; trap 'kill $$embedded; exit 130' INT TERM; \
	$(BIN)/pytest -n 4 --dist loadfile -m "browser and not soak" tests/browser || status=1; \
	wait $$embedded || status=1; cat $(VENV)/embedded; \
	exit $$status
endif

# The same three parts as in `test`.
soak: install-dev $(TOOLS) model
	@status=0; \
	$(BIN)/pytest -n 2 --dist worksteal -m "soak and not (browser or embedded)" --ignore tests/browser || status=1; \
	$(BIN)/pytest -n 2 --dist loadfile -m "soak and browser" tests/browser || status=1; \
	$(BIN)/pytest -m "soak and embedded" || status=1; \
	exit $$status

collect: $(INSTALLED_DEV)
	@$(BIN)/pytest --collect-only -qq >$(VENV)/collected || { tail -n 40 $(VENV)/collected; exit 1; } >&2

# mypy has a core for itself. Its own workers must answer within three seconds, or it ends with an internal error.
lint: $(INSTALLED_DEV)
	@$(BIN)/mypy & types=$$!; \
	$(BIN)/ruff check && $(BIN)/ruff format --check && $(BIN)/lint-imports; checked=$$?; \
	wait $$types && exit $$checked

fix: $(INSTALLED_DEV)
	@$(BIN)/ruff check --fix-only --quiet
	@$(BIN)/ruff format
	@$(BIN)/ruff check

# One lock file for every system and every Python from 3.11. Locked versions stay if requirements*.txt allow them.
LOCKER = $(BIN)/uv
LOCK = $(LOCKER) pip compile --quiet --universal --generate-hashes --python-version 3.11 --no-annotate \
  --custom-compile-command "make lock" $(if $(UPGRADE),--upgrade)

$(BIN)/uv: $(INSTALLED_DEV)

lock: $(LOCKER)
	@$(LOCK) requirements.txt --output-file requirements.lock
	@$(LOCK) requirements-dev.txt --constraints requirements.lock --output-file requirements-dev.lock
	@$(LOCK) requirements-sbom.txt --output-file requirements-sbom.lock
	@$(LOCK) requirements-pip.txt --output-file requirements-pip.lock

# In an environment of its own: with one of its packages installed, Chroma takes 1.6 s longer to load.
$(SBOM)/installed: $(INSTALLED) requirements-sbom.lock
	@$(BIN)/python -m venv --clear $(SBOM)
	@$(SBOM)/bin/python $(PIP_INSTALL) -r requirements-sbom.lock
	@touch $@

sbom: $(SBOM)/installed
	@$(SBOM)/bin/cyclonedx-py environment $(VENV) --pyproject pyproject.toml --mc-type application --output-reproducible --output-file sbom.json

bench: $(INSTALLED)
	@$(BIN)/python -m benchmarks.latency
	@$(BIN)/python -m benchmarks.ingest

pictures: install-dev chromium model
	@$(BIN)/python -m docs.pictures

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .import_linter_cache .mypy_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One command runs the main job, one passes the tests; both do all set-up by themselves.
PYTHON ?= python3
VENV := .venv
READY := $(VENV)/.ready
NATIVE := hatch_build.py src/necroscope/sense/perf/decode/native.c src/necroscope/sense/importers/perf_script/script_scan.c
DEMO_PACKAGES := linux-perf systemd-container dbus
TEST_PACKAGES := $(DEMO_PACKAGES) podman runc busybox-static sysstat iproute2=ip nodejs=node npm=npm \
	prometheus=promtool prometheus-alertmanager chromium

GUEST_PACKAGES := qemu-system-arm=qemu-system-aarch64 qemu-system-x86=qemu-system-x86_64 ipxe-qemu e2fsprogs kmod zstd lz4 \
	gcc-aarch64-linux-gnu libc6-dev-arm64-cross

# Unit tests run in two processes at once: these rooms take about as long as all others.
HALF := tests/cli tests/diagnose tests/query
UNIT = $(VENV)/bin/pytest -q -m unit --hypothesis-profile=check

.PHONY: help setup demo check unit-1 unit-2 test test-kernels lint bench damage attack soak clean

help:
	@echo "make demo    make an incident on this kernel, record and explain it, clean up"
	@echo "make check   lint, types, layers and unit tests: no root, no real kernel, no processes"
	@echo "make test    lint, types, layers and all tests (real-kernel tests where root)"
	@echo "make test-kernels  boot Debian's kernels in QEMU and run Necroscope in them (20 minutes; needs an archive of packages)"
	@echo "make damage  flip 600 bits of a recording and lose each of its files: no answer may change in silence"
	@echo "make bench   measure what is claimed; results in bench/RESULTS.md"
	@echo "make attack  ten minutes of everything an unprivileged user can do to the recorder (as root)"
	@echo "make soak    three hours of a recorder on duty under changing load (as root); soak.log is kept"
	@echo "make setup   only install into $(VENV); the program is $(VENV)/bin/necroscope"

setup: $(READY)

$(READY): requirements.lock pyproject.toml $(NATIVE) tools/make-venv
	@tools/system-packages gcc=cc libc6-dev
	@tools/make-venv $(PYTHON) $(VENV)
	@touch $(READY)

demo: setup
	@tools/system-packages $(DEMO_PACKAGES)
	@$(VENV)/bin/necroscope demo

lint: setup
	@$(VENV)/bin/ruff check -q .
	@$(VENV)/bin/ruff format -q --check .
	@$(VENV)/bin/mypy
	@$(VENV)/bin/lint-imports

check: setup
	@$(MAKE) --no-print-directory --jobs 3 --output-sync lint unit-1 unit-2

unit-1: setup
	@$(UNIT) $(HALF)

unit-2: setup
	@$(UNIT) tests $(addprefix --ignore=,$(HALF))

test: setup
	@tools/system-packages $(TEST_PACKAGES)
	@tools/node-packages
	@$(MAKE) --no-print-directory lint
	@$(VENV)/bin/pytest

test-kernels: setup
	@tools/system-packages $(GUEST_PACKAGES)
	@$(VENV)/bin/python -m guests

damage: setup
	@NECROSCOPE_DAMAGE=600 $(VENV)/bin/pytest tests/store/test_silent_damage.py

bench: setup
	@$(VENV)/bin/python -m bench

attack: setup
	@tools/system-packages $(DEMO_PACKAGES)
	@cd tests && ../$(VENV)/bin/python -m attacks.campaign --seconds 600

soak: setup
	@tools/system-packages $(DEMO_PACKAGES)
	@$(VENV)/bin/python -m bench.soak --seconds 10800 --log soak.log

clean:
	rm -rf $(VENV) node_modules .mypy_cache .ruff_cache .hypothesis .import_linter_cache

# What there is to do with ragstage's own sources. An evaluation of yours is no target here: see examples/make.

CARGO ?= cargo

# Where `make demo` leaves its report. Its artifacts go to ./.ragstage, as those of any run from here do.
DEMO_REPORT := reports/handbook

.PHONY: help demo test test-services lint bench scifact datasets clean-cache

help:
	@echo "make demo         evaluate two recipes on ragstage's own documentation (fixtures/handbook)"
	@echo "make test         run every test; what cannot run here says SKIPPED and why"
	@echo "make test-services  test against real model servers and OpenViking, where scripts that start them are beside the checkout"
	@echo "make lint         check formatting and clippy, warnings as errors"
	@echo "make bench        measure speed (release build)"
	@echo "make scifact      nDCG@10 of full-text, vector and hybrid search on SciFact, where the data is (release build)"
	@echo "make datasets     LoCoMo and Qasper whole with full-text search, where the data is (release build)"
	@echo "make clean-cache  remove the artifacts and the report of the demo"

# In the dev profile: from a clean checkout it builds in about two minutes on two cores where the release profile takes
# eight, and the demo's own work is a matter of seconds either way.
demo:
	$(CARGO) run --locked --bin ragstage -- run fixtures/handbook/evaluation.yaml --output $(DEMO_REPORT)

test:
	$(CARGO) test --workspace --locked

test-services:
	tests/services/run.sh

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

bench:
	$(CARGO) bench --locked --bench '*'
	@if command -v python3 >/dev/null; then python3 benches/peers.py; else echo "SKIPPED peers: there is no python3"; fi

scifact:
	benches/scifact.sh

datasets:
	benches/datasets.sh

clean-cache:
	rm -rf .ragstage $(DEMO_REPORT)

# Every verb a person or CI needs.  `make demo` and `make test` set up what they use.
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OLDEST := $(VENV)/oldest
ASSETS := $(shell tests/controlplane/build.sh --where)
export KUBEBUILDER_ASSETS := $(ASSETS)
MONITORING := $(shell tests/controlplane/build.sh --monitoring --where)
export FOREWARN_MONITORING := $(MONITORING)

.PHONY: help demo test test-quick test-clients test-oldest check format golden requirements go controlplane monitoring clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

demo: $(VENV)/.demo ## Run the main job: a simulated rack, one node failing, its work moved first
	$(BIN)/python -m simulator demo

test: $(VENV)/.train ## Set up and run every tier of tests; ends with a list of what was skipped
	@tests/controlplane/build.sh "$(ASSETS)" || true # what is not built is listed as skipped
	@tests/controlplane/build.sh --monitoring "$(MONITORING)" || true
	$(BIN)/python tests/run_tiers.py

test-quick: $(VENV)/.dev ## Run the tests that need no outside program, in under a minute
	$(BIN)/python -m pytest -q -n auto --dist worksteal -m "not services and not cluster and not training and not browser and not scenario"

# What pyproject.toml allows of the Kubernetes client, resolved to its oldest and its newest.
CLIENT := $(shell sed -n 's/.*"\(kubernetes[<>=][^"]*\)".*/\1/p' pyproject.toml)
test-clients: $(VENV)/.dev ## Run what talks to Kubernetes with the oldest and the newest client that is allowed
	@for end in lowest-direct highest; do \
	  $(BIN)/uv pip install --quiet --python $(BIN)/python --resolution $$end \
	    --target $(VENV)/clients/$$end "$(CLIENT)" && \
	  PYTHONPATH=$(CURDIR)/$(VENV)/clients/$$end $(BIN)/python -c \
	    'import kubernetes; print("kubernetes", kubernetes.__version__)' && \
	  PYTHONPATH=$(CURDIR)/$(VENV)/clients/$$end $(BIN)/python -m pytest -q -p no:cacheprovider \
	    -m "not services and not training and not browser and not scenario" \
	    tests/remediation tests/contracts tests/field_reports || exit 1; \
	done

test-oldest: $(VENV)/.oldest ## Run the shipped model with the oldest runtime and packages that a node may have
	@$(OLDEST)/bin/python -c 'import onnxruntime; print("onnxruntime", onnxruntime.__version__)'
	$(OLDEST)/bin/python -m pytest -q -p no:cacheprovider tests/model/runtime tests/model/bundled \
	  tests/field_reports/test_r32_a_model_from_the_future_on_a_node.py

check: $(VENV)/.dev ## Format, lint, types, import contracts, rules, manifests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache >/dev/null || $(BIN)/lint-imports --no-cache
	$(BIN)/yamllint --strict .
	promtool check rules alerts/*.rules.yml
	amtool check-config alerts/alertmanager.example.yml

format: $(VENV)/.dev ## Format and fix what can be fixed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

golden: $(VENV)/.dev ## Write the golden files anew; read the diff before committing it
	$(BIN)/python -m pytest -q -m "not training" -k golden --golden-update

requirements: ## Pin and hash every requirement list (needs uv)
	requirements/compile.sh

go: $(VENV)/.go ## Bring Go where the system has none or an old one
	@tests/controlplane/build.sh --go

controlplane: ## Build the real Kubernetes control plane once, from Go modules
	@tests/controlplane/build.sh "$(ASSETS)"

monitoring: ## Build the newest Prometheus and Alertmanager once, from Go modules
	@tests/controlplane/build.sh --monitoring "$(MONITORING)"

clean: ## Remove the virtual environment and caches, but not the control plane
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .demo

$(VENV)/.go: $(VENV)/.bootstrap requirements/go.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements/go.txt
	@touch $@

# Apart from the other, which has a newer one of each package.
$(VENV)/.oldest: $(VENV)/.bootstrap requirements/oldest.txt
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(OLDEST)
	$(BIN)/uv pip install --quiet --python $(OLDEST)/bin/python --require-hashes -r requirements/oldest.txt
	@touch $@

# One virtual environment, three widths. A wider one satisfies a narrower one.
$(VENV)/.bootstrap: requirements/bootstrap.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed, this is " + sys.version)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/bootstrap.txt
	@touch $@

$(VENV)/.demo $(VENV)/.dev $(VENV)/.train: $(VENV)/.%: $(VENV)/.bootstrap requirements/%.txt pyproject.toml
	$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements/$*.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

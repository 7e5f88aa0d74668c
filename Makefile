# Two commands do everything: make demo, make test. Both set up .venv/ first (tools/set_up.py).
#
#   make demo                              two labs, one robot simulated in each: the same value
#   make demo G1=../shared/data/g1         the same with the Unitree G1's walking policy in MuJoCo
#   make demo SPECIFICATION=config/ur10e_positioning.yaml      a robot arm
#   make test                              all checks and tests
#   make test-long                         kills, stalls and damaged recordings at length
#   make bench-load                        demos beside busy loops, and half an hour in real time each
#   make bench-faults                      lossy drivers, impostors, nodes that die or stall: each outcome
#   make mutants                           do the tests notice changed lines of the core?
#   make ROS=kilted demo                   with ROS 2 Kilted, in .venv-kilted/
#   make matrix                            the wheel with Python 3.10 to 3.14 and old libraries
#   make walk                              files, functions, calls that one test passes
#   make man                               build/repsq.1, the manual page of repsq
#   make PYTHON=python3.12 ...             with that Python (3.10 to 3.13)

PYTHON ?= python3
ROS ?= jazzy
VENV := .venv$(if $(filter-out jazzy,$(ROS)),-$(ROS))
G1 ?=
SPECIFICATION ?= config/g1_locomotion.yaml
DEMO := campaigns/demo-$(shell date +%Y%m%d-%H%M%S)
# Where a process of tests dies on its way out, as in the middleware's own code, the others would wait
# for ever: it ends as a failure.
CRASH := --max-worker-restart 0
SIMULATED := --simulate $(if $(G1),--subject g1 --model $(G1))

.PHONY: demo test linters test-core test-nodes test-long bench-load bench-faults mutants lint man matrix walk environment site clean

# An initiator's campaign, then a replicator's with another seed and proposal. On real robots, each
# lab gives its own line without --simulate.
demo:
	@$(PYTHON) tools/set_up.py --ros $(ROS) $(if $(G1),sim)
	$(VENV)/bin/repsq run $(SPECIFICATION) $(SIMULATED) --output $(DEMO)/initiator
	$(VENV)/bin/repsq run $(DEMO)/initiator/replication.yaml --tester config/replicator.yaml \
	    $(SIMULATED) --output $(DEMO)/replicator
	$(VENV)/bin/repsq compare $(DEMO)/initiator $(DEMO)/replicator

environment:
	@$(PYTHON) tools/set_up.py --ros $(ROS) bags sim report certificate watch dev

lint: environment
	@$(MAKE) --no-print-directory linters

linters:
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

# The documentation as a site: build/site/index.html.
site: environment
	$(VENV)/bin/python -m mkdocs build --strict

# Tests of the nodes wait about as long as they work: those of the core, which only work, run in
# their pauses, and so do the linters. Each of the three is shown when it has ended.
test: environment
	@echo 'linters and tests run side by side: each part prints what it has found when it ends'
	@$(MAKE) --no-print-directory --jobs 3 --output-sync=target linters test-core test-nodes

# Where Python may keep no compiled files, each of the six processes would compile all tests again.
PYTEST := env PYTHONDONTWRITEBYTECODE= $(VENV)/bin/with_repsq python3 -m pytest --quiet
test-core:
	nice -n 5 $(PYTEST) test/core --numprocesses auto --dist worksteal $(CRASH)

# A test that fails beside other work (exit code 1) is run once more, and both runs are shown. What
# fails twice fails.
NODES := $(PYTEST) test/ros --dist load --maxschedchunk 1 --override-ini cache_dir=.pytest_cache/ros
test-nodes:
	$(NODES) --numprocesses 4 || { test $$? = 1 && $(NODES) --numprocesses 1 --last-failed; }

# Every node killed at 50 random instants and stalled 24 times, within make test it is 4 and 4;
# 10,000 damaged recordings, within make test it is 300.
test-long: environment
	REPSQ_FUZZ=10000 $(VENV)/bin/python -m pytest test/core/test_instrument_faults.py -k there_is_a_reason
	REPSQ_FUZZ=20000 REPSQ_FUZZ_RECORDED=20 $(VENV)/bin/python -m pytest test/core/test_steady_fuzz.py
	REPSQ_FUZZ_SENT=10 $(VENV)/bin/with_repsq python3 -m pytest test/ros/test_instruments.py -k steady
	REPSQ_KILLS=50 REPSQ_STALLS=24 $(VENV)/bin/with_repsq python3 -m pytest --capture no \
		test/ros/test_resume.py test/ros/test_stalls.py

# Simulated campaigns beside busy loops, with nodes that stand still: the numbers of one process.
bench-load: environment
	$(VENV)/bin/with_repsq python3 test/ros/bench_beside_load.py demo
	$(VENV)/bin/with_repsq python3 test/ros/bench_beside_load.py soak

# Drivers that lose, delay or refuse commands, impostors, nodes that die, stall or are late:
# first over UDP, then over shared memory. A line for each outcome.
FAULTS := safety stalls publishers verified_stops delayed_peers
bench-faults: environment
	for shared in 0 1; do echo "shared memory: $$shared"; \
		$(VENV)/bin/repsq doctor --clear-shared-memory; \
		REPSQ_SHARED_MEMORY=$$shared $(VENV)/bin/with_repsq python3 -m pytest --verbose --no-header \
		$(FAULTS:%=test/ros/test_%.py) || exit 1; done

# setup.cfg says of which files; $(VENV)/bin/mutmut results and $(VENV)/bin/mutmut show NAME say more.
mutants: environment
	@$(PYTHON) tools/set_up.py --ros $(ROS) mutants
	rm -rf mutants
	$(VENV)/bin/mutmut run
	$(VENV)/bin/mutmut results

man: environment
	$(VENV)/bin/with_repsq argparse-manpage --module repsq_ros.console.command_line \
		--function make_parser --project-name repsq_ros --output build/repsq.1

# sdist and wheel, tried with each Python and the libraries of each Ubuntu that can be had.
matrix:
	$(PYTHON) tools/matrix.py

# Files, functions and calls that one test passes, and the lines of code of the package.
walk: environment
	$(VENV)/bin/with_repsq python3 tools/walk.py

clean:
	rm -rf .venv .venv-kilted build install log mutants

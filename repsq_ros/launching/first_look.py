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

"""Checks before a launch starts its nodes, and the text at the end of its campaign."""

from __future__ import annotations

import importlib.util
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from repsq_ros.campaign.folder import RESULT, TESTS
from repsq_ros.campaign.journal import JOURNAL
from repsq_ros.campaign.journal_contents import read_contents
from repsq_ros.campaign.recomputed_campaign import recompute
from repsq_ros.campaign.station import keep_selftest, require_selftest
from repsq_ros.certificate.document import CERTIFICATE, make_document
from repsq_ros.certificate.issuing import issue
from repsq_ros.errors import CampaignError, MissingError, OutputError, ParameterError, RepsqError
from repsq_ros.launching.arguments import LaunchArgument
from repsq_ros.launching.registered_campaign import (
    begin_registered,
    close_registered,
    registered_seed,
    require_same_registration,
)
from repsq_ros.specification.load import load
from repsq_ros.specification.model import Specification

NUMBERS = {int: 'a whole number', float: 'a number'}


def look_first(arguments: Sequence[LaunchArgument], values: Mapping[str, str]) -> dict[str, str]:
    """Refuse arguments that would make nodes fail later, and begin a registered campaign.

    :param values: of the arguments, by name
    :returns: values to replace: seed and name of a registered campaign
    :raises RepsqError: which argument, what was found, what was expected
    """
    for argument in arguments:
        if argument.kind in NUMBERS:
            try:
                argument.kind(values[argument.name])
            except ValueError:
                raise ParameterError(
                    argument.name, values[argument.name], NUMBERS[argument.kind]
                ) from None
    specification = load(Path(values['specification']))
    resumed = values.get('resume') == 'true'
    tested = Path(values['selftest']) if values.get('selftest') else None
    if 'selftest' in values and not resumed:
        require_selftest(specification, tested)
    if values.get('output'):
        _look_at(Path(values['output']), resumed)
        keep_selftest(tested, Path(values['output']))
    if values.get('record') == 'true' and (
        shutil.which('ros2') is None or importlib.util.find_spec('ros2bag') is None
    ):
        raise MissingError('record:=true: found no ros2 bag, expected rosbag2 to be installed')
    if values.get('monitor') == values.get('rviz') == 'true' and shutil.which('rviz2') is None:
        raise MissingError('rviz:=true: found no rviz2, expected RViz to be installed')
    defaults = {each.name: each.default for each in arguments}
    return _begin_registered(values, specification, values.get('seed') == defaults.get('seed'))


def _begin_registered(
    values: Mapping[str, str], specification: Specification, any_seed: bool
) -> dict[str, str]:
    """Begin a registered campaign; see `look_first`.

    :param any_seed: no seed was requested
    """
    given, seed_value = values.get('registration', ''), values.get('seed_value', '')
    registration = Path(given) if given else None
    folder = Path(values['output']) if values.get('output') else None
    if registration is None and seed_value:
        raise ParameterError('seed_value', seed_value, 'a registration beside it')
    if registration is not None and folder is None:
        raise ParameterError('output', 'none', 'a folder: the campaign is registered')
    if folder is not None and values.get('resume') == 'true':
        require_same_registration(registration, folder)
        contents = read_contents(folder / JOURNAL)
        return {} if registration is None or contents is None else {'seed': f'{contents.seed}'}
    if folder is None or registration is None:
        return {}
    seed = registered_seed(
        registration,
        Path(values['specification']),
        None,
        specification.tester.seed if any_seed else int(values['seed']),
        seed_value,
    )
    name = values.get('campaign_id') or f'{specification.name}-{time.strftime("%Y%m%d-%H%M%S")}'
    begin_registered(registration, folder, name, seed_value)
    return {'seed': f'{seed}', 'campaign_id': name}


def _look_at(folder: Path, resume: bool) -> None:
    there = [name for name in (JOURNAL, TESTS, RESULT) if (folder / name).exists()]
    if resume and JOURNAL not in there:
        raise OutputError(f'output {folder}: found no {JOURNAL}, expected a campaign to resume')
    if there and not resume:
        raise OutputError(
            f'output {folder}: found {there[0]}, expected a new folder (or resume:=true)'
        )


def closing_text(folder: Path | None, code: int, registration: Path | None = None) -> str:
    """Return the text at the end of a launch's scheduler.

    :param folder: of the campaign; None: no folder
    :param code: exit code of the scheduler
    :param registration: of the campaign; None: not registered
    """
    ended = 'ended' if code == 0 else f'was broken off (exit code {code})'
    if folder is None:
        return f'campaign  {ended}; nothing was kept: output was empty'
    try:
        released = close_registered(registration, folder) if registration is not None else ''
    except (RepsqError, OSError) as error:
        released = f'the end could not be written into the ledger: {error}'
    file, bags = folder / RESULT, sorted(folder.glob('bag-*'))
    lines = [f'campaign  {ended}: {folder}']
    if file.exists():
        told = yaml.safe_load(file.read_text(encoding='utf-8'))
        lines += [
            f'result    {told["value"]:.6g}, estimate {told["estimate"]:.6g} +- '
            f'{told["half_width"]:.4g} from {told["n"]} tests ({told["outcome"]})',
            *(f'accept    {told[name].upper()}' for name in ('verdict',) if name in told),
            f'files     {file}, {folder / TESTS}, {certify(folder)}',
        ]
    elif released:
        lines.append(f'result    none: {released}')
    elif (folder / JOURNAL).exists():
        lines.append('result    none. To go on: the same command with resume:=true')
    else:
        lines.append('result    none: nothing was measured')
    lines += [f'recording {bag}' for bag in bags]
    return '\n'.join(lines)


def check_ending(code: int) -> None:
    """Raise an error if the campaign failed, so that the launch fails, too.

    :raises CampaignError: the scheduler ended with another exit code than 0
    """
    if code:
        raise CampaignError(f'the campaign was broken off: the scheduler ended with {code}')


def certify(folder: Path) -> str:
    """Write an unsigned certificate; return its name, or why there is none."""
    file = folder / CERTIFICATE
    try:
        if file.exists() and b'"signature"' in file.read_bytes():
            return f'{file} (signed before: left as it is)'
        return str(issue(make_document(recompute(folder)), folder))
    except (RepsqError, OSError) as error:
        return f'no certificate ({error})'  # the result is valid anyway

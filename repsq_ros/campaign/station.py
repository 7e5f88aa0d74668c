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

"""The station's self-test that a campaign may require, and keeps beside its journal."""

from __future__ import annotations

import time
from pathlib import Path

import yaml

from repsq_ros.campaign.folder import keep_file
from repsq_ros.errors import ParameterError
from repsq_ros.specification.model import Specification

SELF_TEST = 'selftest.yaml'  # of `repsq selftest`
GREEN, RED = 'green', 'red'


def require_selftest(specification: Specification, file: Path | None) -> None:
    """Refuse a campaign that requires a self-test and has none that fits.

    :param file: of `repsq selftest`; None: not given
    :raises ParameterError: missing, too old, failed, or of another specification
    """
    longest = specification.tester.selftest_age
    asked = 'one of repsq selftest'
    if longest is not None:
        asked = f'{asked} not older than {longest:g} s (tester.selftest_age)'
    if file is None:
        if longest is None:
            return
        raise ParameterError('selftest', 'none', asked)
    try:
        content = yaml.safe_load(file.read_text(encoding='utf-8'))
        verdict, digest = content['verdict'], content['specification_digest']
        age = time.time() - float(content['unix'])
    except (OSError, UnicodeDecodeError, yaml.YAMLError, KeyError, TypeError, ValueError) as error:
        found = f'{file}, which cannot be read ({type(error).__name__})'
        raise ParameterError('selftest', found, asked) from None
    if verdict != GREEN:
        raise ParameterError('selftest', f'{file}, which is {verdict}', f'{asked} that is green')
    if digest != specification.digest:
        raise ParameterError(
            'selftest', f'{file} of {digest[:12]}', f'{specification.digest[:12]}'
        )
    if longest is not None and not 0.0 <= age <= longest:
        raise ParameterError('selftest', f'{file}, {age:.0f} s old', asked)


def keep_selftest(file: Path | None, folder: Path) -> None:
    """Copy the file of a self-test into the folder of its campaign.

    :raises OutputError: it cannot be written
    """
    if file is not None:
        keep_file(file, folder, SELF_TEST)

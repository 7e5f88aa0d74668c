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

"""Options for registered campaigns."""

from __future__ import annotations

import argparse
import secrets
from pathlib import Path

from repsq_ros.errors import ParameterError
from repsq_ros.specification.model import Specification

LARGEST_SEED = 2**31  # largest seed that is drawn


def chosen_seed(asked: int | None, specification: Specification) -> int:
    """Return the requested seed, else that of the specification, else a new one."""
    if asked is not None and asked < 0:
        raise ParameterError('seed', f'{asked}', 'a whole number >= 0')
    seed = specification.tester.seed if asked is None else asked
    return secrets.randbelow(LARGEST_SEED) if seed is None else seed


def add_ledger(parser: argparse.ArgumentParser) -> None:
    """Describe the option that names a ledger."""
    parser.add_argument(
        '--ledger',
        type=Path,
        help="the lab's ledger, or its folder (default: the copy beside the campaign)",
    )

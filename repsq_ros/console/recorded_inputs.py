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

"""Messages of all verbs that read recordings: digests, and what could not be read."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable


def add_recover(parser: argparse.ArgumentParser) -> None:
    """Describe the option for damaged recordings."""
    parser.add_argument(
        '--recover',
        action='store_true',
        help='use everything that can be read of a damaged recording, and report what is lost',
    )


def print_digests(digests: Iterable[tuple[str, str]]) -> None:
    """Print the SHA-256 of each file."""
    for file, digest in digests:
        print(f'sha256    {digest}  {file}')


def print_losses(losses: Iterable[str]) -> None:
    """Print a line for each loss, on standard error."""
    sys.stdout.flush()
    for loss in losses:
        print(f'repsq: {loss}', file=sys.stderr)

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

"""repsq keygen: the keys with which a lab signs its certificates."""

from __future__ import annotations

import argparse
from pathlib import Path

from repsq_ros.certificate.signature import make_keys


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument(
        'file', type=Path, help='new file for the private key; the public one gets .pub behind'
    )


def run(arguments: argparse.Namespace) -> int:
    """Write both keys."""
    public = make_keys(arguments.file)
    print(f'private   {arguments.file}: keep it to yourself, it is not encrypted')
    print(f'public    {public}: give it to whoever shall check your certificates')
    return 0

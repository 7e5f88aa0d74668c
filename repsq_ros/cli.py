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

"""The repsq command."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper

from repsq_ros.configurations import configuration_folder
from repsq_ros.console import command_line
from repsq_ros.console.verbs import VERBS
from repsq_ros.errors import RepsqError


def main(arguments: list[str] | None = None) -> int:
    """Run repsq; returns the exit code (errors.EXIT_CODES)."""
    if '_ARGCOMPLETE' in os.environ:
        command_line.complete(os.environ.get('COMP_LINE', ''))
    if isinstance(sys.stdout, TextIOWrapper):  # a locale without UTF-8 has no blocks to draw with
        sys.stdout.reconfigure(errors='replace')
    parsed = command_line.parse(sys.argv[1:] if arguments is None else arguments)
    try:
        if parsed.configurations:
            print(configuration_folder())
            return 0
        if parsed.completion:
            print(command_line.completion_code(parsed.completion))
            return 0
        return VERBS[parsed.verb].load(parsed.verb).run(parsed)
    except RepsqError as error:
        print(f'repsq: {error}', file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        # The reader closed the pipe (repsq ... | head): suppress Python's error at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        return 130


if __name__ == '__main__':
    sys.exit(main())

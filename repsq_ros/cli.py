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

import argparse
import os
import sys
from typing import Protocol

from repsq_ros import __version__
from repsq_ros.console import (
    certify,
    check,
    compare,
    compare_subjects,
    fit,
    import_poses,
    init,
    inspect,
    iso9283,
    keygen,
    plan,
    publish,
    record,
    reevaluate,
    report,
    run,
    simulate,
    study,
    verify,
    watch,
)
from repsq_ros.errors import RepsqError


class Command(Protocol):
    """What a file of `console` offers."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Describe the command line."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Do it; returns the exit code."""


COMMANDS: dict[str, tuple[Command, str]] = {
    'init': (init, 'write a commented test specification, from answers or from flags'),
    'check': (check, 'check a test specification and say what it promises'),
    'plan': (plan, 'say what a campaign will cost, by each rule and partition'),
    'simulate': (simulate, 'repeat whole campaigns of two labs without a robot'),
    'study': (study, 'tests and agreement of every stopping rule, on laws with known means'),
    'fit': (fit, 'fit a proposal for importance sampling to a pilot campaign'),
    'run': (run, 'run a campaign on the robot, or with --simulate on a simulated one'),
    'watch': (watch, 'show a running campaign, or a folder, on the terminal'),
    'compare': (compare, 'say whether campaigns returned the same value, and what was promised'),
    'compare-subjects': (
        compare_subjects,
        'tell which of two subjects does better, from two campaigns on the same cases',
    ),
    'certify': (certify, 'write the certificate of a campaign, with its recordings and signed'),
    'verify': (verify, 'compute a campaign anew and tell whether anything in it was changed'),
    'publish': (publish, 'make the folder that a replicator needs, with the certificate'),
    'report': (report, 'write a page that shows campaigns, for people'),
    'keygen': (keygen, 'make the keys with which a lab signs its certificates'),
    'inspect': (inspect, 'tell rate, jitter, gaps, clocks and noise of each topic in a bag'),
    'import-poses': (import_poses, "turn a measuring device's CSV of poses into SI and headers"),
    'iso9283': (iso9283, 'accuracy, repeatability and drift of the poses in a table'),
    'record': (record, 'record a campaign and its sensors into an mcap file'),
    'reevaluate': (reevaluate, 'compute the measure of every test in a recorded bag'),
}


def main(arguments: list[str] | None = None) -> int:
    """Run repsq; returns the exit code (see errors.py; 130 after Ctrl-C)."""
    parser = argparse.ArgumentParser(
        prog='repsq', description='Repeatable measures of robot performance by statistical query.'
    )
    parser.add_argument('--version', action='version', version=f'repsq_ros {__version__}')
    words = parser.add_subparsers(dest='word', required=True, metavar='COMMAND')
    for word, (command, summary) in COMMANDS.items():
        command.add_arguments(words.add_parser(word, help=summary, description=summary))
    parsed = parser.parse_args(arguments)
    try:
        return COMMANDS[parsed.word][0].run(parsed)
    except RepsqError as error:
        print(f'repsq: {error}', file=sys.stderr)
        return error.exit_code
    except BrokenPipeError:
        # Who read our output has had enough (repsq ... | head); Python must not complain at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        return 130


if __name__ == '__main__':
    sys.exit(main())

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

"""The verbs of repsq: module, group, summary, examples and exit codes of each.

No verb's module is imported here, so that `repsq --version` and each verb start quickly.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from typing import Protocol, cast


class Group(Enum):
    """The task that a verb belongs to; the order is that of `repsq --help`."""

    BEFORE = 'before a campaign'
    DURING = 'during a campaign'
    AFTER = 'after a campaign'
    BETWEEN_LABS = 'between labs'


class Command(Protocol):
    """The module of a verb."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Add the verb's options to its parser."""

    def run(self, arguments: argparse.Namespace) -> int:
        """Run the verb; return the exit code."""


@dataclass(frozen=True)
class Verb:
    """One verb of repsq."""

    group: Group
    summary: str
    examples: tuple[str, ...]  # complete command lines
    exit_codes: tuple[int, ...] = ()  # besides 0 and 2, which each verb has; see errors.EXIT_CODES
    module: str = ''  # in repsq_ros, if not console/VERB

    def path(self, name: str) -> str:
        """Return the module of the verb called `name`."""
        return f'repsq_ros.{self.module or "console." + name.replace("-", "_")}'

    def load(self, name: str) -> Command:
        """Import the module of the verb called `name`."""
        return cast(Command, import_module(self.path(name)))


VERBS = {
    'init': Verb(
        Group.BEFORE,
        'write a commented test specification, from answers or from options',
        (
            'repsq init my_test.yaml',
            "repsq init arm.yaml --robot 'UR10e' --sensor gauge --unit mm --accuracy 0.01 "
            '--budget 8',
        ),
        (6,),
    ),
    'check': Verb(
        Group.BEFORE,
        'check a test specification and show what its result will guarantee',
        ('repsq check config/g1_locomotion.yaml',),
    ),
    'plan': Verb(
        Group.BEFORE,
        'predict tests, hours and battery changes for each stopping rule and partition',
        ('repsq plan my_test.yaml --sd 0.2', 'repsq plan my_test.yaml --pilot campaigns/pilot'),
        (4,),
    ),
    'simulate': Verb(
        Group.BEFORE,
        'repeat campaigns of two labs without a robot',
        ('repsq simulate my_test.yaml --subject surrogate --pairs 100',),
        (5, 6),
    ),
    'twin': Verb(
        Group.BEFORE,
        'let a simulator answer the cases beforehand, which saves tests of the robot',
        ('repsq twin my_test.yaml --subject surrogate --tests 10000 --output twin.csv',),
        (5, 6, 7),
    ),
    'fit': Verb(
        Group.BEFORE,
        'fit a proposal for importance sampling to a pilot campaign',
        ('repsq fit campaigns/pilot',),
        (4,),
    ),
    'inspect': Verb(
        Group.BEFORE,
        'measure rate, jitter, gaps, clocks and noise of each topic in a recording',
        ('repsq inspect recordings/mocap', 'repsq inspect log.mcap --topic /odom --rate 100'),
        (4, 5),
    ),
    'doctor': Verb(
        Group.BEFORE,
        "check the computer and the robot's topics before a campaign, with remedies",
        ('repsq doctor my_test.yaml',),
        (3, 5),
    ),
    'selftest': Verb(
        Group.BEFORE,
        'test the station: three moves show axes, scale, latency, clocks of its sensors',
        (
            'repsq selftest my_test.yaml --taped 1.20',
            'repsq selftest config/g1_locomotion.yaml --simulate',
        ),
        (3, 4, 5, 6),
    ),
    'study': Verb(
        Group.BEFORE,
        "run a study of the paper or of this package's stopping rules",
        ('repsq study rules --quick', 'repsq study humanoid --model ../shared/data/g1'),
        (5, 6),
    ),
    'register': Verb(
        Group.BEFORE,
        "sign specification, choices and seed of a campaign into the lab's ledger",
        (
            'repsq register my_test.yaml --lab "Our lab" --key lab.key --ledger ledger',
            'repsq register my_test.yaml --lab "Our lab" --key lab.key --seed-from "drand 4711"',
            'repsq register --abandon 2 --reason "the robot broke"',
        ),
        (5, 6, 7, 9),
    ),
    'run': Verb(
        Group.DURING,
        'run a campaign on the robot, or on a simulated one (--simulate)',
        (
            'repsq run config/g1_locomotion.yaml --simulate --output first',
            'repsq run first/replication.yaml --tester config/replicator.yaml --output second',
            'repsq run --resume first',
            'repsq run my_test.yaml --registration ledger/registration-1.json',
        ),
        (3, 5, 6, 7, 9, 13, 14, 130),
    ),
    'watch': Verb(
        Group.DURING,
        'show a running campaign, or the folder of one, on the terminal',
        ('repsq watch', 'repsq watch campaigns/first --once'),
        (5, 6, 130),
    ),
    'record': Verb(
        Group.DURING,
        'record a campaign and its sensors to mcap; Ctrl-C ends it',
        ('repsq record config/ur10e_positioning.yaml --output recordings/first',),
        (5, 6),
    ),
    'report': Verb(
        Group.AFTER,
        'write a page about one or more campaigns',
        ('repsq report campaigns/first', 'repsq report first second --output both.html --pdf'),
        (4, 5, 6, 7),
    ),
    'reevaluate': Verb(
        Group.AFTER,
        'compute the measure of each test from recordings',
        (
            'repsq reevaluate recordings/first --specification first/specification.yaml',
            'repsq reevaluate walk.mcap --specification my_test.yaml --command-topic /cmd_vel',
        ),
        (4, 5, 6),
    ),
    'import-poses': Verb(
        Group.AFTER,
        "convert a measuring device's CSV of poses to metres and quaternions",
        ('repsq import-poses tracker.csv --unit mm --output poses.csv',),
        (4, 6),
        'iso9283.import_poses',
    ),
    'iso9283': Verb(
        Group.AFTER,
        'compute pose accuracy, pose repeatability and drift from a table of poses',
        ('repsq iso9283 poses.csv --output iso9283',),
        (4, 5, 6),
        'iso9283.pose_criteria',
    ),
    'compare': Verb(
        Group.BETWEEN_LABS,
        'compare the results of labs, or two robots on the same cases (--subjects)',
        (
            'repsq compare first second',
            'repsq compare lab_a.json lab_b.json lab_c.json --table',
            'repsq compare old_gait new_gait --subjects --margin 0.05',
            'repsq compare first --twin',
        ),
        (4, 7, 8, 9, 12),
    ),
    'certify': Verb(
        Group.BETWEEN_LABS,
        "make a lab's keys, certify a campaign, publish the folder that a replicator needs",
        (
            'repsq certify --keygen lab.key',
            'repsq certify first --bag recordings/first --key lab.key --lab "Our lab"',
            'repsq certify first --publish --evidence --zip',
        ),
        (4, 5, 6, 7, 9),
    ),
    'verify': Verb(
        Group.BETWEEN_LABS,
        'compute a campaign again and find any change since it was certified',
        ('repsq verify first', 'repsq verify first-published --key lab.key.pub'),
        (4, 5, 7, 9, 10, 11),
    ),
}

# Verbs of earlier versions, with their replacements.
FORMER = {
    'keygen': ('certify', '--keygen'),
    'publish': ('certify', '--publish'),
    'compare-subjects': ('compare', '--subjects'),
}

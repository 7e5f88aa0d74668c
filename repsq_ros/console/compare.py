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

"""repsq compare: whether campaigns returned the same value, and what that was promised to be."""

from __future__ import annotations

import argparse
from pathlib import Path

from repsq_ros.campaign.comparison import FinishedCampaign, finished_campaign, paper_count
from repsq_ros.errors import ParameterError

DIFFERENT = 8  # exit code


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument(
        'campaigns',
        type=Path,
        nargs='+',
        metavar='FOLDER',
        help='folders of two or more campaigns',
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the values side by side; the exit code is 0 where they are the same, else 8."""
    folders: list[Path] = arguments.campaigns
    if len(folders) < 2:
        raise ParameterError('campaigns', f'{len(folders)}', 'two folders at least')
    campaigns = [finished_campaign(folder) for folder in folders]
    _require_one_contract(campaigns)
    width = max(len(str(folder)) for folder in folders)
    for each in campaigns:
        tester, result = each.specification.tester, each.result
        print(
            f'{each.folder!s:{width}}  {result.value!r} from {result.n} tests: estimate '
            f'{result.estimate:.6g} +- {result.half_width:.4g}, proposal {tester.proposal.kind}, '
            f'rule {result.rule}, seed {each.seed}'
        )
    values = {each.result.value for each in campaigns}
    same = len(values) == 1
    if same:
        print(f'same      {values.pop()!r}, to the last digit')
    else:
        print(f'DIFFERENT {" and ".join(map(repr, sorted(values)))}')
    for sentence in dict.fromkeys(each.result.agreement for each in campaigns):
        print(f'promise   {sentence}')
    print(f'paper     {_paper(campaigns)}')
    return 0 if same else DIFFERENT


def _require_one_contract(campaigns: list[FinishedCampaign]) -> None:
    first = campaigns[0]
    for each in campaigns[1:]:
        if each.result.replication_digest != first.result.replication_digest:
            raise ParameterError(
                'campaigns',
                f'{first.folder} and {each.folder}, whose values are no values of one partition '
                f'(digests {first.result.replication_digest[:12]} and '
                f'{each.result.replication_digest[:12]})',
                "campaigns of one contract: a replicator runs the initiator's replication.yaml",
            )


def _paper(campaigns: list[FinishedCampaign]) -> str:
    """Say how many tests the paper's rule takes on the same data."""
    counts = [paper_count(each) for each in campaigns]
    taken = ' + '.join(str(each.result.n) for each in campaigns)
    if not all(count.tests for count in counts):
        return f'How many tests its rule takes in place of {taken} is not known.'
    reached = all(count.reached for count in counts)
    paper = ' + '.join(str(count.tests) for count in counts)
    why = (
        'counted on the same tests'
        if reached
        else 'expected from mean and spread of these tests, within which it does not stop'
    )
    return (
        f'Its rule (empirical Bernstein, the same gamma and c) takes {"" if reached else "about "}'
        f'{paper} tests in place of {taken}: {why}.'
    )

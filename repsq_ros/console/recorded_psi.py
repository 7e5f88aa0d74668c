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

"""psi of every test of a recording, held against what a journal says of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from repsq_ros.campaign.recount import Recount
from repsq_ros.certificate.differences import ROUNDING, told
from repsq_ros.certificate.verification import Checked
from repsq_ros.recordings.recording import Recording
from repsq_ros.replay.bag_topics import TopicNames
from repsq_ros.replay.evaluated_campaign import evaluate_campaign


def recorded_psi(
    recounted: Recount, bags: Sequence[Path], names: TopicNames | None = None
) -> Checked:
    """Compute psi of every test again from the recordings of the campaign.

    :param bags: read as one recording
    :param names: of the topics in it; None: those of the specification

    :raises BagError: the recording cannot be read, or holds another campaign
    :raises MissingError: the reader of bags is not installed
    """
    what = f'psi again from {", ".join(bag.name for bag in bags)}'
    with Recording(bags) as recording:
        evaluated = evaluate_campaign(
            recording,
            recounted.specification,
            names or TopicNames.of('', ()),
            recounted.history.campaign_id,
        ).evaluated[None]
    found = {(each.segment.index, each.segment.attempt): each for each in evaluated}
    problems, held = [], 0
    for test in recounted.history.tests:
        if test.skipped or test.broken_off:
            continue  # nothing was measured
        name = f'test {test.index}, attempt {test.attempt}'
        each = found.get((test.index, test.attempt))
        if each is None:
            problems.append(f'{name}: not in the recording')
        elif each.outcome.valid != test.valid:
            words = {True: 'VALID', False: 'INVALID'}
            problems.append(
                f'{name}: {words[each.outcome.valid]} in the recording, {words[test.valid]} in '
                'the journal'
            )
        elif test.valid and not math.isclose(each.outcome.psi, test.psi, rel_tol=ROUNDING):
            problems.append(
                f'{name}: psi is {each.outcome.psi!r} in the recording, {test.psi!r} in the '
                'journal'
            )
        else:
            held += 1
    return Checked(what, told(problems), f'{held} tests')

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

"""A control variate is a fold over the tests: over DDS as in one process, to the last bit."""

import dataclasses

from support.campaigns import in_process, over_dds, undisturbed

from repsq_ros import topics
from repsq_ros.campaign.campaign import Campaign
from repsq_ros.messages import campaign_messages
from repsq_ros.specification.load import load


def test_a_control_learns_the_same_over_dds_and_from_the_journal(short, write, tmp_path):
    short['tester'].update(
        proposal={'type': 'adaptive', 'batch': 10},
        stopping={'rule': 'anytime'},
        control={'type': 'regression', 'interactions': True},
    )
    short['accuracy']['gamma'] = 0.08
    file = write(short)
    expected, tests = in_process(file)
    result, heard = over_dds(tmp_path / 'graph', file)
    assert undisturbed(result) == undisturbed(expected)
    assert 'the mean of v' in result.guarantee
    assert result.n > 20, 'the control is to have learnt a few times'
    found = {
        e.n: e.mean
        for e in map(campaign_messages.estimate_record_of, heard[topics.ESTIMATE])
        if e.n
    }
    assert found == {estimate.n: estimate.mean for _, estimate in tests}
    again = Campaign(load(file))
    for record, _ in tests:
        again.add(record)
    assert dataclasses.asdict(again.result(expected.campaign_id)) == dataclasses.asdict(expected)

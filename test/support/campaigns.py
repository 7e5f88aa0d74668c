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

"""The same campaign in one process and over DDS."""

from dataclasses import replace

from repsq_ros import topics
from repsq_ros.campaign.journal import JOURNAL, read_journal
from repsq_ros.campaign.journal_contents import fold
from repsq_ros.messages import campaign_messages
from repsq_ros.simulation.build import make_subject
from repsq_ros.simulation.in_process import run_in_process
from repsq_ros.specification.load import load
from support.graph import graph

AS_FAST_AS_POSSIBLE = {'speed': 0.0, 'seed': 7}


def journalled(folder):
    """Return the tests that the journal of a folder tells of."""
    file = folder / JOURNAL
    contents = fold(str(file), read_journal(file)[0]) if file.exists() else None
    return contents.tests if contents else ()


def undisturbed(result):
    """Return a result without what tells of attempts that were broken off.

    The specifications of these tests assume that instruments fail independently of psi: then only
    words tell of it, and no number.
    """
    events = tuple(event for event in result.events if 'broken off' not in event)
    return replace(
        result, broken_off=0, bench=0, extra_tests=0, lost_time=0.0, selection_bound=0.0,
        events=events, provisos=(), guarantee='', agreement='',
    )  # fmt: skip


def outcomes(tests):
    """Return what was measured, without attempts that were broken off."""
    return [(t.index, t.psi, t.weight, t.x) for t in tests if not t.broken_off]


def in_process(file, subject='surrogate', model='', campaign_id='lab', seed=7):
    tests = []
    result = run_in_process(
        load(file),
        make_subject(subject, model),
        seed,
        campaign_id=campaign_id,
        on_test=lambda record, estimate: tests.append((record, estimate)),
    )
    return result, tests


def over_dds(folder, file, **robot):
    with graph(folder) as nodes:
        nodes.start_campaign(file, {**AS_FAST_AS_POSSIBLE, **robot}, seed=7)
        result = nodes.result()
        assert nodes.wait('scheduler') == 0
        # The result may be heard before what led to it.
        for topic in (topics.TEST_COMMAND, topics.TEST_MEASUREMENT, topics.ESTIMATE):
            kept = nodes.listener.heard[topic]
            nodes.listener.until(lambda kept=kept: len(kept) >= result.n + result.invalid)
        return campaign_messages.result_of(result), nodes.listener.heard

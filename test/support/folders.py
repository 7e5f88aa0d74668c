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

"""Folders of campaigns as they are left behind, without nodes."""

from dataclasses import replace
from functools import partial

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.cases import CaseSource
from repsq_ros.campaign.folder import SPECIFICATION, CampaignFolder
from repsq_ros.campaign.journal_contents import CASE, TEST, case_line, line_of_test
from repsq_ros.campaign.journal_queue import LAST_PATIENCE, JournalQueue
from repsq_ros.campaign.records import Case, TestRecord
from repsq_ros.sampling.proposals import Draw
from repsq_ros.simulation.in_process import run_in_process
from repsq_ros.simulation.surrogate import Surrogate
from repsq_ros.specification.copies import copy_specification
from repsq_ros.specification.load import load

# On a busy machine a line takes longer than a robot would wait for it.
patient_queue = partial(JournalQueue, patience=LAST_PATIENCE)


def leave_folder(folder, file, tests, seed=1, tester_file=None, sessions=()):
    """Leave what `repsq run` leaves of a campaign with these tests; the result where it ended.

    :param sessions: numbers of tests before which a session begins
    """
    folder.mkdir(parents=True)
    if tester_file is not None:
        copy_specification(file, folder / SPECIFICATION, tester_file)
        file = folder / SPECIFICATION
    specification = load(file)
    journal = patient_queue(folder, specification, folder.name, seed)
    kept, campaign = CampaignFolder(folder, specification), Campaign(specification)
    proposal = specification.make_proposal()
    source = CaseSource(specification, proposal, seed)
    for place, record in enumerate(tests):
        test = record
        if place in sessions:
            journal.begin_session('', {})
        draw = Draw(test.x, 0.0, 0.0, test.weight_bound, test.weight)
        if proposal.ready(test.index):
            draw = source.draw(test.index)
            if proposal.unweighted:
                test = replace(test, x=draw.x)
        case = Case(test.index, test.attempt, draw)
        journal.write(CASE, case_line(case))
        source.learn(test)
        journal.write(TEST, line_of_test(test))
        estimate = campaign.add(test)
        if estimate is not None:
            kept.add(test, estimate)
    journal.close()
    if campaign.stopped:
        kept.finish(campaign.result(folder.name))
    kept.close()
    return folder


def simulate_folder(folder, file, tester_file=None, seed=None):
    """Leave the folder of a campaign on the surrogate."""
    specification, tests = load(file, tester_file), []
    seed = specification.tester.seed if seed is None else seed
    run_in_process(
        specification, Surrogate(), seed, on_test=lambda record, _: tests.append(record)
    )
    return leave_folder(folder, file, tests, seed, tester_file)


def seed_of(name):
    """Return a seed of its own for each name of a lab."""
    return int.from_bytes(name.encode(), 'big') % 2**31


def records_of(values):
    """Return VALID tests of weight 1 with these psi."""
    return [
        TestRecord(index, 0, psi, 1.0, True, x=(0.1, 0.1, 0.1), weight_bound=1.0)
        for index, psi in enumerate(values)
    ]

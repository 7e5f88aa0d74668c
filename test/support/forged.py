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

"""What a lab can do that cheats: a journal rewritten line by line, and chained again."""

import shutil

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.folder import CampaignFolder
from repsq_ros.campaign.journal import JOURNAL, Entry, Journal, read_journal
from repsq_ros.campaign.journal_contents import BEGIN, TEST, fold
from repsq_ros.specification.load import load


def lines_of(folder):
    """Return the lines of a journal, as (event, content)."""
    entries, _, _ = read_journal(folder / JOURNAL)
    return [(entry.event, dict(entry.content)) for entry in entries]


def forge(folder, file, lines):
    """Leave a folder with these lines, in which every digest, table and result fits.

    :param file: the specification
    :param lines: (event, content) of each
    """
    shutil.rmtree(folder, ignore_errors=True)
    specification = load(file)
    kept, campaign = CampaignFolder(folder, specification), Campaign(specification)
    journal = Journal(folder / JOURNAL)
    assert lines[0][0] == BEGIN
    for event, content in lines:
        journal.append(event, **content)
    journal.close()
    for test in fold('', [Entry(*line) for line in lines]).tests:
        estimate = campaign.add(test)
        if estimate is not None:
            kept.add(test, estimate)
    if campaign.stopped:
        kept.finish(campaign.result(str(lines[0][1]['campaign_id'])))
    kept.close()
    return folder


def outcomes_in(lines, index=None):
    """Return the contents of the tests, or of the attempts at one."""
    return [
        content
        for event, content in lines
        if event == TEST and index in (None, content['index'])
    ]  # fmt: skip

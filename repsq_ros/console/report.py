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

"""repsq report: a page about campaigns, for people."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from repsq_ros.console.outputs import add_force, refuse_others_file
from repsq_ros.errors import OutputError, ParameterError
from repsq_ros.json_answer import add_json, print_json, text_beside
from repsq_ros.report.browser import find_browser, print_pdf
from repsq_ros.report.campaign_data import AuditedTopic, gather
from repsq_ros.report.page import render

NAME = 'report.html'
GENERATOR = 'content="repsq report"'  # in every page
PRINTED = 'Skia/PDF'  # in every PDF that the browser prints
OWN = ('repsq_ros/', 'rcl_interfaces/', 'rosgraph_msgs/')  # types of no sensor


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument(
        'campaigns',
        type=Path,
        nargs='+',
        metavar='CAMPAIGN',
        help='folders of campaigns, finished or not; several are shown side by side',
    )
    parser.add_argument(
        '--output',
        type=Path,
        metavar='FILE',
        help=f'the page (default: {NAME} in the first folder); an earlier page is replaced',
    )
    add_force(parser)
    parser.add_argument('--pdf', action='store_true', help='print it to a PDF beside it as well')
    parser.add_argument(
        '--bag', type=Path, help='a recording of the first campaign: its sensors are audited'
    )
    parser.add_argument(
        '--poses',
        type=Path,
        metavar='TABLE',
        help='attained poses of the first campaign, as for repsq iso9283',
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the page."""
    folders: list[Path] = arguments.campaigns
    file: Path = arguments.output or folders[0] / NAME
    refuse_others_file(file, GENERATOR, arguments.force)
    if arguments.pdf:
        refuse_others_file(file.with_suffix('.pdf'), PRINTED, arguments.force)
        find_browser()  # report a missing browser before the work
        if file.suffix == '.pdf':
            raise ParameterError('output', f'{file}', 'the name of the page; the PDF is beside it')
    campaigns = [gather(folder) for folder in folders]
    names = [campaign.name for campaign in campaigns]
    if len(set(names)) < len(names):  # such as lab1/campaign, lab2/campaign
        campaigns = [
            replace(campaign, name='/'.join(folder.resolve().parts[-2:]))
            for campaign, folder in zip(campaigns, folders, strict=True)
        ]
    if arguments.bag is not None or arguments.poses is not None:
        bag, poses = arguments.bag, arguments.poses
        campaigns[0] = replace(
            campaigns[0],
            audits=() if bag is None else audited_topics(bag),
            poses=() if poses is None else lines_of_poses(poses),
        )
    page = render(campaigns)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(page, encoding='utf-8')
    except OSError as error:
        raise OutputError(
            f'output {file}: {error.strerror}, expected a file that can be written'
        ) from None
    out = text_beside(arguments.json)
    print(f'written   {file} ({file.stat().st_size / 1e6:.1f} MB)', file=out)
    printed = None
    if arguments.pdf:
        printed = file.with_suffix('.pdf')
        printed.unlink(missing_ok=True)
        print_pdf(file, printed)
        print(f'printed   {printed}', file=out)
    if arguments.json:
        names = [campaign.name for campaign in campaigns]
        print_json({'campaigns': names, 'page': file, 'pdf': printed})
    return 0


def audited_topics(bag: Path) -> tuple[AuditedTopic, ...]:
    """Return the audit of each sensor's topic in a recording.

    :raises BagError: it cannot be read
    :raises MissingError: the reader of bags is not installed
    """
    # Imported here: reports without recordings start faster.
    from repsq_ros.console.recorded_inputs import print_losses
    from repsq_ros.recordings.audits import audits_of
    from repsq_ros.recordings.recording import Recording

    with Recording(bag) as recording:
        audits = audits_of(recording, recording.topics())
        print_losses(recording.losses)
    return tuple(
        AuditedTopic(each.title, tuple(each.lines()))
        for each in audits
        if not each.type.startswith(OWN)
    )


def lines_of_poses(table: Path) -> tuple[tuple[str, str], ...]:
    """Return the lines of `repsq iso9283` on a table of attained poses.

    :raises BagError: it cannot be read
    """
    from repsq_ros.iso9283.pose_criteria import lines_of_table

    return tuple(lines_of_table(table))

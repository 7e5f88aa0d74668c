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

"""What a message of the monitor costs, with many tests on the board.

    .venv/bin/with_repsq python3 benchmarks/monitor_messages.py [--tests 10000]

The reference is one message that holds every test anew, as the monitor of version 0.1.0 sent it:
a single list of spheres, built and serialised in the same run. Prints processor time per message,
one more test and one more glimpse of the robot between two of them, and the ratio.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from geometry_msgs.msg import Point
from rclpy.serialization import serialize_message
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from repsq_ros.campaign.records import CountedAttempt, EstimateRecord, TestRecord
from repsq_ros.measurement.samples import body_sample
from repsq_ros.nodes.markers import MarkerSheet
from repsq_ros.protocols.phases import Phase, Span
from repsq_ros.specification.load import load
from repsq_ros.views.board_updates import BoardUpdater
from repsq_ros.views.campaign_state import CampaignState, CaseHeard
from repsq_ros.views.path_recorder import PathRecorder

SPECIFICATION = Path(__file__).resolve().parent.parent / 'config' / 'g1_locomotion.yaml'
ROUNDS = 100
SECOND = 1_000_000_000


def counted(k: int) -> CountedAttempt:
    """Return the k-th attempt."""
    x = tuple(0.3 * math.sin(0.7 * k * (d + 1)) for d in range(3))
    psi = 0.5 + 0.4 * math.sin(1.3 * k)
    record = TestRecord(k, 0, psi, 1.0, True, '', 100, 8 * k * SECOND, (8 * k + 5) * SECOND, x)
    estimate = EstimateRecord(
        k, 0, k + 1, 0, 0, 0, 0.5, 0.08, 0.45, 0.55, 0.05, 0.04, 'anytime', 20_000, k + 1.0, 1.0,
        False,
    )  # fmt: skip
    return CountedAttempt(record, estimate)


def processor_ms(action: Callable[[], object]) -> float:
    """Return the processor time of an action [ms]."""
    began = time.process_time()
    action()
    return (time.process_time() - began) * 1e3


def everything(story: CampaignState) -> bytes:
    """Return one message that holds all tests."""
    marker = Marker(ns='cases', type=Marker.SPHERE_LIST)
    for each in story.counted:
        x, y, z = each.record.x
        marker.points.append(Point(x=x, y=y, z=z))
        marker.colors.append(ColorRGBA(r=each.record.psi, g=0.5, b=0.5, a=1.0))
    return bytes(serialize_message(MarkerArray(markers=[marker])))


def main() -> None:
    """Time both, by turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--tests', type=int, default=10_000)
    tests = parser.parse_args().tests
    specification = load(SPECIFICATION)
    source = specification.body_input
    assert source is not None
    story, show, sheet, seen = (
        CampaignState(), BoardUpdater(specification), MarkerSheet('repsq'), PathRecorder(source)
    )  # fmt: skip
    for k in range(tests):
        story.on_counted('benchmark', counted(k))
    case = CaseHeard(tests, 0, specification.box.names, ('m/s',) * 3, (0.1, 0.1, 0.1))
    story.on_phase('benchmark', case, Span(Phase.COMMAND, tests, 0, 0, SECOND, (0.1, 0.1, 0.1)))

    sizes: list[int] = []

    def message() -> None:
        change = show.change(story, seen.trail())
        if change.redraw:
            sheet.wipe()
        sheet.keep(change.still)
        for group in change.grown:
            sheet.grow(group)
        sizes.append(len(serialize_message(sheet.message(change.moving))))

    first = processor_ms(message)
    joining = [processor_ms(message) for _ in iter(lambda: sheet.owes, False)]
    usual, reference = [], []
    for k in range(ROUNDS):
        story.on_counted('benchmark', counted(tests + k))
        seen.add(
            body_sample(k * SECOND // 20, (0.01 * k, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0),
                       (0.1, 0.0, 0.0), (0.0, 0.0, 0.1)),
            (0.1, 0.1, 0.1),
        )  # fmt: skip
        usual.append(processor_ms(message))
        if k % 10 == 0:
            reference.append(processor_ms(lambda: everything(story)))
    middle, whole = np.median(usual), np.median(reference)
    print(
        f'{tests} tests in three panels: {middle:.1f} ms of processor a message (slowest '
        f'{max(usual):.1f}), {np.median(sizes[-ROUNDS:]) / 1e3:.0f} kB'
    )
    print(
        f'begun anew {first:.0f} ms, then all of it to who joins in {len(joining)} messages of '
        f'{np.median(joining):.1f} ms' if joining else f'begun anew {first:.0f} ms'
    )  # fmt: skip
    print(f'every test in each message: {whole:.1f} ms; ratio {middle / whole:.3f}')


if __name__ == '__main__':
    main()

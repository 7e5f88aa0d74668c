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

"""Tests that are lost more often if psi is high: results of each way to count them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.records import TestRecord
from repsq_ros.campaign.result import Result
from repsq_ros.paper.drawing import share_panel, style
from repsq_ros.paper.study_interface import (
    Finding,
    Row,
    Study,
    StudyOutcome,
    StudyRequest,
    by_name,
    campaigns_of,
    number,
    parts,
    row_of,
    seed_of,
    sizes,
)
from repsq_ros.paper.written import share
from repsq_ros.seeds import RandomStream, generator
from repsq_ros.specification.accuracy_section import SelectionBias
from repsq_ros.specification.load import load
from repsq_ros.specification.model import Specification
from repsq_ros.specification.reader import Section
from repsq_ros.studies.expected_promise import altered
from repsq_ros.studies.laws import read_law

CHUNK = 10  # campaigns per task
WIDEN, ASSUME = SelectionBias
SHARES = ('invalid', 'skipped', 'paused')  # fields of Loss


@dataclass(frozen=True)
class Loss:
    """How attempts with psi of at least `above` are lost, with which probability."""

    invalid: float = 0.0
    skipped: float = 0.0
    paused: float = 0.0
    above: float = 0.0


@dataclass(frozen=True)
class SelectionSetting:
    """The settings of the study."""

    campaigns: Mapping[str, Specification]  # one for each SelectionBias
    law: str
    losses: Mapping[str, Loss]
    runs: int
    seed: int


def _read(section: Section, asked: StudyRequest) -> SelectionSetting:
    specification = load(Path(section.file).parent / section.text('campaign'))
    measure, law = specification.measure, section.text('law')
    found = read_law(law, measure.lower, measure.upper)
    if found.mean is None:
        raise section.fail('law', repr(law), 'one whose mean is known')
    made = altered(specification, gamma=section.number('gamma', above=0, below=1))
    made = replace(
        made, tester=replace(made.tester, max_tests=section.whole('max_tests', at_least=2))
    )
    losses = {}
    for name, each in section.named('losses'):
        invalid, skipped, paused = (
            each.number(share, 0.0, at_least=0, below=1) for share in SHARES
        )
        losses[name] = Loss(invalid, skipped, paused, each.number('above', 0.0))
    return SelectionSetting(
        {
            way: replace(made, accuracy=replace(made.accuracy, selection=way))
            for way in SelectionBias
        },
        law,
        losses,
        sizes(section, asked, campaigns_of),
        seed_of(section, asked),
    )


def _pieces(setting: SelectionSetting) -> Sequence[tuple[str, int, int]]:
    return parts(setting.losses, setting.runs, CHUNK)


def _work(setting: SelectionSetting, piece: tuple[str, int, int]) -> dict[str, list[Result]]:
    name, begin, end = piece
    place = list(setting.losses).index(name)
    return {
        way: [
            _campaign(setting, specification, setting.losses[name], place, run)
            for run in range(begin, end)
        ]
        for way, specification in setting.campaigns.items()
    }


def _campaign(
    setting: SelectionSetting, specification: Specification, loss: Loss, place: int, run: int
) -> Result:
    """Run one campaign; the attempts are the same for all ways to count them."""
    random = generator(setting.seed, RandomStream.STUDY, place, run)
    seed = int(random.integers(2**31))
    law = read_law(setting.law, specification.measure.lower, specification.measure.upper)
    campaign, proposal = Campaign(specification, forecasts=False), specification.make_proposal()
    index = attempt = 0
    while not campaign.stopped and index < 10 * specification.tester.max_tests:
        draw = proposal.draw(index, seed)
        psi = law.draw(specification.box.to_unit(draw.x), random)
        lost = float(random.random()) if psi >= loss.above else 1.0
        record = TestRecord(
            index, attempt, psi, draw.weight, True, x=draw.x, weight_bound=draw.weight_bound
        )
        if lost < loss.invalid:
            record = replace(record, psi=0.0, valid=False, reason='tracking lost')
        elif lost < loss.invalid + loss.skipped:
            record = replace(record, psi=0.0, valid=False, skipped=True, reason='operator')
        elif lost < loss.invalid + loss.skipped + loss.paused:
            record = replace(record, psi=0.0, valid=False, broken_off=True, reason='paused')
        campaign.add(record)
        index, attempt = record.follower
    return campaign.result(f'{place}/{run}')


def _conclude(
    setting: SelectionSetting, results: Sequence[dict[str, list[Result]]]
) -> StudyOutcome:
    rows = [
        _row(setting, name, way, [each for part in own for each in part[way]])
        for name, own in by_name(_pieces(setting), results).items()
        for way in setting.campaigns
    ]
    return StudyOutcome({'': rows}, tuple(_findings(setting, rows)))


def _row(setting: SelectionSetting, name: str, way: str, results: Sequence[Result]) -> Row:
    measure = setting.campaigns[way].measure
    truth = read_law(setting.law, measure.lower, measure.upper).mean
    assert truth is not None
    attempts = [r.n + r.invalid + r.broken_off + r.skipped for r in results]
    lost = [r.invalid + r.broken_off + r.skipped for r in results]
    reached = [r for r in results if r.outcome == 'reached']
    missed = sum(not r.lower <= truth <= r.upper for r in results)
    within = sum(abs(r.estimate - truth) > r.gamma for r in reached)
    return {
        'loss': name,
        'counted': way,
        'campaigns': len(results),
        'reached': len(reached),
        'attempts_mean': float(np.mean(attempts)),
        'lost_share': sum(lost) / sum(attempts),
        'truth': truth,
        'estimate_mean': float(np.mean([r.estimate for r in results])),
        'shift_mean': float(np.mean([r.estimate for r in results])) - truth,
        'shift_error': float(np.std([r.estimate for r in results])) / len(results) ** 0.5,
        'selection_bound_mean': float(np.mean([r.selection_bound for r in results])),
        'half_width_mean': float(np.mean([r.half_width for r in results])),
        'accurate': sum(r.accurate for r in results),
        **share('interval_missed', missed, len(results)),
        **share('far', within, len(reached)),
    }


def _findings(setting: SelectionSetting, rows: Sequence[Row]) -> Iterator[Finding]:
    c = setting.campaigns[WIDEN].accuracy.c
    for name, loss in setting.losses.items():
        widened = row_of(rows, loss=name, counted=WIDEN)
        yield Finding(
            f'{name}: the widened interval misses in {widened["interval_missed_count"]} of '
            f'{widened["interval_missed_of"]} campaigns',
            number(widened, 'interval_missed_low') <= c,
        )
        shift, bound = abs(number(widened, 'shift_mean')), number(widened, 'selection_bound_mean')
        yield Finding(
            f'{name}: the mean is shifted by {shift:.3g}, selection_bound says {bound:.3g} '
            'at most',
            shift <= bound + 4.0 * number(widened, 'shift_error'),
        )
        if loss.above > 0.0 and loss.invalid + loss.skipped + loss.paused >= 0.5:
            assumed = row_of(rows, loss=name, counted=ASSUME)
            yield Finding(
                f'{name}: assuming independence, the interval misses in '
                f'{assumed["interval_missed_count"]} of {assumed["interval_missed_of"]} campaigns',
                number(assumed, 'interval_missed_low') > c,
            )


def _draw(setting: SelectionSetting, figure: Any, found: StudyOutcome) -> None:
    left, right = figure.subplots(1, 2, sharey=True)
    names = list(setting.losses)
    series = {
        way: [row_of(found.tables[''], loss=name, counted=way) for name in names]
        for way in setting.campaigns
    }
    for place, (way, rows) in enumerate(series.items()):
        left.errorbar(
            [number(row, 'estimate_mean') for row in rows],
            [k + (place - 0.5) * 0.25 for k in range(len(rows))],
            xerr=[number(row, 'half_width_mean') for row in rows],
            capsize=3,
            linestyle='none',
            label=way,
            **style(place + 1),
        )
    label = 'campaigns whose interval misses r*'
    share_panel(right, names, series, 'interval_missed', label, first=1, apart=0.25)
    truth = number(found.tables[''][0], 'truth')
    left.axvline(truth, color='black', label='r*')
    left.set_yticks(range(len(names)), names)
    left.set(xlabel='mean estimate and half-width [1]')
    left.legend(fontsize='x-small')
    c = setting.campaigns[WIDEN].accuracy.c
    right.axvline(c, color='0.4', linestyle='--', label='c')
    right.legend(fontsize='x-small')


SELECTION = Study(
    'selection', _read, _pieces, _work, _conclude, _draw,
    {
        '': ('loss', 'counted', 'reached', 'campaigns', 'attempts_mean', 'lost_share',
             'estimate_mean', 'shift_mean', 'selection_bound_mean', 'half_width_mean',
             'interval_missed_count', 'far_count', 'far_of'),
    },
)  # fmt: skip

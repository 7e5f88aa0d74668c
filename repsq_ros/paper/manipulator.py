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

"""ISO 9283 compared with the method: how often trials report the same displacement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from repsq_ros.estimation.moments import EmpiricalBernstein
from repsq_ros.estimation.partition import Partition
from repsq_ros.paper.manipulator_figure import draw
from repsq_ros.paper.methods import ANCHORED, ANYTIME, CERTIFIED, ISO, PAPER, READOUT
from repsq_ros.paper.stops import (
    AskedOnRange,
    Numbers,
    StoppedCampaigns,
    anytime_stops,
    cell_stops,
    fixed_stops,
    moment_stops,
)
from repsq_ros.paper.study_interface import (
    Cell,
    Finding,
    Row,
    Study,
    StudyOutcome,
    StudyRequest,
    agreement_found,
    by_name,
    number,
    paired,
    parts,
    row_of,
    seed_of,
    sizes,
)
from repsq_ros.paper.written import share
from repsq_ros.seeds import RandomStream, generator
from repsq_ros.specification.accuracy_section import read_accuracy
from repsq_ros.specification.reader import Section
from repsq_ros.studies.laws import Law, read_law

CHUNK = 20  # trials per task, an even number
FIRST = 3  # number of trials that are listed


@dataclass(frozen=True)
class DisplacementSubject(AskedOnRange):
    """A subject: the law of its displacement and the requested accuracy; lengths in mm."""

    law: str
    cycles: int
    readout: float

    @property
    def read(self) -> Law:
        """Return its law."""
        return read_law(self.law, 0.0, self.upper)

    @property
    def mean(self) -> float:
        """Return r*."""
        found = self.read.mean
        assert found is not None
        return found


@dataclass(frozen=True)
class ManipulatorSetting:
    """The settings of the study."""

    subjects: Mapping[str, DisplacementSubject]
    trials: int
    most_tests: int
    seed: int


@dataclass(frozen=True)
class Trials:
    """Some trials of one subject."""

    stopped: Mapping[str, StoppedCampaigns]
    deviations: Numbers  # standard deviation of the ISO procedure's readings [mm], for each trial


def _read(section: Section, asked: StudyRequest) -> ManipulatorSetting:
    subjects = {}
    for name, each in section.named('subjects'):
        upper = each.number('range', above=0)
        law, cycles = each.text('law'), each.whole('cycles', at_least=2)
        readout, accuracy = each.number('readout', above=0), each.section('accuracy')
        subjects[name] = DisplacementSubject(
            upper, read_accuracy(accuracy, upper), law, cycles, readout
        )
        found = subjects[name].read
        if found.mean is None or found.many is None:
            raise each.fail('law', found.text, 'one that does not depend on the case')
    trials, most = sizes(section, asked, _sizes)
    return ManipulatorSetting(subjects, trials, most, seed_of(section, asked))


def _sizes(section: Section) -> tuple[int, int]:
    return paired(section, 'trials', FIRST), section.whole('most_tests', at_least=2)


def _pieces(setting: ManipulatorSetting) -> Sequence[tuple[str, int, int]]:
    return parts(setting.subjects, setting.trials, CHUNK)


def _work(setting: ManipulatorSetting, piece: tuple[str, int, int]) -> Trials:
    name, begin, end = piece
    subject, place = setting.subjects[name], list(setting.subjects).index(name)
    tests = max(setting.most_tests, subject.cycles)
    many = subject.read.many
    assert many is not None
    z = np.stack([
        many(generator(setting.seed, RandomStream.STUDY, place, trial), tests)
        for trial in range(begin, end)
    ])  # fmt: skip
    question, iso = subject.question, fixed_stops(z, subject.cycles)
    read = np.round(iso.mean / subject.readout) * subject.readout
    anytime = anytime_stops(z, question)
    return Trials(
        {
            ISO: iso, READOUT: StoppedCampaigns(iso.n, iso.mean, iso.reached, read),
            PAPER: moment_stops(z, EmpiricalBernstein(), question), ANYTIME: anytime,
            ANCHORED: anytime, CERTIFIED: cell_stops(z, question),
        },
        np.std(z[:, : subject.cycles], axis=1, ddof=1),
    )  # fmt: skip


def _conclude(setting: ManipulatorSetting, results: Sequence[Trials]) -> StudyOutcome:
    rows, first = [], []
    shown: dict[str, Trials] = {}
    for name, own in by_name(_pieces(setting), results).items():
        subject = setting.subjects[name]
        shown[name] = whole = Trials(
            StoppedCampaigns.of_rules([each.stopped for each in own]),
            np.concatenate([each.deviations for each in own]),
        )
        for method, stopped in whole.stopped.items():
            rows.append(_row(name, subject, method, stopped, whole.deviations))
            first += _first(name, subject, method, stopped, whole.deviations)
    findings = tuple(_findings(setting, rows))
    return StudyOutcome({'': rows, '_trials': first}, findings, shown)


def _values(subject: DisplacementSubject, method: str, stopped: StoppedCampaigns) -> list[float]:
    """Return the reported value of each trial: on cells, or as displayed by the gauge."""
    if method in (ISO, READOUT):
        return [float(each) for each in stopped.decided]
    cells = subject.cells
    if method == ANCHORED:
        half_width = 2.0 * subject.accuracy.gamma
        cells = Partition.anchored(0.0, subject.upper, float(stopped.mean[0]), half_width)
    return stopped.values(cells)


def _row(
    name: str,
    subject: DisplacementSubject,
    method: str,
    stopped: StoppedCampaigns,
    deviations: Numbers,
) -> Row:
    values, gamma = _values(subject, method, stopped), subject.accuracy.gamma
    if method == ANCHORED:
        same = stopped.same_as_initiator(0.0, subject.upper, 2.0 * gamma)
    elif method in (ISO, READOUT):
        pairs = list(zip(values[::2], values[1::2], strict=True))
        same = sum(a == b for a, b in pairs), len(pairs)
    else:
        same = stopped.same(subject.cells)
    met = int(stopped.reached.sum())
    far = np.abs(stopped.mean - subject.mean) > gamma
    if method == CERTIFIED:
        halves = np.diff(subject.cells.edges).max() / 2.0
        far = (np.abs(stopped.decided - subject.mean) > halves * (1 + 1e-12)) & stopped.reached
    usual = max(set(values), key=values.count)
    return {
        'subject': name, 'method': method, 'trials': len(values), 'met_rule': met,
        'tests_mean': float(stopped.n.mean()), 'tests_least': int(stopped.n.min()),
        'tests_most': int(stopped.n.max()), 'mean': float(stopped.mean.mean()),
        'mean_sd': float(stopped.mean.std(ddof=1)), 'deviation': float(deviations.mean()),
        'deviation_least': float(deviations.min()), 'deviation_most': float(deviations.max()),
        **share('missed', int(far.sum()), len(values)), **share('same', *same),
        'usual_value': usual, **share('usual', values.count(usual), len(values)),
    }  # fmt: skip


def _first(
    name: str,
    subject: DisplacementSubject,
    method: str,
    stopped: StoppedCampaigns,
    deviations: Numbers,
) -> list[Row]:
    values, iso = _values(subject, method, stopped), method in (ISO, READOUT)
    rows: list[Row] = []
    for trial in range(FIRST):
        deviation: Cell = float(deviations[trial]) if iso else ''
        rows.append({
            'subject': name, 'method': method, 'trial': trial + 1,
            'tests': int(stopped.n[trial]), 'mean': float(stopped.mean[trial]),
            'deviation': deviation, 'value': values[trial],
        })  # fmt: skip
    return rows


def _findings(setting: ManipulatorSetting, rows: Sequence[Row]) -> Iterator[Finding]:
    for name, subject in setting.subjects.items():
        c = subject.accuracy.c
        anchored = row_of(rows, subject=name, method=ANCHORED)
        yield agreement_found(name, anchored, c, at_least=0.85)
        iso = row_of(rows, subject=name, method=READOUT)
        yield Finding(
            f'{name}: {iso["same_count"]} of {iso["same_of"]} pairs of ISO trials report the same '
            'mean, as the gauge shows it',
            number(iso, 'same_high') < (1.0 - c) ** 2,
        )
    for name, subject in setting.subjects.items():
        row = row_of(rows, subject=name, method=PAPER)
        if min(abs(subject.mean - edge) for edge in subject.cells.edges) < 1e-9:
            yield Finding(
                f"{name}: {row['same_count']} of {row['same_of']} pairs of the paper's rule "
                'agree, about one half',
                number(row, 'same_low') <= 0.5 <= number(row, 'same_high'),
            )


MANIPULATOR = Study(
    'manipulator', _read, _pieces, _work, _conclude, draw,
    {
        '': ('subject', 'method', 'met_rule', 'tests_mean', 'tests_least', 'tests_most',
             'mean_sd', 'missed_count', 'same_count', 'same_of', 'same_low', 'same_high',
             'usual_count'),
    },
)  # fmt: skip

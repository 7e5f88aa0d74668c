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

"""A whole simulated campaign in one process: the same core, without ROS."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.conductor import Action, Conductor
from repsq_ros.campaign.folder import CampaignFolder
from repsq_ros.campaign.journal_queue import LAST_PATIENCE, JournalQueue
from repsq_ros.campaign.records import EstimateRecord, TestRecord, record_of
from repsq_ros.campaign.result import Result
from repsq_ros.campaign.windows import window_of
from repsq_ros.errors import CampaignError, ParameterError
from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.recorder import Recorder
from repsq_ros.measurement.samples import Samples
from repsq_ros.protocols.phases import Phase, Span
from repsq_ros.simulation.simulated_sensors import sample_of, sensor_of
from repsq_ros.simulation.simulation import Simulation
from repsq_ros.simulation.subject import Subject
from repsq_ros.specification.model import Specification


def require_fit(subject: Subject, specification: Specification) -> None:
    """Refuse a simulated robot that takes another kind of command, or lacks a sensor.

    :raises ParameterError: which one
    """
    kind = specification.protocol.kind
    if subject.takes != kind:
        raise ParameterError('subject', f'one that takes a {subject.takes}', f'one for a {kind}')
    inputs = [specification.measure.input]
    if specification.feedback is not None:
        inputs.append(specification.feedback)
    for each in inputs:
        if sensor_of(each) not in subject.sensors:
            raise ParameterError(
                'subject',
                f'one without {each.type} on {each.topic}',
                f'an input of its own: {", ".join(subject.sensors)}',
            )


def run_in_process(
    specification: Specification,
    subject: Subject,
    seed: int,
    rates: Mapping[str, float] | None = None,
    campaign_id: str = 'in_process',
    on_test: Callable[[TestRecord, EstimateRecord], None] | None = None,
    before: Callable[[Action], None] | None = None,
    heard: Callable[[Input, Samples], Samples] | None = None,
) -> Result:
    """Run a campaign on a simulated subject.

    :param rates: [Hz] of simulated sensors, if different from the default
    :param on_test: called after each test with its record and the estimate
    :param before: called with each case, phase and counted test before it is carried out
    :param heard: called with each input's samples; returns the samples to use instead
    :raises CampaignError: a test stayed INVALID, or a phase did not end
    :raises ParameterError: the subject does not fit the specification
    """
    require_fit(subject, specification)
    conductor = Conductor(specification, specification.make_proposal(), seed)
    if not conductor.can_start:
        raise CampaignError('cases of another program come by a topic: run it with repsq run')
    campaign = Campaign(specification, forecasts=on_test is not None)
    world = _World(specification, Simulation(subject, seed, 0, rates), conductor, heard)
    actions: list[Action] = conductor.start(0)
    while True:
        for action in actions:
            if before is not None:
                before(action)
            if isinstance(action, Span):
                world.live_through(action)
        if conductor.finished:
            break
        span, case = conductor.span, conductor.case
        if span is None or span.end_ns is None or case is None:
            break
        key = (case.index, case.attempt)
        if span.phase is Phase.IDLE:
            record = record_of(key, case.draw, *world.recorder.close(key))
            estimate = campaign.add(record)
            if estimate is None:
                raise RuntimeError(f'{record} does not continue the campaign')
            conductor.on_measurement(record)
            conductor.on_estimate(estimate)
            if on_test is not None:
                on_test(record, estimate)
        actions = conductor.advance(span.end_ns)
    if not campaign.stopped:
        raise CampaignError(conductor.span.reason if conductor.span else 'not begun')
    return campaign.result(campaign_id)


def run_into_folder(
    specification: Specification,
    subject: Subject,
    seed: int,
    folder: Path,
    campaign_id: str,
    parameters: dict[str, object],
    on_test: Callable[[TestRecord, EstimateRecord], None],
) -> Result:
    """Run a campaign on a simulated subject, and write the same folder as the nodes.

    :param folder: new, for journal, tests and result
    :param parameters: parameters for the journal
    :raises CampaignError: a test stayed INVALID, or a phase did not end
    :raises OutputError: the folder cannot be written, or holds another campaign
    """
    kept = CampaignFolder(folder, specification)
    journal = JournalQueue(folder, specification, campaign_id, seed, patience=LAST_PATIENCE)

    def count(record: TestRecord, estimate: EstimateRecord) -> None:
        kept.add(record, estimate)
        on_test(record, estimate)

    try:
        journal.begin_session('', parameters)
        result = run_in_process(
            specification, subject, seed, campaign_id=campaign_id, on_test=count,
            before=journal.write_action,
        )  # fmt: skip
        kept.finish(result)
    finally:
        kept.close()
        journal.close()
    return result


def simulate_case(
    specification: Specification, subject: Subject, x: tuple[float, ...], seed: int
) -> float | None:
    """Return psi of one simulated test; None if it is INVALID or does not end.

    :raises ParameterError: the subject does not fit the specification
    """
    require_fit(subject, specification)
    specification = specification.of_case(x)
    conductor = Conductor(specification, specification.make_proposal(), seed)
    world = _World(specification, Simulation(subject, seed, 0), conductor, None)
    actions: list[Action] = conductor.start(0)
    while True:
        for action in actions:
            if isinstance(action, Span):
                world.live_through(action)
        span, case = conductor.span, conductor.case
        if span is None or span.end_ns is None or case is None:
            return None
        if span.phase is Phase.IDLE:
            key = (case.index, case.attempt)
            record = record_of(key, case.draw, *world.recorder.close(key))
            return record.psi if record.valid and math.isfinite(record.psi) else None
        actions = conductor.advance(span.end_ns)


class _World:
    """The simulated robot with its sensors and their receivers."""

    def __init__(
        self,
        specification: Specification,
        simulation: Simulation,
        conductor: Conductor,
        heard: Callable[[Input, Samples], Samples] | None,
    ) -> None:
        measure = specification.measure
        self._simulation, self._heard = simulation, heard
        self.recorder = Recorder(measure)
        # The receivers of each sensor's reports, with the input by which they are read.
        self._takers: list[tuple[str, Input, Callable[[Samples], None]]] = [
            (sensor_of(measure.input), measure.input, self.recorder.add)
        ]
        if specification.feedback is not None:
            feedback = specification.feedback
            self._takers.append((sensor_of(feedback), feedback, conductor.on_body))
        for condition, source in zip(measure.conditions, measure.condition_inputs, strict=True):
            add = partial(self.recorder.add, condition=condition.name)
            self._takers.append((sensor_of(source), source, add))
        self._before: Span | None = None

    def live_through(self, span: Span) -> None:
        if span.begins_test(self._before):
            self._simulation.begin(span.index, span.start_ns, span.attempt)
        self._before = span
        window = window_of(span)
        if window is not None:
            self.recorder.open((span.index, span.attempt), window)
        if span.end_ns is None:
            return
        for reading in self._simulation.advance(span.end_ns, span.command):
            for sensor, source, take in self._takers:
                if reading.sensor == sensor:
                    sample = sample_of(reading, source.frame)
                    take(sample if self._heard is None else self._heard(source, sample))

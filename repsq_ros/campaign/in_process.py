"""A whole simulated campaign in one process: the same core, without ROS."""

from __future__ import annotations

from collections.abc import Callable

from repsq_ros.campaign.campaign import Campaign
from repsq_ros.campaign.conductor import Action, Conductor
from repsq_ros.campaign.records import EstimateRecord, TestRecord, record_of
from repsq_ros.campaign.result import Result
from repsq_ros.errors import CampaignError
from repsq_ros.measurement.recorder import Recorder, Window
from repsq_ros.measurement.samples import BodySample
from repsq_ros.protocols.phases import Phase, Span
from repsq_ros.specification.model import Specification
from repsq_ros.subjects.simulation import Reading, SensorRates, Simulation
from repsq_ros.subjects.subject import Subject


def run_in_process(
    specification: Specification,
    subject: Subject,
    seed: int,
    rates: SensorRates | None = None,
    campaign_id: str = 'in_process',
    on_test: Callable[[TestRecord, EstimateRecord], None] | None = None,
) -> Result:
    """Run a campaign on a simulated subject.

    :param on_test: called after each test with its record and the estimate
    :raises CampaignError: a test stayed INVALID
    """
    conductor = Conductor(specification, specification.make_proposal(), seed)
    campaign = Campaign(specification)
    recorder = Recorder(specification.measure)
    simulation = Simulation(subject, seed, rates or SensorRates(), 0)
    if not conductor.can_start:
        raise CampaignError('cases of another program come by a topic: run it with repsq run')
    actions: list[Action] = conductor.start(0)
    while not conductor.finished:
        for action in actions:
            if isinstance(action, Span):
                _live_through(action, simulation, recorder, specification.measure.source)
        span, case = conductor.span, conductor.case
        if span is not None and case is not None and span.phase is Phase.COMMAND:
            key = (case.index, case.attempt)
            record = record_of(key, case.draw, *recorder.close(key))
            estimate = campaign.add(record)
            if estimate is None:
                raise RuntimeError(f'{record} does not continue the campaign')
            conductor.hear_measurement(record)
            conductor.hear_estimate(estimate)
            if on_test is not None:
                on_test(record, estimate)
        if span is not None and span.end_ns is not None:
            actions = conductor.advance(span.end_ns)
    if not campaign.stopped:
        raise CampaignError(conductor.span.reason if conductor.span else 'not begun')
    return campaign.result(campaign_id)


def _live_through(span: Span, simulation: Simulation, recorder: Recorder, source: str) -> None:
    if span.phase is Phase.DWELL:
        simulation.begin(span.index, span.attempt, span.start_ns)
    if span.window is not None:
        recorder.open(
            (span.index, span.attempt), Window(*span.window, span.command, span.start_ns)
        )
    if span.end_ns is None:
        return
    command = (span.command[0], span.command[1], span.command[2])
    for reading in simulation.advance(span.end_ns, command):
        if reading.sensor == source:
            recorder.add(sample_of(reading))


def sample_of(reading: Reading) -> BodySample:
    """Turn a simulated reading into a sample, as the sensor's ROS message would be."""
    state = reading.state
    if reading.sensor == 'mocap':
        return BodySample(reading.stamp_ns, state.position, state.orientation)
    return BodySample(
        reading.stamp_ns,
        state.position,
        state.orientation,
        state.linear_velocity,
        state.angular_velocity,
    )

"""From a YAML file to a checked specification."""

from __future__ import annotations

from pathlib import Path

from repsq_ros.estimation.alpha import paper_alpha, paper_alpha_exists
from repsq_ros.estimation.partition import Partition
from repsq_ros.estimation.stopping import EmpiricalBernstein, Hoeffding, StoppingRule
from repsq_ros.measurement.measure import SOURCES, TrackingLoss
from repsq_ros.measurement.tracking_loss import REDUCTIONS
from repsq_ros.protocols.locomotion import LocomotionProtocol
from repsq_ros.sampling.distributions import Dimension, UniformBox
from repsq_ros.specification.model import FORMAT, Accuracy, Specification, Tester
from repsq_ros.specification.reader import Section, read, show
from repsq_ros.timebase import to_nanoseconds


def load(file: str | Path) -> Specification:
    """Read and check a test specification.

    :raises SpecificationError: with file, key, what was found and what was expected
    """
    top = read(Path(file))
    found = top.value('format', f'the number {FORMAT}')
    if found != FORMAT or isinstance(found, bool):
        raise top.fail('format', show(found), f'the number {FORMAT}')
    name = top.text('name')
    top.text('description', '-')
    protocol = _protocol(top.section('protocol'))
    target = _target(top.section('target'), protocol)
    measure = _measure(top.section('measure'))
    accuracy = _accuracy(top.section('accuracy'), measure.upper - measure.lower)
    alpha, partition = _partition(top.section('partition'), accuracy, measure)
    tester = _tester(top.section('tester'))
    top.finish()
    return Specification(
        str(file), name, target, protocol, measure, accuracy, alpha, partition, tester
    )


def _target(section: Section, protocol: LocomotionProtocol) -> UniformBox:
    section.choice('distribution', ('uniform',))
    box = section.section('dimensions')
    expected = ', '.join(protocol.command_names)
    if not box.keys():
        raise section.fail('dimensions', 'an empty mapping', f'at least one of {expected}')
    units = dict(zip(protocol.command_names, protocol.command_units, strict=True))
    for name in box.keys():  # noqa: SIM118 (a Section is no dict)
        if name not in units:
            raise box.fail(name, 'an unknown dimension', f'one of {expected}')
    dimensions = []
    # The order of the protocol, not of the file: two files that say the same draw the same cases.
    for name, expected_unit in units.items():
        if not box.has(name):
            continue
        dimension = box.section(name)
        unit = dimension.choice('unit', (expected_unit,))
        lower = dimension.number('lower')
        upper = dimension.number('upper')
        if not lower < upper:
            raise dimension.fail('upper', f'{upper!r}', f'a number above lower = {lower!r}')
        dimension.finish()
        dimensions.append(Dimension(name, unit, lower, upper))
    section.finish()
    return UniformBox(tuple(dimensions))


def _protocol(section: Section) -> LocomotionProtocol:
    section.choice('type', ('locomotion',))
    dwell = section.number('dwell', at_least=0.1)
    command = section.number('command', above=0)
    window = section.number('window', above=0)
    if window > command:
        raise section.fail(
            'window', f'{window!r}', f'at most the {command!r} s for which the command is held'
        )
    section.finish()
    return LocomotionProtocol(*map(to_nanoseconds, (dwell, command, window)))


def _measure(section: Section) -> TrackingLoss:
    section.choice('type', ('soft_linf',))
    measure = TrackingLoss(
        gain=section.number('gain', above=0),
        reduction=section.choice('reduction', REDUCTIONS),
        source=section.choice('source', SOURCES),
        largest_gap_ns=to_nanoseconds(section.number('largest_gap', 0.2, above=0)),
    )
    section.finish()
    return measure


def _accuracy(section: Section, psi_range: float) -> Accuracy:
    gamma = section.number('gamma', above=0)
    if gamma >= psi_range:
        raise section.fail('gamma', f'{gamma!r}', f'less than the range of psi, {psi_range:g}')
    accuracy = Accuracy(
        gamma, section.number('c', above=0, below=1), section.number('beta', above=0, below=1)
    )
    section.finish()
    return accuracy


def _partition(
    section: Section, accuracy: Accuracy, measure: TrackingLoss
) -> tuple[float, Partition]:
    expected = "'paper', or a number above 0"
    found = section.value('alpha', expected)
    if found == 'paper':
        c, beta = accuracy.c, accuracy.beta
        if not paper_alpha_exists(c, beta):
            raise section.fail(
                'alpha',
                f"'paper' with (1-c)^2 = {(1 - c) ** 2:.6g} < 1-beta = {1 - beta:.6g}",
                '(1-c)^2 >= 1-beta: a smaller accuracy.c or a larger accuracy.beta',
            )
        alpha = paper_alpha(accuracy.gamma, c, beta)
        if alpha == 0:
            raise section.fail('alpha', "'paper', which is 0 here", 'a larger accuracy.beta')
    elif isinstance(found, str):
        raise section.fail('alpha', show(found), expected)
    else:
        alpha = section.number('alpha', above=0)
    first = section.number('first', alpha, above=0)
    if first > alpha:
        raise section.fail('first', f'{first!r}', f'at most alpha = {alpha:.6g}')
    section.finish()
    return alpha, Partition.almost_uniform(measure.lower, measure.upper, alpha, first)


def _tester(section: Section) -> Tester:
    tester = Tester(
        proposal=section.choice('proposal', ('monte_carlo',)),
        seed=section.whole('seed'),
        stopping=_stopping(section.section('stopping')),
        max_tests=section.whole('max_tests', 100_000, at_least=2),
        max_attempts=section.whole('max_attempts', 3, at_least=1),
    )
    section.finish()
    return tester


def _stopping(section: Section) -> StoppingRule:
    rule = section.choice('rule', ('empirical_bernstein', 'hoeffding'))
    if rule == 'hoeffding':
        section.finish()
        return Hoeffding()
    power = section.whole('range_power', 1, at_least=1)
    if power not in (1, 2):
        raise section.fail('range_power', f'{power}', '1, or 2 to reproduce the paper')
    form = section.choice('form', ('paper', 'two_sided'), 'paper')
    section.finish()
    return EmpiricalBernstein(power, form == 'two_sided')

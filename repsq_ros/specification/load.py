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

"""From a YAML file to a checked specification."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from repsq_ros.estimation.acceptance import Acceptance
from repsq_ros.estimation.anytime import Anytime
from repsq_ros.estimation.binomial import Binomial
from repsq_ros.estimation.certified_cell import CertifiedCell
from repsq_ros.estimation.portfolio import ControlledAnytime, takes_middle
from repsq_ros.measurement.displacement import FinalPoseError
from repsq_ros.measurement.indicator import Indicator
from repsq_ros.measurement.inputs import Need
from repsq_ros.measurement.measure import Measure
from repsq_ros.protocols.command_space import CommandKind
from repsq_ros.protocols.protocol import Protocol
from repsq_ros.sampling.box import Box, Dimension
from repsq_ros.sampling.distributions import Distribution
from repsq_ros.specification.accuracy_section import read_accuracy
from repsq_ros.specification.distribution_section import read_distribution
from repsq_ros.specification.measure_section import read_measure
from repsq_ros.specification.model import FORMAT, About, Specification
from repsq_ros.specification.partition_section import PartitionType, read_partition
from repsq_ros.specification.proposal_section import ProposalType
from repsq_ros.specification.protocol_section import read_protocol
from repsq_ros.specification.reader import LIMITS, Section, read_keys, show, unit_hint
from repsq_ros.specification.tester_section import Tester, read_tester
from repsq_ros.specification.yaml_file import read


def load(file: str | Path, tester_file: Path | None = None) -> Specification:
    """Read and check a test specification.

    :param tester_file: its section `tester` replaces the specification's own
    :raises SpecificationError: with file, key, what was found and what was expected
    """
    top = read(Path(file))
    own = top if tester_file is None else read(tester_file)
    return _specification(str(file), top, own, top)


def load_altered(
    file: str | Path,
    tester_file: Path | None,
    altered: Mapping[str, Mapping[str, object]],
    measure_file: Path | None = None,
) -> Specification:
    """Read and check a test specification with changed values.

    :param altered: new values by section and key; None: remove the key
    :param measure_file: its section `measure` replaces the specification's own
    :raises SpecificationError: with file, key, what was found and what was expected
    """
    top = _altered(read(Path(file)), altered)
    own = top if tester_file is None else _altered(read(tester_file), altered)
    measured = top if measure_file is None else read(measure_file)
    return _specification(str(file), top, own, measured)


def _altered(top: Section, altered: Mapping[str, Mapping[str, object]]) -> Section:
    content = top.content()
    for name, changes in altered.items():
        section = content.get(name)
        if isinstance(section, dict):  # a malformed section is reported when it is read
            merged = {**section, **changes}
            content[name] = {key: value for key, value in merged.items() if value is not None}
    return Section(top.file, '', content)


def _specification(file: str, top: Section, own: Section, measured: Section) -> Specification:
    found = top.value('format', f'the number {FORMAT}')
    if found != FORMAT or isinstance(found, bool):
        raise top.fail('format', show(found), f'the number {FORMAT}')
    name = _name(top)
    about = read_keys(top, About, only=('description', 'robot'))
    protocol, feedback = read_protocol(top.section('protocol'))
    target = _target(top.section('target'), protocol)
    top.has('measure')
    section = measured.section('measure')
    of_measure = read_keys(section, About, only=('measure', 'direction'))
    about = replace(about, measure=of_measure.measure, direction=of_measure.direction)
    measure = read_measure(section)
    if measure.quantity.needs == Need.VELOCITY and protocol.kind != CommandKind.VELOCITY:
        raise top.fail(
            'measure.type',
            'a measure of velocities',
            f'one of positions or of a gauge: the protocol {protocol.type} commands '
            f'{"pushes" if protocol.by_hand else "poses"}',
        )
    if _of_command(measure) and protocol.kind != CommandKind.POSE:
        raise top.fail(
            'measure.target', "text 'commanded'", 'a pose: the protocol commands no poses'
        )
    accuracy = read_accuracy(top.section('accuracy'), measure.upper - measure.lower)
    measure = replace(measure, gamma=accuracy.gamma)
    cells = read_partition(top.section('partition'), accuracy, measure.lower, measure.upper)
    psi = (measure.lower, measure.upper)
    tester = read_tester(own.section('tester'), target, accuracy, psi)
    accept = _accept(top, own, tester, psi)
    if takes_middle(tester.stopping) and cells.kind != PartitionType.ANCHORED:
        raise own.fail(
            'tester.stopping.estimate',
            f"text 'middle' beside partition type {cells.kind!r}",
            "'mean': the middle is biased, which only an anchored partition allows for",
        )
    if isinstance(tester.stopping, CertifiedCell) and cells.partition is None:
        raise own.fail(
            'tester.stopping.rule',
            "text 'certified_cell'",
            'another rule: the initiator of an anchored partition has no cells yet',
        )
    if isinstance(tester.stopping, CertifiedCell) and tester.proposal.truncation is not None:
        raise own.fail(
            'tester.proposal.truncation',
            f'{tester.proposal.truncation!r}',
            "none with rule 'certified_cell', which would certify the cell of the truncated mean",
        )
    if isinstance(tester.stopping, Binomial):
        if not isinstance(measure.quantity, Indicator):
            raise top.fail(
                'tester.stopping.rule',
                "text 'binomial'",
                'another rule: psi is no indicator, whose values are 0 and 1',
            )
        if tester.proposal.kind != ProposalType.MONTE_CARLO:
            raise top.fail(
                'tester.stopping.rule',
                f"text 'binomial' with {tester.proposal.kind!r}",
                "proposal 'monte_carlo': weighted values are no counts",
            )
    top.has('tester')
    top.finish()
    own.finish()
    return Specification(
        file, name, target, protocol, measure, accuracy, cells, tester, about, feedback, accept
    )


def _accept(
    top: Section, own: Section, tester: Tester, psi: tuple[float, float]
) -> Acceptance | None:
    """Return the limit for the mean; None for none."""
    accept = None
    if top.has('accept'):
        section = top.section('accept')
        accept = read_keys(section, Acceptance)
        if not psi[0] < accept.limit < psi[1]:
            raise section.fail(
                'limit', f'{accept.limit!r}', f'within the range of psi, {psi[0]:g} to {psi[1]:g}'
            )
        section.finish()
    if not tester.until_verdict:
        return accept
    if accept is None:
        raise own.fail('tester.until', "text 'verdict'", "'accuracy': there is no accept")
    if not isinstance(tester.stopping, Anytime | ControlledAnytime):
        raise own.fail(
            'tester.until',
            f"text 'verdict' with rule {tester.stopping.name!r}",
            "rule 'anytime', whose interval holds wherever the campaign ends",
        )
    return accept


def _of_command(measure: Measure) -> bool:
    quantity: object = measure.quantity
    if isinstance(quantity, Indicator):
        quantity = quantity.inner
    return isinstance(quantity, FinalPoseError) and quantity.target is None


def _name(top: Section) -> str:
    """Return the name, which also names the campaign's folder."""
    name = top.text('name')
    if not name.isprintable() or name.startswith('.') or set(name) & set('/\\') or len(name) > 100:
        raise top.fail(
            'name',
            f'text {name!r}',
            'up to 100 letters on one line, no slash, no dot first: folders are called by it',
        )
    return name


def _target(section: Section, protocol: Protocol) -> Distribution:
    box = _box(section, protocol)
    target = read_distribution(section.word_or_section('distribution'), box)
    section.finish()
    return target


def _box(section: Section, protocol: Protocol) -> Box:
    box = section.section('dimensions')
    expected = ', '.join(protocol.command_names)
    if not box.keys():
        raise section.fail('dimensions', 'an empty mapping', f'at least one of {expected}')
    units = dict(zip(protocol.command_names, protocol.command_units, strict=True))
    for name in box.keys():  # noqa: SIM118 (a Section is no dict)
        if name not in units:
            raise box.fail(name, 'an unknown dimension', f'one of {expected}')
    dimensions = []
    # In the order of the protocol: files that differ only in order draw the same cases.
    for name, expected_unit in units.items():
        if not box.has(name):
            continue
        dimension = box.section(name)
        found = read_keys(dimension, Dimension, {'name': name}, choices={'unit': (expected_unit,)})
        _check_unit(dimension, found)
        if not found.lower < found.upper:
            raise dimension.fail(
                'upper', f'{found.upper!r}', f'a number above lower = {found.lower!r}'
            )
        dimension.finish()
        dimensions.append(found)
    return Box(tuple(dimensions))


def _check_unit(section: Section, dimension: Dimension) -> None:
    """Refuse angles in degrees and positions in millimetres."""
    limit = LIMITS.get(dimension.unit, math.inf)
    for key, value in (('lower', dimension.lower), ('upper', dimension.upper)):
        if abs(value) > limit:
            unit = dimension.unit
            raise section.fail(key, f'{value!r}', f'at most {limit:.4g} {unit}{unit_hint(unit)}')

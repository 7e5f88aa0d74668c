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

"""What-if: the same recorded tests with another accuracy, rule or measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path

import yaml

from repsq_ros.campaign.result import Result
from repsq_ros.errors import ParameterError
from repsq_ros.specification.load import load, load_altered
from repsq_ros.specification.model import Specification
from repsq_ros.specification.tester_section import RULES

SEEN = (
    'This is a re-evaluation with {}: what is promised holds for choices that were made before '
    'the tests were seen'
)


@dataclass(frozen=True)
class Variant:
    """One way to evaluate a recording.

    :ivar measure: file of another measure; None: the recorded one
    :ivar changed: differences from the specification, one line each
    """

    specification: Specification
    measure: Path | None = None
    changed: tuple[str, ...] = ()

    def mark(self, result: Result) -> Result:
        """Return a result with its differences from the recording."""
        if not self.changed:
            return result
        return replace(
            result,
            events=(*result.events, *(f're-evaluation: {each}' for each in self.changed)),
            provisos=(*result.provisos, SEEN.format(', '.join(self.changed))),
        )


def variants(
    file: Path,
    tester_file: Path | None = None,
    gammas: Sequence[float] = (),
    rules: Sequence[str] = (),
    measures: Sequence[Path] = (),
) -> list[Variant]:
    """Return the specification as it is, or every combination of the requested changes.

    :param rules: names of stopping rules, each with its keys: `fixed:tests=200`
    :raises ParameterError: not a rule, not a number
    :raises SpecificationError: with file, key, what was found and what was expected
    """
    base = load(file, tester_file)
    chosen_rules = [_rule(each) for each in rules]
    found = []
    for measure, gamma, rule in product(
        (None, *measures), tuple(gammas) or (None,), tuple(chosen_rules) or (None,)
    ):
        altered: dict[str, dict[str, object]] = {'accuracy': {}, 'tester': {}}
        changed = [] if measure is None else [f'the measure of {measure}']
        if gamma is not None and gamma != base.gamma:
            changed.append(_change_gamma(base, gamma, altered))
        if rule is not None and _named(rule) != base.tester.stopping.name:
            altered['tester']['stopping'] = rule
            changed.append(f'rule {_named(rule)} in place of {base.tester.stopping.name}')
        specification = load_altered(file, tester_file, altered, measure) if changed else base
        found.append(Variant(specification, measure, tuple(changed)))
    return found


def _change_gamma(base: Specification, gamma: float, altered: dict[str, dict[str, object]]) -> str:
    """Set another accuracy: a finer one is the tester's own, and keeps the contract."""
    text = f'gamma {gamma:g} in place of {base.gamma:g}'
    if gamma <= base.accuracy.gamma:
        altered['tester']['gamma'] = gamma
        return text
    altered['tester']['gamma'] = None
    altered['accuracy']['gamma'] = gamma
    return f'{text} (coarser than the contract: another contract)'


def _rule(text: str) -> dict[str, object]:
    """Return the section of a rule from NAME or NAME:KEY=VALUE:..."""
    name, *pairs = text.split(':')
    if name not in RULES:
        raise ParameterError('rule', f'{name!r}', f'one of {", ".join(RULES)}')
    section: dict[str, object] = {'rule': name}
    for pair in pairs:
        key, equals, value = pair.partition('=')
        if not (key and equals and value):
            raise ParameterError('rule', f'{text!r}', 'NAME, or NAME:KEY=VALUE')
        section[key] = yaml.safe_load(value)
    return section


def _named(section: dict[str, object]) -> str:
    """Return a rule with its keys in words."""
    keys = [f'{key} {value}' for key, value in section.items() if key != 'rule']
    return ' '.join([str(section['rule']), *keys])

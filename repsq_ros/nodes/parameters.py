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

"""Node parameters with checks that rclpy does not make."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

from repsq_ros.errors import ParameterError
from repsq_ros.nodes.identity import LAUNCH_ID
from repsq_ros.specification.load import load
from repsq_ros.specification.model import Specification
from repsq_ros.specification.reader import show

Text = TypeVar('Text', bound=str)


class Parameters:
    """Declares parameters one by one; `finish` warns of unknown ones and logs the values.

    Types are checked here instead of by rclpy, whose double refuses a plain `50`.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._values: dict[str, object] = {}
        self.text(LAUNCH_ID, '', 'drawn by the launch for all of its nodes; empty: by hand')

    def _value(self, name: str, default: object, description: str) -> object:
        descriptor = ParameterDescriptor(
            description=description, dynamic_typing=True, read_only=True
        )
        self._node.declare_parameter(name, default, descriptor)
        value: object = self._node.get_parameter(name).value
        self._values[name] = value
        return value

    def text(self, name: str, default: str, description: str) -> str:
        """Return text; numbers are converted, since the command line parses digits as numbers."""
        value = self._value(name, default, description)
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise ParameterError(name, show(value), 'text')
        return str(value)

    def flag(self, name: str, default: bool, description: str) -> bool:
        """Return true or false."""
        value = self._value(name, default, description)
        if not isinstance(value, bool):
            raise ParameterError(name, show(value), 'true or false')
        return value

    def folder(self, name: str, description: str) -> Path | None:
        """Return a folder, which need not exist; None if the parameter is empty."""
        value = self.text(name, '', description)
        return Path(value).expanduser() if value else None

    @property
    def in_force(self) -> dict[str, object]:
        """The parameters read so far, with their values."""
        return dict(self._values)

    def choice(
        self, name: str, choices: tuple[Text, ...], default: Text, description: str
    ) -> Text:
        """Return one of the given words."""
        value = self.text(name, str(default), f'{description} ({" | ".join(choices)})')
        if value not in choices:
            raise ParameterError(name, show(value), f'one of {", ".join(choices)}')
        return next(each for each in choices if each == value)

    def number(
        self,
        name: str,
        default: float,
        description: str,
        *,
        above: float = -math.inf,
        at_least: float = -math.inf,
        at_most: float = math.inf,
    ) -> float:
        """Return a finite number within limits."""
        value = self._value(name, default, description)
        limit = f' > {above:g}' if above > -math.inf else ''
        limit += f' >= {at_least:g}' if at_least > -math.inf else ''
        limit += f', at most {at_most:g}' if at_most < math.inf else ''
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not (math.isfinite(value) and above < value and at_least <= value <= at_most)
        ):
            raise ParameterError(name, show(value), f'a finite number{limit}')
        return float(value)

    def whole(self, name: str, default: int, description: str, *, at_least: int) -> int:
        """Return a whole number with a lower limit."""
        value = self._value(name, default, description)
        if isinstance(value, bool) or not isinstance(value, int) or value < at_least:
            raise ParameterError(name, show(value), f'a whole number >= {at_least}')
        return value

    def numbers(self, name: str, count: int, description: str) -> tuple[float, ...]:
        """Return `count` finite numbers; empty if the parameter is empty.

        A list or text with spaces: ROS refuses a mixed list such as `0` and `0.5`.
        """
        value = self._value(name, '', description)
        found = _numbers_in('' if value is None else value)  # an empty list arrives as None
        if found is None or (found and len(found) != count):
            raise ParameterError(name, show(value), f'{count} finite numbers, or nothing')
        return found

    def texts(self, name: str, default: tuple[str, ...], description: str) -> tuple[str, ...]:
        """Return a string array; [''] counts as empty, since ROS cannot pass an empty array."""
        value = self._value(name, list(default) or [''], description)
        found = () if value is None else value  # an empty list arrives as None
        if not isinstance(found, list | tuple) or not all(isinstance(each, str) for each in found):
            raise ParameterError(name, show(value), "an array of texts, such as ['/one', '/two']")
        return tuple(each for each in found if each)

    def specification(self) -> Specification:
        """Read the test specification that the parameter of this name points to."""
        file = self.text('specification', '', 'path of the test specification (YAML)')
        if not file:
            raise ParameterError('specification', 'nothing', 'the path of a test specification')
        return load(Path(file).expanduser())

    def specification_if_given(self) -> Specification | None:
        """Read the test specification, or none where the parameter is empty."""
        file = self.text('specification', '', 'path of the test specification (YAML); empty: none')
        return load(Path(file).expanduser()) if file else None

    def seed(self, specification: Specification) -> int:
        """Return the seed: the parameter, or if it is -1, the specification's.

        :raises ParameterError: neither is given
        """
        value = self.whole('seed', -1, "seed; -1: the specification's", at_least=-1)
        found = specification.tester.seed if value == -1 else value
        if found is None:
            raise ParameterError(
                'seed', 'none, and none in the specification', 'a seed of your own, >= 0'
            )
        return found

    def _refuse(self, parameters: list[Parameter]) -> SetParametersResult:
        """Refuse changes of parameters that were read at the start, also of use_sim_time."""
        for parameter in parameters:
            if self._node.has_parameter(parameter.name):
                return SetParametersResult(
                    successful=False,
                    reason=f'{parameter.name} is read at the start; restart the node',
                )
        return SetParametersResult(successful=True)

    def finish(self) -> None:
        """Warn of undeclared parameters, log the values, and make all read-only."""
        for name in self._node._parameter_overrides:
            if not self._node.has_parameter(name) and not name.startswith('qos_overrides.'):
                near = difflib.get_close_matches(name, self._values, n=1)
                hint = f'; did you mean {near[0]!r}?' if near else ''
                self._node.get_logger().warning(f'unknown parameter {name!r} is ignored{hint}')
        self._node.add_on_set_parameters_callback(self._refuse)
        in_force = ', '.join(f'{name}={value!r}' for name, value in self._values.items())
        self._node.get_logger().info(f'parameters in force: {in_force}')


def _numbers_in(value: object) -> tuple[float, ...] | None:
    """Return the finite numbers of a list or text; None: an element is not a number."""
    if isinstance(value, str):
        parts: list[object] = list(value.replace(',', ' ').split())
    else:
        parts = list(value) if isinstance(value, Iterable) else [value]
    try:
        found = tuple(float(part) for part in parts if not isinstance(part, bool))  # type: ignore[arg-type]
    except ValueError:
        return None
    return found if len(found) == len(parts) and all(map(math.isfinite, found)) else None

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

"""An input in the specification: which message, and how its numbers are read."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from repsq_ros.keys import LABS_OWN, KeyedDataclass, TextEnum, key
from repsq_ros.measurement.samples import Quaternion, Vector


class Need(TextEnum):
    """The columns that a measure uses."""

    VELOCITY = 'velocity'
    POSITION = 'position'
    POSE = 'pose'
    READING = 'reading'


class Stamp(TextEnum):
    """The clock of a sample's stamp."""

    HEADER = 'header'
    RECEIVE = 'receive'


class UpAxis(TextEnum):
    """Which axis of the sensor's frame points up."""

    Z = 'z'
    Y = 'y'


class Velocity(TextEnum):
    """How the velocity of a body is obtained."""

    TWIST = 'twist'
    SLOPE = 'slope'
    CUBIC = 'cubic'
    AUTO = 'auto'  # slope or cubic, whichever gives psi the smaller error
    DIFFERENCE = 'difference'


class VelocityFrame(TextEnum):
    """Frame of the velocity in a message."""

    BODY = 'body'
    WORLD = 'world'


# Factors to SI units; only reports and tables convert back to mm.
LENGTHS = {'m': 1.0, 'cm': 0.01, 'mm': 0.001, 'um': 1e-6, 'inch': 0.0254}
OTHER_UNITS = {'1': 1.0, 'percent': 0.01, 'rad': 1.0, 'deg': math.pi / 180.0, 'm/s': 1.0}
# Some drivers publish a share as 0 to 1, others as 0 to 100: a value above 1 is read as percent.
EITHER_SHARE = 'percent_or_share'
UNITS = LENGTHS | OTHER_UNITS | {EITHER_SHARE: 1.0}


@dataclass(frozen=True)
class Extrinsics:
    """The pose of the measured point on the rigid body that the sensor tracks."""

    translation: Vector = dataclasses.field(
        default=(0.0, 0.0, 0.0),
        metadata=key("the point in the body's frame", 'm', at_least=-10, at_most=10),
    )
    rotation: Quaternion = dataclasses.field(
        default=(0.0, 0.0, 0.0, 1.0),
        metadata=key("rotation of the point's frame in the body's, x, y, z, w", rotation=True),
    )

    @property
    def trivial(self) -> bool:
        """Tell whether body and point coincide."""
        return self == Extrinsics()


@dataclass(frozen=True)
class Input(KeyedDataclass):
    """One stream of messages, and how it is read."""

    type: str = dataclasses.field(metadata=key('message, such as geometry_msgs/msg/PoseStamped'))
    topic: str = dataclasses.field(metadata=LABS_OWN)  # relative name, to be remapped
    body: str = dataclasses.field(
        default='', metadata=key('name or ID of the rigid body, where messages hold several')
    )
    field: str = dataclasses.field(
        default='', metadata=key('path to one number in a message of any type: pose.position.x')
    )
    stamp: Stamp = dataclasses.field(
        default=Stamp.HEADER,
        metadata=key(
            'header: the stamp of the sensor; receive: when the message arrived',
            default_text='header where there is one',
        ),
    )
    unit: str = dataclasses.field(
        default='m',
        metadata=key(
            'unit of lengths in the message, or of its number',
            choices=tuple(UNITS),
            default_text="the message's own",
        ),
    )
    sign: float = dataclasses.field(
        default=1.0, metadata=key('-1: a gauge that counts down', choices=(1.0, -1.0))
    )
    up_axis: UpAxis = dataclasses.field(
        default=UpAxis.Z, metadata=key('y: a motion capture whose floor is x-z')
    )
    frame: str = dataclasses.field(default='', metadata=key('expected frame_id; left out: any'))
    extrinsics: Extrinsics = dataclasses.field(
        default=Extrinsics(),
        metadata=key('position of the measured point on the body that the sensor tracks'),
    )
    velocity: Velocity = dataclasses.field(
        default=Velocity.SLOPE,
        metadata=key(
            'how the velocity of a body is computed; auto: slope or cubic, whichever has the '
            'smaller psi_error',
            default_text='twist where the message has one',
        ),
    )
    velocity_span: float = dataclasses.field(
        default=0.1,
        metadata=key(
            'window of slope and cubic; a twist is compared with its poses over twice this',
            's',
            above=0,
        ),
    )
    velocity_frame: VelocityFrame = dataclasses.field(
        default=VelocityFrame.BODY,
        metadata=key(
            'frame of the velocity in the message',
            default_text="the message's own",
        ),
    )
    rate: float = dataclasses.field(
        default=0.0, metadata=key('nominal rate; 0: not known', 'Hz', at_least=0)
    )
    retime: bool = dataclasses.field(
        default=False, metadata=key('put arrival stamps back onto the nominal rate')
    )
    calibration: float = dataclasses.field(
        default=1.0,
        metadata=key(
            'true length over reading of a gauge (cosine error included)',
            name='scale',
            above=0,
            later=True,
        ),
    )
    error_codes: tuple[float, ...] | None = dataclasses.field(
        default=None, metadata=key('readings that mean an error; left out: the usual', later=True)
    )

    @property
    def scale(self) -> float:
        """Factor to SI units."""
        return UNITS[self.unit]

    def to_si(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Convert numbers of the message to SI units, with the input's sign."""
        if self.unit == EITHER_SHARE:
            values = np.where(values > 1.0, values / 100.0, values)
        return values * self.scale * self.sign * self.calibration

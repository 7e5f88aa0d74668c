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

"""What the specification says of an input: which message, and how its numbers are to be read."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from repsq_ros.measurement.samples import Quaternion, Vector

STAMPS = ('header', 'receive')
UP_AXES = ('z', 'y')
VELOCITIES = ('twist', 'slope', 'cubic', 'difference')
VELOCITY_FRAMES = ('body', 'world')

# Factors to SI units; only reports and tables convert back to mm.
LENGTHS = {'m': 1.0, 'cm': 0.01, 'mm': 0.001, 'um': 1e-6, 'inch': 0.0254}
OTHER_UNITS = {'1': 1.0, 'percent': 0.01, 'rad': 1.0, 'deg': math.pi / 180.0, 'm/s': 1.0}
# Some drivers publish a share as 0 to 1, others as 0 to 100: a value above 1 is read as percent.
EITHER_SHARE = 'percent_or_share'
UNITS = LENGTHS | OTHER_UNITS | {EITHER_SHARE: 1.0}


@dataclass(frozen=True)
class Extrinsics:
    """Where the point that is measured sits on the rigid body that the sensor sees."""

    translation: Vector = (0.0, 0.0, 0.0)  # [m] of the point's frame in the body's frame
    rotation: Quaternion = (0.0, 0.0, 0.0, 1.0)  # point's frame to body's frame, x, y, z, w

    @property
    def trivial(self) -> bool:
        """Tell whether body and point are one."""
        return self == Extrinsics()


@dataclass(frozen=True)
class Input:
    """One stream of messages and its reading."""

    type: str  # ROS name of the message, e.g. geometry_msgs/msg/PoseStamped
    topic: str  # relative name, to be remapped
    body: str = ''  # name or ID of the rigid body in messages that hold several
    field: str = ''  # path to one number in a message of any type, e.g. pose.pose.position.x
    stamp: str = 'header'  # header: when the sensor says; receive: when the message arrived
    unit: str = 'm'  # of lengths in the message, or of its number
    sign: float = 1.0  # -1: a gauge that counts down
    up_axis: str = 'z'  # y: a mocap whose floor is x-z
    frame: str = ''  # frame_id that is expected; empty: any
    extrinsics: Extrinsics = Extrinsics()
    velocity: str = 'slope'  # how bodies get their velocity
    velocity_span: float = 0.1  # [s] of the window of `slope` and `cubic`
    velocity_frame: str = 'body'  # in which frame the message tells its velocity
    rate: float = 0.0  # [Hz] nominal; 0: not known
    retime: bool = False  # put arrival stamps back onto the nominal rate
    calibration: float = 1.0  # of a gauge: true length over reading (cosine error included)
    error_codes: tuple[float, ...] | None = None  # readings that mean an error; None: usual ones

    @property
    def scale(self) -> float:
        """Factor to SI units."""
        return UNITS[self.unit]

    def to_si(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn numbers of the message into SI units, with the input's sign."""
        if self.unit == EITHER_SHARE:
            values = np.where(values > 1.0, values / 100.0, values)
        return values * self.scale * self.sign * self.calibration

    def describe(self) -> dict[str, object]:
        """Return what two labs have to share; the topic's name is each lab's own."""
        found = {key: value for key, value in asdict(self).items() if key != 'topic'}
        # Keys of later versions are left out at their default, so that old digests stay valid.
        for key, usual in (('calibration', 1.0), ('error_codes', None)):
            if found[key] == usual:
                del found[key]
        return found

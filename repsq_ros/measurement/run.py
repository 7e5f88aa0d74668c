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

"""Samples that follow each other, with what is computed of each once for all windows."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from repsq_ros.measurement.frames import conditioned, lengths, up_in_body
from repsq_ros.measurement.inputs import Input
from repsq_ros.measurement.reasons import Code
from repsq_ros.measurement.samples import Array, Flags, Samples
from repsq_ros.measurement.steps import Steps
from repsq_ros.measurement.window import UnmeasurableError


class Run:
    """Samples of an input, of one window or of many.

    What follows from one sample, or from two successive ones, does not depend on the window that
    is cut out. It is computed here, once; a `Cut` takes slices of it.

    :param raw: in order, as they came: the first one of each stamp
    """

    def __init__(self, raw: Samples, source: Input) -> None:
        self.raw, self.source = raw, source

    @cached_property
    def broken(self) -> Flags:
        """Tell which samples hold NaN, infinity or a quaternion of norm zero, (n,)."""
        return self.raw.broken

    @cached_property
    def off_norm(self) -> Array:
        """Return by how much the norms of the quaternions differ from 1, (n,)."""
        assert self.raw.orientation is not None
        found: Array = np.abs(lengths(self.raw.orientation) - 1.0)
        return found

    @cached_property
    def _unbroken(self) -> np.ndarray | None:  # type: ignore[type-arg]
        """Return the rows that are not broken; None: all."""
        return np.flatnonzero(~self.broken) if self.broken.any() else None

    @cached_property
    def samples(self) -> Samples:
        """Return the unbroken samples in SI units, z up.

        :raises UnmeasurableError: a velocity in the world frame without an orientation
        """
        rows = self._unbroken
        try:
            return conditioned(self.raw if rows is None else self.raw.take(rows), self.source)
        except ValueError as error:
            raise UnmeasurableError(str(error), Code.ORIENTATION) from None

    def place(self, row: int) -> int:
        """Return where in `samples` the first one from a row on is."""
        return row if self._unbroken is None else int(self._unbroken.searchsorted(row))

    @cached_property
    def up(self) -> Array:
        """Return the direction that points up, in the body's frame, (3, n) of `samples`."""
        assert self.samples.orientation is not None
        return up_in_body(self.samples.orientation)

    @cached_property
    def steps(self) -> Steps:
        """Return what lies between successive unbroken samples."""
        return Steps(self.samples)

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

"""Samples of a body, row by row: tests change one and turn them into a table."""

from typing import NamedTuple

from repsq_ros.measurement.samples import body_sample, joined


class BodyRow(NamedTuple):
    """Pose and velocity of a body at one instant."""

    stamp_ns: int
    position: tuple | None
    orientation: tuple | None
    linear_velocity: tuple | None = None
    angular_velocity: tuple | None = None
    frame: str = ''
    doubt: tuple | None = None

    @property
    def table(self):
        """Return it as a table of one row."""
        return body_sample(*self)


def table_of(rows):
    """Return rows as one table."""
    return joined([row.table for row in rows])


def rows_of(samples):
    """Return the rows of a table of a body."""

    def column(name):
        found = getattr(samples, name)
        return [None] * len(samples) if found is None else list(map(tuple, found.tolist()))

    columns = map(column, ('position', 'orientation', 'linear', 'angular'))
    frames = [samples.frame(k) for k in range(len(samples))]
    return [BodyRow(*row) for row in zip(samples.stamps.tolist(), *columns, frames, strict=True)]

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

"""A pilot campaign's tests.csv, on a law of psi."""

import numpy as np

from repsq_ros.studies.laws import read_law

COLUMNS = 'psi,weight,weight_bound,samples,mean,half_width,reason'


def write_pilot(file, specification, law, count, seed=3):
    """Write the tests that the specification's own proposal draws; returns the file."""
    draw_psi, random = read_law(law, 0.0, 1.0).draw, np.random.default_rng(seed)
    proposal = specification.make_proposal()
    lines = [f'index,attempt,valid,{",".join(specification.box.names)},{COLUMNS}']
    for index in range(count):
        draw = proposal.draw(index, seed)
        psi = draw_psi(specification.box.to_unit(draw.x), random)
        proposal.tell(draw.x, psi, draw.weight)
        x = ','.join(map(repr, draw.x))
        lines.append(f'{index},0,1,{x},{psi!r},{draw.weight!r},{draw.weight_bound!r},150,0,0,""')
    file.write_text('\n'.join(lines) + '\n')
    return file

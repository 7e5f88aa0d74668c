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

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

"""repsq fit: a proposal for importance sampling, from the tests of a pilot campaign."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray

from repsq_ros.campaign.folder import read_tests
from repsq_ros.errors import BagError, ParameterError
from repsq_ros.sampling.beta_fit import FITS, effective_size, fit_betas
from repsq_ros.sampling.distributions import Mixture, Product
from repsq_ros.sampling.marginals import Beta
from repsq_ros.sampling.weight_bound import largest_ratio
from repsq_ros.specification.load import load


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument('pilot', type=Path, help='folder of the pilot campaign, or its tests.csv')
    parser.add_argument(
        '--specification', type=Path, help="default: the folder's specification.yaml"
    )
    parser.add_argument('--fit', choices=FITS, default='moments', help='default: moments')
    parser.add_argument(
        '--share-of-target', type=float, default=0.1, help='of p in the mixture (default 0.1)'
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the fitted proposal, ready for tester.proposal, and what it may save."""
    share = arguments.share_of_target
    if not 0.0 < share < 1.0:
        raise ParameterError('share-of-target', f'{share}', 'a number in (0, 1)')
    folder = arguments.pilot if arguments.pilot.is_dir() else arguments.pilot.parent
    specification = load(arguments.specification or folder / 'specification.yaml')
    box, target = specification.box, specification.target
    if not isinstance(target, Product):
        raise ParameterError(
            'pilot', 'a target that is no product of densities', 'uniform, beta or '
            'truncated_normal dimensions'
        )  # fmt: skip
    tests = [t for t in read_tests(arguments.pilot, box.names) if t.valid and box.contains(t.x)]
    psi: NDArray[np.float64] = np.array([t.psi for t in tests])
    weights: NDArray[np.float64] = np.array([t.weight for t in tests])
    shapes = fit_betas([box.to_unit(t.x) for t in tests], psi, weights, arguments.fit) if tests \
        else None  # fmt: skip
    if shapes is None:
        raise BagError(
            f'{arguments.pilot}: found {len(tests)} valid tests that say too little, expected at '
            'least two with psi above 0'
        )
    learnt = Product(box, tuple(Beta(a, b) for a, b in shapes))
    proposal = Mixture((target, learnt), (share, 1.0 - share))
    components = [
        {'share': share, **_described(target)},
        {'share': 1.0 - share, **_described(learnt)},
    ]
    print(f'# from {len(tests)} tests; goes to tester.proposal')
    content = {
        'type': 'importance',
        'distribution': {'type': 'mixture', 'components': components},
    }
    print(yaml.safe_dump({'proposal': content}, sort_keys=False), end='')
    # E_q[(psi p/q)^2] = E_p[psi^2 p/q], by the weights of the pilot.
    new = np.exp([target.logpdf(t.x) - proposal.logpdf(t.x) for t in tests])
    mean = float(np.mean(weights * psi))
    before = math.sqrt(max(float(np.mean(weights**2 * psi**2)) - mean**2, 0.0))
    after = math.sqrt(max(float(np.mean(weights * new * psi**2)) - mean**2, 0.0))
    print(f'# weights up to {largest_ratio(target, proposal):.6g}')
    print(f'# effective size of the pilot for the fit: {effective_size(psi * weights):.1f}')
    print(f'# standard deviation of psi w: pilot {before:.4g}, expected with the fit {after:.4g}')
    return 0


def _described(density: Product) -> dict[str, object]:
    """Return a product of densities as a specification has it."""
    kinds = {str(marginal.describe()['type']) for marginal in density.marginals}
    if kinds == {'uniform'}:
        return {'type': 'uniform'}
    kind = (kinds - {'uniform'}).pop()
    dimensions: dict[str, object] = {}
    for d, marginal in zip(density.box.dimensions, density.marginals, strict=True):
        said = marginal.describe()
        if said.pop('type') == 'uniform':
            continue
        if kind == 'truncated_normal':
            width = d.upper - d.lower
            said = {
                'mean': d.lower + width * float(str(said['mean'])),
                'sd': width * float(str(said['sd'])),
            }
        dimensions[d.name] = said
    return {'type': kind, **dimensions}

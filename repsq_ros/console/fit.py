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
from pathlib import Path
from typing import cast

import numpy as np
import yaml
from numpy.typing import NDArray

from repsq_ros.campaign.folder import read_tests
from repsq_ros.errors import BagError, ParameterError
from repsq_ros.json_answer import add_json, print_json
from repsq_ros.sampling.beta_fit import Fit, effective_size, fit_betas
from repsq_ros.sampling.distributions import Product
from repsq_ros.sampling.weight_bound import largest_ratio
from repsq_ros.specification.load import load
from repsq_ros.studies.held_out import FEWEST, FOLDS, compare, mixture_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument('pilot', type=Path, help='folder of the pilot campaign, or its tests.csv')
    parser.add_argument(
        '--specification', type=Path, help="default: the folder's specification.yaml"
    )
    parser.add_argument(
        '--fit', type=Fit, choices=list(Fit), default=Fit.MOMENTS, help='default: moments'
    )
    parser.add_argument(
        '--share-of-target', type=float, default=0.1, help='of p in the mixture (default 0.1)'
    )
    parser.add_argument(
        '--anyway', action='store_true', help='print the fit where Monte Carlo is better, too'
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the better of two fitted proposals for tester.proposal, and its expected saving."""
    share = arguments.share_of_target
    if not 0.0 < share < 1.0:
        raise ParameterError('share-of-target', f'{share}', 'a number in (0, 1)')
    folder = arguments.pilot if arguments.pilot.is_dir() else arguments.pilot.parent
    specification = load(arguments.specification or folder / 'specification.yaml')
    box, target = specification.box, specification.target
    if not isinstance(target, Product):
        raise ParameterError(
            'pilot',
            'a target that is no product of densities',
            'uniform, beta or truncated_normal dimensions',
        )
    tests = [t for t in read_tests(arguments.pilot, box.names) if t.valid and box.contains(t.x)]
    psi: NDArray[np.float64] = np.array([t.psi for t in tests])
    weights: NDArray[np.float64] = np.array([t.weight for t in tests])
    shapes = (
        fit_betas([box.to_unit(t.x) for t in tests], psi, weights, arguments.fit)
        if tests
        else None
    )
    if shapes is None:
        raise BagError(
            f'{arguments.pilot}: found {len(tests)} valid tests that say too little, expected at '
            'least two with psi above 0'
        )
    proposal = mixture_of(target, shapes, share)
    worth = compare(specification, target, tests, arguments.fit, share, proposal)
    kept = arguments.anyway or (worth is not None and worth.pays)
    content: dict[str, object] = {'type': 'monte_carlo'}
    if kept:
        components = [
            {'share': part, **_described(density)}
            for part, density in ((share, target), (1.0 - share, cast(Product, proposal.parts[1])))
        ]
        content = {
            'type': 'importance',
            'distribution': {'type': 'mixture', 'components': components},
        }
    size, largest = effective_size(psi * weights), largest_ratio(target, proposal)
    if arguments.json:
        print_json(
            {
                'tests': len(tests),
                'proposal': content,
                'effective_size': size,
                'largest_weight': largest,
                'judged': worth,
                'pays': worth is not None and worth.pays,
            }
        )
        return 0
    print(f'# from {len(tests)} tests; goes to tester.proposal')
    print(yaml.safe_dump({'proposal': content}, sort_keys=False), end='')
    print(f'# effective size of the pilot for the fit: {size:.1f}')
    print(f'# weights of the fit up to {largest:.6g}')
    if worth is None:
        print(
            f'# the fit cannot be judged: {len(tests)} valid tests, expected at least {FEWEST} of '
            'which each tenth can be left out; keep Monte Carlo'
        )
        return 0
    gamma = specification.gamma
    for name, each in (('Monte Carlo', worth.monte_carlo), ('the fit', worth.fitted)):
        print(
            f'# {name:11}  standard deviation of psi w {each.sd:.4g} +- {each.error:.2g}; about '
            f'{each.tests or "> 10^6"} tests to gamma = {gamma:g} by anytime'
        )
    print(
        f'# each test judged by a fit to others ({FOLDS} parts); variance saved {worth.gain:.3g} '
        f'+- {worth.gain_error:.2g}'
    )
    if not worth.pays:
        print(
            '# keep Monte Carlo: the fit is not better by two standard errors'
            + ('' if kept else ' (--anyway prints it)')
        )
    return 0


def _described(density: Product) -> dict[str, object]:
    """Return a product of densities in the form of a specification."""
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

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

"""repsq compare: whether campaigns returned the same value, and whether that was promised."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from pathlib import Path

from repsq_ros.campaign.comparison import paper_count
from repsq_ros.campaign.drift import DriftFinding
from repsq_ros.campaign.mean_difference import difference
from repsq_ros.campaign.progress import price_text
from repsq_ros.certificate.lab import LabResult, drift_between_labs, read_lab, require_one_ledger
from repsq_ros.certificate.ledger import read_ledger
from repsq_ros.console.compare_subjects import (
    add_subject_arguments,
    asks_for_subjects,
    compare_subjects,
)
from repsq_ros.console.round_robin import compare_labs, round_robin
from repsq_ros.errors import ParameterError
from repsq_ros.estimation.precision import welch_p
from repsq_ros.estimation.probabilities import (
    confidence_text,
    plug_in,
    plug_in_text,
    probability_text,
    written,
)
from repsq_ros.json_answer import add_json, print_json

DIFFERENT = 8  # exit code
NOT_INDEPENDENT = 12  # exit code: the same value, but from the same seed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command line."""
    parser.add_argument(
        'campaigns',
        type=Path,
        nargs='+',
        metavar='CAMPAIGN',
        help='two or more: folders of campaigns, published folders, or certificates; with --twin '
        'one folder',
    )
    parser.add_argument(
        '--table',
        action='store_true',
        help='the table of a round robin, as by default from three labs on',
    )
    parser.add_argument(
        '--ledger',
        type=Path,
        action='append',
        default=[],
        help="a lab's ledger, or its folder (default: the copies beside the campaigns)",
    )
    add_subject_arguments(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the values side by side.

    :returns: 0: the same value; 8: different ones; 12: the same, but labs share a seed
    """
    paths: list[Path] = arguments.campaigns
    if asks_for_subjects(arguments):
        return compare_subjects(arguments)
    if len(paths) < 2:
        raise ParameterError('campaigns', f'{len(paths)}', 'two folders at least')
    ledgers = [read_ledger(path) for path in arguments.ledger]
    labs = [read_lab(path, ledgers) for path in paths]
    _require_different_campaigns(labs)
    require_one_ledger(labs)
    if any(lab.measured != labs[0].measured for lab in labs):
        _require_one_contract(labs)
    if arguments.json:
        _require_one_contract(labs)
        print_json(_answer(labs))
    else:
        _show(labs, arguments.table)
    if not _agree(labs):
        return DIFFERENT
    return NOT_INDEPENDENT if _labs_of_one_seed(labs) else 0


def _agree(labs: Sequence[LabResult]) -> bool:
    values = [lab.result['value'] for lab in labs]
    # Earlier versions rounded the middle of a cell twice.
    return math.isclose(min(values), max(values), rel_tol=1e-15)


def _show(labs: Sequence[LabResult], table: bool) -> None:
    width = max(len(str(lab.path)) for lab in labs)
    for lab in labs:
        print(f'{lab.path!s:{width}}  {_line(lab)}')
        price = '' if lab.campaign is None else price_text(lab.campaign.result)
        if price:
            print(f'{"":{width}}  lost: {price}')
    if len({lab.digest for lab in labs}) > 1:
        # Different partitions of the same measure: compare means, not values.
        _print_means(labs)
        _require_one_contract(labs)
    values = {lab.result['value'] for lab in labs}
    if _agree(labs):
        print(f'same      {values.pop()!r}, to the last digit')
    else:
        print(f'DIFFERENT {" and ".join(map(repr, sorted(values)))}')
    shared = _labs_of_one_seed(labs)
    if shared:
        print(f'NOT INDEPENDENT {shared}: the same cases, no independent replication')
    else:
        _print_promise(labs)
    _print_means(labs)
    _print_registrations(labs)
    if table or len(labs) > 2:
        print(round_robin(labs))
    print(f'paper     {_paper(labs)}')


def _answer(labs: Sequence[LabResult]) -> dict[str, object]:
    """Return the printed results as an object for programs."""
    drift = drift_between_labs(labs)
    return {
        'same': _agree(labs),
        'independent': not _labs_of_one_seed(labs),
        'labs': [
            {
                'path': lab.path,
                'value': lab.result['value'],
                'tests': lab.result['n'],
                'seed': lab.seed,
                'mean': lab.mean,
                'p_same': plug_in(float(lab.content['promise']['p_same'])),
                'registration': lab.registration.note or lab.registration.not_checked,
            }
            for lab in labs
        ],
        'promise': list(dict.fromkeys(each.content['promise']['agreement'] for each in labs)),
        'drift': drift,
        'welch_p': welch_p([lab.summary for lab in labs]),
        'round_robin': compare_labs(labs),
        'paper': _paper(labs),
    }


def _require_different_campaigns(labs: Sequence[LabResult]) -> None:
    """Refuse to compare a campaign with itself, or with its published copy."""
    seen: dict[str, LabResult] = {}
    for lab in labs:
        other = seen.setdefault(lab.journal_head, lab)
        if other is not lab:
            raise ParameterError(
                'campaigns',
                f'{other.path} and {lab.path}, which are one campaign (journal head '
                f'{lab.journal_head[:12]})',
                'different campaigns',
            )


def _labs_of_one_seed(labs: Sequence[LabResult]) -> str:
    """Return the names of labs with the same seed; '' if all differ."""
    of_seed: dict[int, list[str]] = {}
    for lab in labs:
        of_seed.setdefault(lab.seed, []).append(str(lab.path))
    return '; '.join(
        f'{" and ".join(paths)}, seed {seed}' for seed, paths in of_seed.items() if len(paths) > 1
    )


def _print_promise(labs: Sequence[LabResult]) -> None:
    for sentence in dict.fromkeys(lab.content['promise']['agreement'] for lab in labs):
        print(f'promise   {sentence}')
    estimates = [float(lab.content['promise']['p_same']) for lab in labs]
    if not all(map(math.isnan, estimates)):
        told = ', '.join('not told' if math.isnan(p) else plug_in_text(p) for p in estimates)
        why = 'chance that another run returns the same value: estimated, not guaranteed'
        print(f'p_same    {told} ({why})')


def _print_registrations(labs: Sequence[LabResult]) -> None:
    """Print what each lab registered before its first test."""
    of_text: dict[str, list[str]] = {}
    for lab in labs:
        text = lab.registration.note or lab.registration.not_checked
        of_text.setdefault(text, []).append(str(lab.path))
    for text, paths in of_text.items():
        print(f'register  {" and ".join(paths)}: {text}')


def _line(lab: LabResult) -> str:
    result, campaign = lab.result, lab.content['campaign']
    return (
        f'{result["value"]!r} from {result["n"]} tests: estimate {result["estimate"]:.6g} +- '
        f'{float(result["half_width"]):.4g}, proposal {campaign["proposal"]}, rule '
        f'{result["rule"]}, seed {campaign["seed"]}'
    )


def _require_one_contract(labs: Sequence[LabResult]) -> None:
    first = labs[0]
    for each in labs[1:]:
        if each.digest != first.digest:
            raise ParameterError(
                'campaigns',
                f'values that are not comparable (digests {first.digest[:12]} and '
                f'{each.digest[:12]}) of {first.path} and {each.path}',
                "campaigns of one contract: a replicator runs the initiator's replication.yaml",
            )


def _print_means(labs: Sequence[LabResult]) -> None:
    """Print whether means differ between sessions and between labs, and by how much."""
    for lab in labs:
        sessions = lab.sessions
        if len(sessions) > 1:
            found = lab.drift_of_sessions
            names = [f'session {k}' for k in range(1, len(sessions) + 1)]
            print(f'drift     {lab.path}: {_drift(found, names)}')
    p = welch_p([lab.summary for lab in labs])
    value = '< 0.001' if p < 0.001 else f'= {p:.3f}'
    usual = '' if math.isnan(p) else f"; Welch's test, approximate: p {value}"
    print(f'drift     {_drift(drift_between_labs(labs), [str(lab.path) for lab in labs])}{usual}')
    if len(labs) == 2:
        print(f'A - B     {_difference(*labs)}')


def _drift(found: DriftFinding, names: Sequence[str]) -> str:
    level = f'tested at level {found.level:.4g}'
    if not found.apart:
        return f'none found between {len(names)} {_kind(names)} ({level})'
    pairs = ', '.join(f'{names[i]} and {names[j]}' for i, j in found.apart)
    return f'FOUND between {pairs} ({level})'


def _kind(names: Sequence[str]) -> str:
    return 'sessions' if names[0].startswith('session 1') else 'labs'


def _difference(a: LabResult, b: LabResult) -> str:
    """Describe the difference of two means: by a bet, or for certificates by the intervals."""
    if a.campaign is not None and b.campaign is not None:
        one, other = a.campaign, b.campaign
        c = one.specification.accuracy.c
        found = difference(one.specification, one.tests, other.tests, c, other=other.specification)
        if found is not None and not found.broken:
            pairs = f'{found.pairs} pairs of tests, in their order'
            if found.same_cases:
                pairs = f'{found.pairs} pairs of the same cases (--subjects says more)'
            likely = confidence_text(c)
            return (
                f'in [{found.lower:.4g}, {found.upper:.4g}] with probability {likely}, by {pairs}'
            )
    first, second = a.mean, b.mean
    lower, upper = first.lower - second.upper, first.upper - second.lower
    if not (math.isfinite(lower) and math.isfinite(upper)):
        return 'unknown: one of them has no valid interval'
    both = probability_text((1 - written(first.c)) * (1 - written(second.c)))
    return f'in [{lower:.4g}, {upper:.4g}] with probability {both}, by the interval of each'


def _paper(labs: Sequence[LabResult]) -> str:
    """Describe how many tests the paper's rule takes on the same data."""
    taken = ' + '.join(str(lab.result['n']) for lab in labs)
    counts = [paper_count(lab.campaign) for lab in labs if lab.campaign is not None]
    if len(counts) < len(labs):
        return "A certificate is not enough to compute how many tests the paper's rule would need."
    if not all(count.tests for count in counts):
        return "How many tests the paper's rule would need is not known."
    reached = all(count.reached for count in counts)
    paper = ' + '.join(str(count.tests) for count in counts)
    about, why = ('', '') if reached else ('about ', ' (extrapolated)')
    return (
        f"The paper's rule would have needed {about}{paper} tests instead of {taken}, with the "
        f'same gamma and c{why}.'
    )

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

"""Figures of studies, drawn by matplotlib (optional extra `report`)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from repsq_ros.errors import MissingError, OutputError, ParameterError
from repsq_ros.specification.model import Specification
from repsq_ros.studies.repeated_campaigns import Run
from repsq_ros.studies.summary import Summary

INITIATOR, REPLICATOR = '#0b6e99', '#e07b39'
BINS = 30
FIGURE_BY = 'repsq_ros'  # in the metadata of each figure: marks files that may be overwritten


def require_writable(file: Path) -> None:
    """Check that a figure can be written, before the work is done.

    :raises OutputError: the folder is missing, or cannot be written to
    """
    folder = file.parent
    if not folder.is_dir():
        raise OutputError(f'figure {file}: No such folder as {folder}, expected one to write to')
    if not os.access(folder, os.W_OK):
        raise OutputError(f'figure {file}: {folder} cannot be written to')


def load_pyplot(who: str) -> Any:
    """Return matplotlib's pyplot, which draws into files.

    :param who: the user of matplotlib, for the error message
    :raises MissingError: it is not installed
    """
    try:
        import matplotlib

        matplotlib.use('Agg')
        from matplotlib import pyplot
    except ImportError:
        raise MissingError.of_package(who, 'matplotlib') from None
    return pyplot


def save_figure(figure: Any, file: Path, expected: str, **options: Any) -> None:
    """Write a figure.

    :param expected: allowed kinds of files, in words
    :raises OutputError: it cannot be written
    :raises ParameterError: another kind of file
    """
    try:
        name = 'Software' if file.suffix == '.png' else 'Creator'
        figure.savefig(file, metadata={name: FIGURE_BY}, **options)
    except OSError as error:
        raise OutputError(f'figure {file}: {error.strerror}, expected a file to write') from None
    except ValueError as error:
        raise ParameterError('figure', f'{file} ({error})', expected) from None


def draw_runs(
    file: Path,
    runs: Sequence[tuple[Run, Run]],
    specification: Specification,
    summary: Summary,
) -> None:
    """Draw the estimates of both labs over the partition, and how many tests they took.

    :raises MissingError: matplotlib is not installed
    :raises OutputError: the file cannot be written
    """
    pyplot = load_pyplot('--figure')
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4.4), layout='constrained')
    labs = [[pair[lab] for pair in runs] for lab in (0, 1)]
    _draw_pairs(left, labs, specification, summary)
    counts = [[run.n for run in lab] for lab in labs]
    bins = np.histogram_bin_edges(np.concatenate(counts), BINS)
    for tests, colour, name in zip(
        counts, (INITIATOR, REPLICATOR), ('initiator', 'replicator'), strict=True
    ):
        right.hist(tests, bins=bins, histtype='stepfilled', alpha=0.5, color=colour, label=name)
    right.axvline(summary.tests[1], color='black', linewidth=1.5, label='median of both')
    right.axvline(
        summary.tests[2], color='black', linewidth=1, linestyle=':', label='95 % of both'
    )
    right.set(
        xlabel='tests to the stop', ylabel='campaigns', title=specification.tester.stopping.name
    )
    for axis in (right.xaxis, right.yaxis):
        axis.get_major_locator().set_params(integer=True)
    right.legend(fontsize='small', loc='upper left', bbox_to_anchor=(0.0, -0.14), ncols=2)
    try:
        save_figure(figure, file, 'a .svg, .png or .pdf file')
    finally:
        pyplot.close(figure)


def _draw_square(axes: Any, low: float, high: float, **style: Any) -> None:
    """Draw the square [low, high] of both labs' estimates."""
    axes.plot((low, high, high, low, low), (low, low, high, high, low), **style)


def _draw_pairs(
    axes: Any, labs: Sequence[Sequence[Run]], specification: Specification, summary: Summary
) -> None:
    """Draw each pair of labs as a point, with the cells and gamma + alpha/2."""
    first, second = (np.array([run.estimate for run in lab]) for lab in labs)
    same = np.array([a.value == b.value for a, b in zip(*labs, strict=True)])
    axes.plot(first[same], second[same], 'o', color=INITIATOR, markersize=4, label='same value')
    axes.plot(first[~same], second[~same], 'x', color=REPLICATOR, label='different values')
    reach = specification.accuracy.gamma + specification.alpha / 2
    truth, everything = summary.truth, np.concatenate([first, second])
    low = min(float(everything.min()), truth - 1.1 * reach)
    high = max(float(everything.max()), truth + 1.1 * reach)
    label = 'r* \u00b1 (gamma + alpha/2)'
    _draw_square(axes, truth - reach, truth + reach, color='black', linewidth=1.0, label=label)
    axes.plot(truth, truth, '+', color='black', markersize=14, label='r*')
    if specification.partition is not None:
        shown = [edge for edge in specification.partition.edges if low <= edge <= high]
        for place, edge in enumerate(shown):
            name = None if place else 'edge of a cell'
            axes.axvline(edge, color='0.4', linewidth=0.8, linestyle='--', label=name)
            axes.axhline(edge, color='0.4', linewidth=0.8, linestyle='--')
    else:
        first_run = labs[0][0]
        label = "cell of the first pair's initiator"
        dashed = {'color': '0.4', 'linewidth': 0.8, 'linestyle': '--', 'label': label}
        _draw_square(axes, first_run.cell_lower, first_run.cell_upper, **dashed)
    axes.set(
        xlabel=f'first lab: mean of {specification.axis_of_psi}',
        ylabel=f'second lab: mean of {specification.axis_of_psi}',
        title=f'same value in {summary.agreement.count} of {summary.agreement.of} pairs',
        xlim=(low, high),
        ylim=(low, high),
        aspect='equal',
    )
    axes.legend(fontsize='small', loc='upper left', bbox_to_anchor=(0.0, -0.14), ncols=2)

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

"""Figures of studies; they need matplotlib, of the optional extra `report`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from repsq_ros.console.executor import EXTRA
from repsq_ros.errors import MissingError, OutputError, ParameterError
from repsq_ros.specification.model import Specification
from repsq_ros.studies.simulate import Run, Summary

INITIATOR, REPLICATOR = '#0b6e99', '#e07b39'


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
    try:
        import matplotlib

        matplotlib.use('Agg')
        from matplotlib import pyplot
    except ImportError:
        raise MissingError(f'--figure needs matplotlib: {EXTRA}') from None
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 3.8), layout='constrained')
    labs = [[pair[lab] for pair in runs] for lab in (0, 1)]
    estimates = [[run.estimate for run in lab] for lab in labs]
    for values, colour, name in zip(
        estimates, (INITIATOR, REPLICATOR), ('initiator', 'replicator'), strict=True
    ):
        left.hist(values, bins=30, histtype='stepfilled', alpha=0.5, color=colour, label=name)
    lowest, highest = left.get_xlim()
    if specification.partition is not None:
        for edge in specification.partition.edges:
            if lowest - specification.alpha <= edge <= highest + specification.alpha:
                left.axvline(edge, color='0.4', linewidth=1, linestyle='--')
    left.axvline(summary.truth, color='black', linewidth=1.5, label='r*')
    left.set(
        xlabel='estimate [unit of psi]', ylabel='campaigns',
        title=f'same value in {summary.agreement:.1%} of {summary.pairs} pairs',
    )  # fmt: skip
    left.legend()
    right.hist(
        [run.n for lab in labs for run in lab], bins=30, color=INITIATOR, alpha=0.7
    )  # fmt: skip
    right.axvline(summary.tests[1], color='black', linewidth=1.5, label='median')
    right.axvline(summary.tests[2], color='black', linewidth=1, linestyle=':', label='95 %')
    right.set(
        xlabel='tests to the stop', ylabel='campaigns', title=specification.tester.stopping.name
    )
    right.legend()
    try:
        figure.savefig(file)
    except OSError as error:
        raise OutputError(f'figure {file}: {error.strerror}, expected a file to write') from None
    except ValueError as error:
        raise ParameterError('figure', f'{file} ({error})', 'a .svg, .png or .pdf file') from None
    finally:
        pyplot.close(figure)

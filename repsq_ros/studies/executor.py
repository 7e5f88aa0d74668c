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

"""Parallel execution of studies: on this machine's cores, or on a dask.distributed cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import TypeVar

from repsq_ros.errors import MissingError, ParameterError

Piece = TypeVar('Piece')
Done = TypeVar('Done')


@contextmanager
def open_executor(
    processes: int | None, scheduler: str, total: int, unit: str = 'pair'
) -> Iterator[tuple[Executor | None, Callable[[int], None]]]:
    """Yield an executor (None: this process only) and a function that shows progress.

    :param processes: None: one for each core
    :param scheduler: address of a cluster; '' for none
    :param total: number of pieces
    :param unit: name of a piece
    :raises ParameterError: a wrong number, or no cluster at the address
    :raises MissingError: dask.distributed is not installed, but a cluster is requested
    """
    if processes is not None and processes < 1:
        raise ParameterError('processes', f'{processes}', 'a whole number >= 1')
    with _progress(total, unit) as progress:
        if scheduler:
            with _cluster(scheduler) as executor:
                yield executor, progress
            return
        count = processes or len(os.sched_getaffinity(0))
        if count == 1:
            yield None, progress
            return
        # Spawned, not forked: a fork copies locks that other threads hold, for ever.
        with ProcessPoolExecutor(count, mp_context=get_context('spawn')) as executor:
            yield executor, progress


def in_order(
    executor: Executor | None, work: Callable[[Piece], Done], pieces: Iterable[Piece]
) -> Iterator[Done]:
    """Yield the result of each piece, in order; closing the iterator cancels the rest.

    :param executor: of this machine or of a cluster; None: sequentially in this process
    """
    return map(work, pieces) if executor is None else executor.map(work, pieces)


@contextmanager
def _cluster(address: str) -> Iterator[Executor]:
    try:
        from distributed import Client
    except ImportError:
        raise MissingError.of_package('--scheduler', 'distributed') from None
    try:
        client = Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise ParameterError(
            'scheduler', f'{address} ({error})', 'the address of a dask scheduler, tcp://HOST:8786'
        ) from None
    with client:
        yield client.get_executor()


@contextmanager
def _progress(total: int, unit: str) -> Iterator[Callable[[int], None]]:
    """Show a bar on a terminal, where tqdm is installed."""
    try:
        from tqdm import tqdm
    except ImportError:
        yield lambda done: None
        return
    with tqdm(total=total, unit=unit, disable=None, leave=False) as bar:
        yield bar.update

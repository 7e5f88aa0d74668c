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

"""The folder of a campaign: tests.csv with one line per counted test, and the result."""

from __future__ import annotations

import csv
import os
import shutil
from pathlib import Path

import yaml

from repsq_ros.campaign.journal import JOURNAL
from repsq_ros.campaign.journal_contents import read_contents
from repsq_ros.campaign.records import EstimateRecord, TestRecord
from repsq_ros.campaign.result import Result
from repsq_ros.errors import BagError, OutputError
from repsq_ros.specification.copies import copy_specification, write_replication
from repsq_ros.specification.model import Specification

SPECIFICATION = 'specification.yaml'  # a copy, so that the folder is complete
TESTS = 'tests.csv'
REPLICATION = 'replication.yaml'
RESULT = 'result.yaml'
# After the columns of the case.
COLUMNS = 'psi,psi_error,weight,weight_bound,samples,mean,half_width'
MEASURED = 'measured_'  # prefix of columns with the measured velocity or position


def read_tests(folder: Path, names: tuple[str, ...]) -> list[TestRecord]:
    """Return the tests that a campaign's folder keeps.

    :param folder: the folder, or its tests.csv
    :param names: of the dimensions of a case
    :raises BagError: no such file, or a row that cannot be read
    """
    file = folder / TESTS if folder.is_dir() else folder
    try:
        with file.open(encoding='utf-8', newline='') as opened:
            rows = list(csv.DictReader(opened))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BagError(f'{file}: {error}, expected the {TESTS} of a campaign') from None
    records = []
    for place, row in enumerate(rows, start=1):
        try:
            records.append(
                TestRecord(
                    int(row['index']),
                    int(row['attempt']),
                    float(row['psi']),
                    float(row['weight']),
                    row['valid'] == '1',
                    row['reason'],
                    int(row['samples']),
                    x=tuple(float(row[name]) for name in names),
                    weight_bound=float(row['weight_bound']),
                    psi_error=float(row.get('psi_error', 0.0)),
                    measured=tuple(
                        float(row[name]) for name in row if name.startswith(MEASURED) and row[name]
                    ),
                )
            )
        except (KeyError, TypeError, ValueError) as error:
            raise BagError(
                f'{file}, row {place}: {type(error).__name__} {error}, expected the columns of '
                f'{TESTS} with {", ".join(names)}'
            ) from None
    return records


def keep_file(file: Path, folder: Path, name: str) -> None:
    """Copy a file as it stands into the folder of a campaign.

    :raises OutputError: it cannot be written
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, folder / name)
    except OSError as error:
        raise OutputError.unwritable(folder, error) from None


def tests_header(specification: Specification) -> str:
    """Return the first line of tests.csv."""
    names = ''.join(f',{MEASURED}{name}' for name in specification.measured_names)
    return f'index,attempt,valid,{",".join(specification.box.names)},{COLUMNS}{names},reason'


def tests_row(record: TestRecord, estimate: EstimateRecord, specification: Specification) -> str:
    """Return the line of one attempt in tests.csv."""
    reason = record.reason.replace('"', "'")
    count = len(specification.measured_names)
    measured = [repr(each) for each in record.measured] or [''] * count
    return (
        f'{record.index},{record.attempt},{int(record.valid)},'
        f'{",".join(repr(float(value)) for value in record.x)},{record.psi!r},'
        f'{record.psi_error!r},{record.weight!r},{record.weight_bound!r},{record.samples},'
        f'{estimate.mean!r},{estimate.half_width!r}'
        f'{"".join(f",{each}" for each in measured[:count])},"{reason}"'
    )


def leave_replication(specification: Specification, result: Result, target: Path) -> None:
    """Write what the replicators of an anchored initiator run.

    :raises OSError: a file cannot be read or written
    """
    write_replication(
        Path(specification.file),
        target,
        result.value,
        specification.cells.half_width,
        result.as_initiator(specification),
    )


class CampaignFolder:
    """Writes each test as soon as it is counted, so that an abort loses none.

    :param again: the campaign is resumed: its tests are rewritten from the journal
    :raises OutputError: the folder cannot be written, or holds another campaign
    """

    def __init__(self, folder: Path, specification: Specification, again: bool = False) -> None:
        self._folder, self._specification = folder, specification
        self._journal = folder / JOURNAL
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not (folder / SPECIFICATION).exists():
                copy_specification(Path(specification.file), folder / SPECIFICATION)
            # 'x': never overwrite the files of an earlier campaign.
            self._tests = (folder / TESTS).open('w' if again else 'x', encoding='utf-8')
        except FileExistsError:
            raise OutputError(
                f'output {folder}: found the {TESTS} of an earlier campaign, expected a new folder'
            ) from None
        except OSError as error:
            raise OutputError.unwritable(folder, error) from None
        self._write_line(tests_header(specification))

    def _write_line(self, line: str, sync: bool = True) -> None:
        try:
            self._tests.write(line + '\n')
        except OSError as error:
            raise self._full(error) from None
        if sync:
            self.sync()

    def _full(self, error: OSError) -> OutputError:
        return OutputError(
            f'output {self._folder}: {error.strerror}, expected room for the tests; those before '
            f'are kept in {TESTS}'
        )

    def add(self, record: TestRecord, estimate: EstimateRecord, sync: bool = True) -> None:
        """Append one counted attempt to tests.csv.

        Without `sync` a crash may lose the line. Beside a journal that is enough: the journal
        has each test on the disk before the next one, and the file can be made from it.

        :param sync: flush to the disk before returning
        """
        self._write_line(tests_row(record, estimate, self._specification), sync=False)
        if sync and self._journal.exists():
            self._flush()
        elif sync:
            self.sync()

    def _flush(self) -> None:
        try:
            self._tests.flush()
        except OSError as error:
            raise self._full(error) from None

    def sync(self) -> None:
        """Flush everything to the disk."""
        try:
            self._tests.flush()
            os.fsync(self._tests.fileno())
        except OSError as error:
            raise self._full(error) from None

    def finish(self, result: Result) -> Path:
        """Write the result and, for an anchored partition, the specification of replicators.

        :returns: the file of the result
        """
        self.sync()
        specification = self._specification
        path = self._folder / RESULT
        document = result.document(specification)
        if self._journal.exists():
            contents = read_contents(self._journal)
            document['sessions'] = list(contents.sessions) if contents else []
        text = yaml.safe_dump(document, sort_keys=False, width=100)
        partial = path.with_suffix('.part')
        try:
            partial.write_text(text, encoding='utf-8')
            partial.replace(path)
            if specification.partition is None:
                leave_replication(specification, result, self._folder / REPLICATION)
        except OSError as error:
            raise self._full(error) from None
        return path

    def close(self) -> None:
        """Close tests.csv; nothing can be added after that."""
        self._tests.close()

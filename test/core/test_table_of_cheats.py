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

"""docs/certificate.md tells what is found and what is not: each row is a test that is run."""

import ast
import re

import pytest
from conftest import ROOT

FILES = {
    'core': ('certificate', 'comparison', 'honest_recordings', 'registration'),
    'ros': ('recorded_certificate', 'resume'),
}
LISTS = {'CHEATS', 'CHANGES', 'ONLY_CERTIFIED'}  # of (cheat, ..., the line by which it is found)
SAME_KIND = {  # of bytes that were changed, as rows of the table are
    'lines_swapped', 'byte_behind', 'contract_changed', 'comment_changed', 'table_changed',
    'row_added', 'column_added', 'result_changed', 'replication_changed',
}  # fmt: skip


@pytest.fixture(scope='module')
def tried():
    """Give by its name each test, and the lines by which each cheat of a list is found."""
    found = {}
    for folder, names in FILES.items():
        for name in names:
            tree = ast.parse((ROOT / 'test' / folder / f'test_{name}.py').read_text())
            for node in tree.body:
                if isinstance(node, ast.FunctionDef) and node.name.startswith('test_'):
                    found[node.name] = []
                elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in LISTS:
                    for row in node.value.elts:
                        # Those with the ledger are held to the line of this one check.
                        line = 'registration' if name == 'registration' else row.elts[-1].value
                        found.setdefault(row.elts[0].id, []).append(line)
    return found


def rows(heading):
    text = (ROOT / 'docs' / 'certificate.md').read_text().split(f'### {heading}\n')[1]
    table = re.split(r'\n#+ |\nNot found, and why:', text)[0]
    cells = [[cell.strip(' `') for cell in line.split('|')[1:-1]] for line in table.splitlines()]
    return [row for row in cells if row and row[-1] not in ('', '---', 'test')]


def test_each_cheat_of_the_table_is_tried_and_found_by_the_check_that_it_names(tried):
    cheats = rows('What a lab can try')
    assert [int(number) for number, *_ in cheats] == [*range(1, len(cheats) + 1)]
    assert len(cheats) >= 55
    for number, _, check, name in cheats:
        assert name in tried, number
        # The line that is expected begins with the check.
        begins = [re.split(r'\.\*|: ', line)[0] for line in tried[name]]
        assert not begins or any(each in check.replace('`', '') for each in begins), number
    told = {name for *_, name in cheats}
    left = {name for name, lines in tried.items() if lines} - told
    assert left <= SAME_KIND


def test_each_honest_variant_of_the_table_is_tried(tried):
    honest = rows('What is not held against a lab')
    assert len(honest) >= 12
    assert {name for *_, name in honest} <= tried.keys()


def test_what_cannot_be_found_has_its_reason():
    text = (ROOT / 'docs' / 'certificate.md').read_text().split('Not found, and why:\n\n')[1]
    reasons = text.split('\n\n')[0].replace('\n  ', ' ').splitlines()
    assert len(reasons) >= 7
    assert all(re.match(r'- [^:]+: .+', each) for each in reasons), reasons

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


"""Plain words: sentences that nobody understood are gone, and table cells are short."""

import re

from conftest import ROOT

# Each stood in code, console or docs, and has a plainer form now.
GONE = """
whatever their algorithms
bounds known before its draw
of each: another run returns its cell
within which it does not stop
a certificate does not say
It ends so
are told honestly
a partition that all testers share
tests that had no part in the fit
which of two subjects does better
holds the campaign and says by how much
is never taken for it
ways are straight lines
None of them can change a campaign
Looked at 20 times a second
is told again what is old
vouches for the digest
none of one scale
have no number in common
Where nothing is found, the means
a proposal of its own gives a lab
whoever decides that an attempt
the verdict of that day
vanishes without a word
who tries five rules
lay them over the attained
without it no accuracy is told
CSV of poses into SI
gets .pub behind
What no step goes beyond
what comes out between two tracks
makes up for it: longer than three
Of the longest gaps the last one
may be needs no look at each
What a publisher says that has no name yet
is not to be told from
is no fault of the case
RViz keeps what it was told
is not believed of a twist
Who needs others asks
hardly held by anything
it is certified from the start, without
move the end to an n that suits
Who read our output has had enough
""".strip().split('\n')
LONGEST_CELL = 40  # words
MADE = ('verbs.md',)  # lists the words of an option in one cell


def pages():
    return [*(ROOT / 'docs').rglob('*.md'), ROOT / 'README.md']


def texts():
    """Return all that people read: code with its comments, and pages."""
    files = [*(ROOT / 'repsq_ros').rglob('*.py'), *pages()]
    return {file: ' '.join(file.read_text(encoding='utf-8').split()) for file in files}


def test_sentences_that_had_to_be_read_twice_are_gone():
    assert len(GONE) >= 30
    # Strings and comments are folded over lines.
    joined = {
        file: re.sub(r"' f?'|\" f?\"| # ", lambda found: ' ' if '#' in found[0] else '', text)
        for file, text in texts().items()
    }
    left = [f'{file.name}: {old}' for file, text in joined.items() for old in GONE if old in text]
    assert not left


def test_no_cell_of_a_table_is_a_paragraph():
    long = []
    for file in pages():
        if file.name in MADE:
            continue
        for line in file.read_text(encoding='utf-8').splitlines():
            if line.startswith('|'):
                cells = re.split(r'(?<!\\)\|', line)
                long += [(file.name, cell) for cell in cells if words(cell) > LONGEST_CELL]
    assert not long


def words(cell):
    """Return the number of words of a cell; a link or code is one."""
    return len(re.sub(r'`[^`]*`|\[[^\]]*\]\([^)]*\)', 'x', cell).split())


def test_the_pages_with_the_first_steps_have_short_sentences():
    for name in ('README.md', 'docs/index.md', 'docs/tutorial.md', 'docs/install.md'):
        text = re.sub(
            r'```.*?```|^\|.*$|<[^>]*>', '', (ROOT / name).read_text(), flags=re.S | re.M
        )
        for sentence in re.split(r'[.:;?!](?=\s)|\n\n', text):
            assert len(sentence.split()) <= 32, (name, ' '.join(sentence.split()))

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

"""The command line of repsq: what each verb imports, its help, suggestions and completion."""

import os
import re
import shlex
import subprocess
import sys

import pytest
from conftest import ROOT

from repsq_ros import errors
from repsq_ros.cli import main
from repsq_ros.console import command_line
from repsq_ros.console.verbs import VERBS, Group
from repsq_ros.paper.all_studies import LISTED, STUDIES

# What only some verbs may import when they start, and which: the others start without it.
NUMERIC = {'numpy', 'scipy', 'yaml', 'transforms3d'}
OPTIONAL = {
    'cryptography', 'distributed', 'jinja2', 'jsonschema', 'matplotlib', 'mcap', 'mujoco', 'rclpy',
    'rfc3161_client', 'rich', 'rosbags', 'tqdm',
}  # fmt: skip
LOADED_BY = {
    'repsq_ros.certificate': {'compare', 'certify', 'verify', 'run', 'register', 'report'},
    'repsq_ros.launching': {'run'},
    'repsq_ros.nodes': set(),
    'repsq_ros.recordings': {
        'inspect', 'record', 'reevaluate', 'doctor', 'certify', 'verify', 'selftest',
    },
    'repsq_ros.report': {'report'},
    'repsq_ros.simulation': {'simulate', 'study', 'run', 'selftest', 'twin'},
    'repsq_ros.paper': {'study'},
    'repsq_ros.iso9283': {'import-poses', 'iso9283'},
    'repsq_ros.views': {'watch', 'doctor'},
}  # fmt: skip


def modules_after(code):
    """Return the names of all modules that a new interpreter has after some code."""
    done = subprocess.run(
        [sys.executable, '-c', f'{code}\nimport sys\nprint(*sys.modules, sep="\\n")'],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return set(done.stdout.split('\n'))


@pytest.mark.parametrize('arguments', [['--version'], ['--help']])
def test_what_needs_no_verb_imports_none(arguments):
    loaded = modules_after(
        'from repsq_ros.cli import main\n'
        f'try:\n    main({arguments})\nexcept SystemExit:\n    pass'
    )
    assert not loaded & (NUMERIC | OPTIONAL)
    assert {each for each in loaded if each.startswith('repsq_ros.')} == {
        'repsq_ros.cli', 'repsq_ros.configurations', 'repsq_ros.console',
        'repsq_ros.console.command_line', 'repsq_ros.console.verbs', 'repsq_ros.errors',
    }  # fmt: skip


# One interpreter that has numpy and scipy already makes a copy of itself for each verb.
EACH_VERB = """
import os, sys
import numpy, scipy.stats, scipy.optimize, transforms3d, yaml
from repsq_ros.console.command_line import make_parser
from repsq_ros.console.verbs import VERBS
for verb in VERBS:
    sys.stdout.flush()
    child = os.fork()
    if not child:
        make_parser([verb])
        print(verb, *sys.modules, flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


@pytest.fixture(scope='module')
def loaded_by_verb():
    done = subprocess.run(
        [sys.executable, '-c', EACH_VERB], capture_output=True, text=True, check=True
    )
    lines = [line.split() for line in done.stdout.splitlines()]
    return {verb: set(modules) for verb, *modules in lines}


@pytest.mark.parametrize('verb', VERBS)
def test_a_verb_imports_what_it_needs_and_no_more(verb, loaded_by_verb):
    loaded = loaded_by_verb[verb]
    modules = {each: VERBS[each].path(each) for each in VERBS}
    own = modules.pop(verb)
    assert own in loaded
    assert not loaded & OPTIONAL
    # Some verbs print what another one prints, too.
    assert loaded & {*modules.values()} <= {
        'repsq_ros.console.check',
        'repsq_ros.console.verify',
        'repsq_ros.iso9283.pose_criteria',
    }
    assert not [room for room, verbs in LOADED_BY.items() if room in loaded and verb not in verbs]


def test_a_study_is_imported_when_it_is_asked_for(loaded_by_verb):
    modules = {f'repsq_ros.paper.{each.module}' for each in LISTED.values()}
    assert len(modules) == len(LISTED)
    assert not loaded_by_verb['study'] & modules
    assert [study.name for study in STUDIES.values()] == list(LISTED)


def test_the_verbs_stand_in_four_groups(capsys):
    with pytest.raises(SystemExit):
        main(['--help'])
    text = capsys.readouterr().out
    places = [text.index(f'\n{group.value}:\n') for group in Group]
    assert places == sorted(places)
    for name, verb in VERBS.items():
        assert re.search(rf'^  {name} +{re.escape(verb.summary)}$', text, re.MULTILINE)
    assert max(map(len, text.split('\n'))) <= 99


@pytest.mark.parametrize('verb', VERBS)
def test_the_help_of_a_verb_has_examples_exit_codes_and_named_values(verb, capsys):
    with pytest.raises(SystemExit):
        main([verb, '--help'])
    text = capsys.readouterr().out
    assert f'usage: repsq {verb}' in text
    assert f'  {VERBS[verb].examples[0]}\n' in text
    assert f'    2  {errors.EXIT_CODES[2]}\n' in text
    for code in VERBS[verb].exit_codes:
        assert f'{code:3d}  {errors.EXIT_CODES[code]}\n' in text


@pytest.mark.parametrize('verb', VERBS)
def test_every_example_is_a_command_line_of_its_verb(verb):
    for line in VERBS[verb].examples:
        program, *words = shlex.split(line)
        assert program == 'repsq'
        assert command_line.parse(words).verb == verb


def test_every_exit_code_of_an_error_has_a_meaning():
    kinds = [errors.RepsqError]
    for kind in kinds:
        kinds += kind.__subclasses__()
        assert kind.exit_code in errors.EXIT_CODES, kind
    page = (ROOT / 'docs' / 'console.md').read_text()
    for code, meaning in errors.EXIT_CODES.items():
        assert f'| {code} | {meaning} |' in page


def test_the_page_of_the_console_lists_every_verb():
    page = (ROOT / 'docs' / 'console.md').read_text()
    assert re.findall(r'^\| `repsq ([a-z0-9-]+)` \| (.*) \|$', page, re.MULTILINE) == [
        (name, VERBS[name].summary)
        for group in Group
        for name in VERBS
        if VERBS[name].group is group
    ]


@pytest.mark.parametrize(
    ('former', 'now'),
    [
        ('keygen k', 'certify --keygen k'),
        ('publish c --zip', 'certify --publish c --zip'),
        ('compare-subjects a b --margin 1', 'compare --subjects a b --margin 1'),
    ],
)
def test_a_word_of_an_earlier_version_still_works(former, now):
    assert command_line.parse(former.split()) == command_line.parse(now.split())


def test_every_verb_says_what_it_says_as_json():
    parsers = command_line.make_parser()._subparsers._group_actions[0].choices
    assert not [
        name for name, each in parsers.items() if '--json' not in each._option_string_actions
    ]


@pytest.mark.parametrize(
    ('arguments', 'said'),
    [
        (['comapre', 'a', 'b'], "no command 'comapre'; did you mean compare?"),
        (['dance'], "no command 'dance'\n"),
        (['run', 'x', '--sped', '3'], 'no option --sped; did you mean --speed?'),
        (['run', 'x', '--sped=3'], 'no option --sped; did you mean --speed?'),
        (['run', 'x', '--waltz'], 'no option --waltz\n'),
        ([], 'expected a COMMAND'),
    ],
)
def test_a_mistyped_word_is_answered_with_the_nearest(arguments, said, capsys):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err


def completed(line, tmp_path):
    """Return what argcomplete offers a shell for a line."""
    answers = tmp_path / 'answers'
    subprocess.run(
        [sys.executable, '-m', 'repsq_ros.cli'],
        env={
            **os.environ, '_ARGCOMPLETE': '1', '_ARGCOMPLETE_IFS': '\n', 'COMP_TYPE': '9',
            '_ARGCOMPLETE_STDOUT_FILENAME': str(answers), 'COMP_LINE': line,
            'COMP_POINT': str(len(line)), '_ARGCOMPLETE_SUPPRESS_SPACE': '1',
        },
        check=True,
    )  # fmt: skip
    return {each.strip() for each in answers.read_text().split('\n')}


def test_a_shell_completes_verbs_and_their_options(tmp_path):
    pytest.importorskip('argcomplete')
    assert {'compare', '--completion'} & completed('repsq comp', tmp_path) == {'compare'}
    assert {'--seed', '--session-note'} <= completed('repsq run --se', tmp_path)
    assert '--seed' not in completed('repsq check --se', tmp_path)
    assert {'surrogate', 'arm'} <= completed('repsq run --subject ', tmp_path)


@pytest.mark.parametrize('shell', ['bash', 'zsh', 'fish'])
def test_the_code_for_a_shell_names_repsq(shell, capsys):
    pytest.importorskip('argcomplete')
    assert main(['--completion', shell]) == 0
    assert 'repsq' in capsys.readouterr().out


def test_without_argcomplete_one_line_says_how_to_get_it(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, 'argcomplete', None)
    monkeypatch.setitem(sys.modules, 'argcomplete.shell_integration', None)
    assert main(['--completion', 'bash']) == 5
    assert capsys.readouterr().err.count('\n') == 1


def test_the_man_page_is_made_of_the_parser(tmp_path):
    manpage = pytest.importorskip('argparse_manpage.manpage')
    text = str(manpage.Manpage(command_line.make_parser()))
    for name in VERBS:
        assert name.replace('-', '\\-') in text
    assert 'examples' in text


def test_the_help_of_no_verb_imports_anything_heavy():
    """The start of a verb is what it imports: numpy at most."""
    heavy = 'scipy', 'matplotlib', 'rclpy', 'rosbags', 'mujoco', 'jinja2', 'distributed', 'rich'
    code = (
        'import sys\nfrom repsq_ros.console.command_line import make_parser\n'
        f'for verb in {list(VERBS)}:\n'
        '    make_parser([verb])\n'
        f'    print(*[(verb, name) for name in {heavy!r} if name in sys.modules])'
    )
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []

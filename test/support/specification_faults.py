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

"""Faults of a specification: which key, what stands there, what is found, what was expected."""


def change(path, value):
    """Return a function that sets one key of a specification, or removes it."""

    def apply(content):
        *folders, key = path.split('.')
        for folder in folders:
            content = content[folder]
        if value is REMOVED:
            del content[key]
        else:
            content[key] = value

    return apply


REMOVED = object()
X = 'target.dimensions.linear_x'

FAULTS = [
    ('accuracy.gamma', REMOVED, 'nothing', 'a finite number > 0'),
    ('accuracy.gamma', 0, '0', 'a finite number > 0'),
    ('accuracy.gamma', -0.04, '-0.04', 'a finite number > 0'),
    ('accuracy.gamma', float('nan'), 'nan', 'a finite number > 0'),
    ('accuracy.gamma', float('inf'), 'inf', 'a finite number > 0'),
    ('accuracy.gamma', '0.04 m', "text '0.04 m'", 'a finite number > 0'),
    ('accuracy.gamma', True, 'true', 'a finite number > 0'),
    ('accuracy.gamma', [0.04], 'a list of 1', 'a finite number > 0'),
    ('accuracy.gamma', 1.0, '1.0', 'less than the range of psi'),
    ('accuracy.c', 1, '1', '> 0 and < 1'),
    ('accuracy.beta', 0, '0', '> 0 and < 1'),
    ('accuracy.gama', 0.04, 'an unknown key', "'gamma'?"),
    ('protocol.comand', 5.0, 'an unknown key', "'command'?"),
    ('surprise', 1, 'an unknown key', 'one of'),
    ('format', 2, '2', 'the number 1'),
    ('format', REMOVED, 'nothing', 'the number 1'),
    ('name', 7, '7', 'text'),
    ('name', '', "text ''", 'text'),
    (f'{X}.upper', -0.5, '-0.5', 'above lower = -0.3'),
    (f'{X}.upper', -0.3, '-0.3', 'above lower = -0.3'),
    (f'{X}.unit', 'mm/s', "text 'mm/s'", 'one of m/s'),
    (f'{X}.lower', None, 'nothing', 'a finite number'),
    ('target.dimensions', {}, 'an empty mapping', 'at least one of linear_x'),
    ('target.dimensions', [1], 'a list of 1', 'a mapping'),
    ('target.dimensions.linear_z', {}, 'an unknown dimension', 'one of linear_x'),
    ('target.distribution', 'normal', "text 'normal'", 'one of uniform'),
    ('protocol.window', 6.0, '6.0', 'at most the 5.0 s'),
    ('protocol.dwell', 0, '0', '>= 0.1'),
    ('protocol.type', 'dance', "text 'dance'", 'one of locomotion, positioning, free'),
    ('measure.reduction', 'max', "text 'max'", 'one of sum, mean, rms'),
    ('measure.gain', '6,0', "text '6,0'", 'a finite number > 0'),
    ('measure.largest_gap', 0, '0', 'a finite number > 0'),
    (
        'partition.alpha',
        'wide',
        "text 'wide'",
        "'paper', 'corrigendum', 'iid', 'distinct', 'query', or a finite number > 0",
    ),
    ('partition.alpha', 0, '0', 'a finite number > 0'),
    ('partition.first', 0.2, '0.2', 'at most alpha'),
    ('partition', REMOVED, 'nothing', 'a mapping'),
    ('tester.seed', 1.5, '1.5', 'a whole number >= 0'),
    ('tester.seed', -1, '-1', 'a whole number >= 0'),
    ('tester.max_tests', 1, '1', 'a whole number >= 2'),
    ('tester.stopping.rule', 'luck', "text 'luck'", 'one of empirical_bernstein, hoeffding'),
    ('tester.stopping.range_power', 3, '3', '>= 1 and <= 2'),
]

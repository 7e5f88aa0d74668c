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

"""Specifications that say everything a specification can say, beside the files that they name."""

import copy

import yaml
from conftest import ROOT

FILES = {
    'good.csv': 'linear_x,linear_y,angular_z,weight\n0,0,0,1\n0.1,0,0,3\n0,0,0,1\n',
    'positions.csv': 'x,y,z\n0,0,0\n1,0.5,2\n',
    'own_laws_here.py': """
class Plain:
    def __init__(self, box, **options):
        self.box = box

    def sample(self, generator):
        return self.box.from_unit(generator.random(3))

    def logpdf(self, x):
        return -self.box.log_volume
""",
    'own_measure_here.py': """
class Mine:
    lower, upper, unit, needs = 0, 2, 'm', 'velocity'

    def __init__(self, k=1):
        self.k = k

    def psi(self, seen, window):
        return 0.0
""",
}

g1 = yaml.safe_load((ROOT / 'config' / 'g1_locomotion.yaml').read_text())
ur = yaml.safe_load((ROOT / 'config' / 'ur10e_positioning.yaml').read_text())
specs = {'g1': g1, 'ur': ur}


def put(base, name, **changes):
    c = copy.deepcopy(base)
    for k, v in changes.items():
        *f, key = k.split('__')
        d = c
        for x in f:
            d = d[x]
        if v is None:
            d.pop(key, None)
        else:
            d[key] = v
    specs[name] = c


G, U = lambda n, **k: put(g1, 'g1_' + n, **k), lambda n, **k: put(ur, 'ur_' + n, **k)
# measures / inputs
G('sum', measure__reduction='sum', measure__state_rate=100.0)
G(
    'sum_rate',
    measure__reduction='sum',
    measure__source=None,
    measure__input={'type': 'geometry_msgs/PoseStamped', 'rate': 120.0},
)
G('mean_w', measure__reduction='mean', measure__weights={'linear_x': 1, 'angular_z': 0.5})
G('mocap', measure__source='mocap')
inputs = {
    'odo': {'type': 'nav_msgs/msg/Odometry'},
    'odo_slope': {'type': 'nav_msgs/Odometry', 'velocity': 'slope', 'velocity_span': 0.2},
    'odo_world': {'type': 'nav_msgs/Odometry', 'velocity_frame': 'world'},
    'odo_recv': {'type': 'nav_msgs/Odometry', 'stamp': 'receive'},
    'pose_cubic': {
        'type': 'geometry_msgs/PoseStamped',
        'velocity': 'cubic',
        'velocity_span': 0.15,
        'up_axis': 'y',
        'unit': 'mm',
        'frame': 'world',
    },
    'pose_diff': {'type': 'geometry_msgs/PoseStamped', 'velocity': 'difference'},
    'pose_retime': {
        'type': 'geometry_msgs/PoseStamped',
        'rate': 100,
        'retime': True,
        'stamp': 'receive',
    },
    'rigid': {'type': 'mocap4r2_msgs/RigidBodies', 'body': 'g1'},
    'tf': {'type': 'tf2_msgs/TFMessage', 'body': 'base'},
    'npa': {
        'type': 'motion_capture_tracking_interfaces/NamedPoseArray',
        'body': '3'.replace('3', 'r3'),
    },
    'ext': {
        'type': 'geometry_msgs/PoseStamped',
        'extrinsics': {'translation': [0.1, 0, -0.2], 'rpy': [0.1, 0.2, -0.3]},
    },
    'ext_q': {
        'type': 'geometry_msgs/TransformStamped',
        'extrinsics': {'rotation': [0, 0, 0.70710678, 0.70710678]},
    },
    'twist': {'type': 'geometry_msgs/Twist'},
    'twists': {'type': 'geometry_msgs/TwistStamped', 'velocity_frame': 'world', 'frame': 'odom'},
    'sport': {'type': 'unitree_go/SportModeState'},
    'sport_slope': {'type': 'unitree_go/SportModeState', 'velocity': 'slope'},
    'pwc': {'type': 'geometry_msgs/PoseWithCovarianceStamped', 'rate': 50.0},
}
for n, i in inputs.items():
    G('in_' + n, measure__source=None, measure__input=i)
G(
    'validity',
    measure__validity={
        'largest_gap': 0.3,
        'coverage': 0.7,
        'frozen': 0.5,
        'fastest': 3,
        'fastest_turn': 9,
        'step': 0.01,
        'outlier': 0.002,
        'outlier_turn': 0.01,
    },
)
G('validity2', measure__largest_gap=None, measure__validity={'outlier': 0.001, 'coverage': 0.0})
G('gap', measure__largest_gap=0.4)
G('fall', measure__fall={'height': 0.4})
G('fall2', measure__fall={'height': 0.4, 'tilt': 1.0, 'hold': 0.3})
G('fall3', measure__fall={'tilt': 1.0})
G(
    'cond',
    measure__conditions={
        'battery': {'type': 'unitree_hg/BmsState', 'at_least': 0.2},
        'mode': {'type': 'std_msgs/Float64', 'one_of': [1, 3], 'longest_silence': 2.0},
        'amode': {
            'type': 'ur_dashboard_msgs/msg/SafetyMode',
            'field': 'mode',
            'unit': '1',
            'at_most': 1,
        },
        'bat': {'type': 'sensor_msgs/BatteryState', 'at_least': 0.1, 'at_most': 1},
    },
)
G(
    'ind',
    measure__type='indicator',
    measure__above=0.4,
    measure__of={'type': 'soft_linf', 'gain': 6.0, 'reduction': 'rms'},
    measure__gain=None,
    measure__reduction=None,
    accuracy__gamma=0.1,
)
G(
    'own',
    measure__type='own_measure_here:Mine',
    measure__gain=None,
    measure__reduction=None,
    measure__options={'k': 2.0},
)
# gauges and poses
U(
    'take',
    measure__take='largest',
    measure__tare=1.25,
    measure__travel=None,
    measure__settled_within=None,
)
U('take_last', measure__take=None, measure__tare='before', measure__conditions=None)
for n, i in {
    'f64': {'type': 'std_msgs/Float64', 'unit': 'mm', 'sign': -1, 'scale': 1.002},
    'f32': {'type': 'std_msgs/Float32', 'unit': 'inch', 'error_codes': [999.0, -1]},
    'dial': {'type': 'dial_gauge_msgs/DialGauge'},
    'field': {'type': 'my_msgs/msg/Thing', 'field': 'pose.position[2].x', 'unit': 'um'},
    'field_h': {
        'type': 'my_msgs/msg/Thing',
        'field': 'value',
        'unit': 'cm',
        'stamp': 'header',
        'frame': 'g',
    },
    'codes0': {'type': 'std_msgs/Float64', 'unit': 'mm', 'error_codes': [0]},
}.items():
    U('gauge_' + n, measure__input=i)
P = {'type': 'geometry_msgs/PoseStamped'}
U('body', measure__input=P, measure__take=None, measure__settled_within=None, measure__travel=None)
U(
    'body2',
    measure__input=P,
    measure__take=None,
    measure__settled_within=1.0,
    measure__settled_speed=0.01,
    measure__travel=None,
    measure__reference={'position': [0, 0.1, 0.2], 'rpy': [0, 0, 1]},
)
U(
    'body3',
    measure__input={'type': 'geometry_msgs/PointStamped'},
    measure__take=None,
    measure__settled_within=2.0,
    measure__travel=None,
    measure__reference={'file': 'positions.csv'},
)
U(
    'fpe',
    measure={
        'type': 'final_pose_error',
        'input': P,
        'upper': 5.0,
        'target': {'position': [0, 0, 0]},
        'per_radian': 0,
    },
)
U(
    'fpe2',
    measure={
        'type': 'final_pose_error',
        'input': P,
        'upper': 5.0,
        'target': {'position': [0, 0, 0], 'rotation': [0, 0, 0, 1]},
        'per_radian': 100,
        'settled_within': 0.5,
        'settled_speed': 0.03,
        'validity': {'coverage': 0.5},
    },
)
U(
    'ind',
    measure={
        'type': 'indicator',
        'above': 0.2,
        'of': {'type': 'displacement', 'upper': 0.5, 'take': 'median', 'travel': [0.2, 9.8]},
        'input': {'type': 'sensor_msgs/Range'},
    },
    accuracy__gamma=0.1,
)
# protocols
U(
    'rot',
    protocol__reference={'position': [-0.55, -0.2, 0.25], 'rotation': [1, 0, 0, 0]},
    protocol__before=None,
    protocol__dwell=None,
    protocol__record=None,
    protocol__move=None,
    protocol__settle=None,
)
U(
    'ends',
    protocol__move={'ends': 'time', 'seconds': 4.0},
    protocol__settle={'ends': 'confirm'},
    measure__conditions=None,
)
U('ends2', protocol__move={'ends': 'confirm', 'timeout': 100}, protocol__settle={'ends': 'settle'})
U(
    'feed',
    protocol__feedback={
        'type': 'geometry_msgs/PoseStamped',
        'frame': 'base',
        'unit': 'mm',
        'extrinsics': {'translation': [0, 0, 0.1]},
    },
)
FREE = {
    'type': 'free',
    'commands': 'velocity',
    'phases': [
        {'phase': 'dwell', 'ends': 'time', 'seconds': 1.0},
        {'phase': 'command', 'ends': 'time', 'seconds': 2.0},
        {'phase': 'settle', 'ends': 'settle', 'speed': 0.05, 'hold': 0.5, 'timeout': 10.0},
        {'phase': 'record', 'ends': 'time', 'seconds': 1.0, 'window': 0.5},
    ],
    'feedback': {'type': 'nav_msgs/msg/Odometry'},
}
G('free', protocol=FREE)
G(
    'free2',
    protocol={
        'type': 'free',
        'commands': 'velocity',
        'phases': [
            {'phase': 'dwell', 'ends': 'confirm'},
            {'phase': 'command', 'ends': 'time', 'seconds': 2.0, 'window': 1.0},
        ],
    },
)
U(
    'free',
    protocol={
        'type': 'free',
        'commands': 'pose',
        'frame': 'base',
        'reference': ur['protocol']['reference'],
        'approach': ur['protocol']['approach'],
        'speed': 0.25,
        'acceleration': 0.5,
        'phases': [
            {'phase': 'dwell', 'ends': 'time', 'seconds': 1.0},
            {'phase': 'move', 'to': 'approach', 'ends': 'settle'},
            {'phase': 'move', 'ends': 'settle', 'speed': 0.01},
            {'phase': 'settle', 'ends': 'settle', 'within': 0.001},
            {'phase': 'return', 'to': 'reference_approach', 'ends': 'time', 'seconds': 5.0},
            {'phase': 'return', 'ends': 'settle'},
            {'phase': 'record', 'ends': 'time', 'seconds': 1.0, 'window': 1.0},
        ],
    },
)
# targets
B = {'type': 'beta', 'linear_x': {'a': 0.6, 'b': 0.6}}
N = {
    'type': 'truncated_normal',
    'linear_x': {'mean': 0.1, 'sd': 0.2},
    'angular_z': {'mean': 0, 'sd': 1},
}
GRID = {'type': 'grid', 'linear_x': [-0.2, 0.2], 'linear_y': [0], 'angular_z': [0, 0.1]}
for n, d in {
    'beta': B,
    'normal': N,
    'grid': GRID,
    'table': {'type': 'table', 'file': 'good.csv'},
    'mix': {
        'type': 'mixture',
        'components': [{'share': 0.1, 'type': 'uniform'}, {'share': 0.9, **B}],
    },
    'mixgrid': {
        'type': 'mixture',
        'components': [
            {'share': 0.5, **GRID},
            {'share': 0.5, 'type': 'table', 'file': 'good.csv'},
        ],
    },
    'own': {'type': 'own_laws_here:Plain', 'options': {'a': [1, 2]}},
    'uni': {'type': 'uniform'},
}.items():
    G('target_' + n, target__distribution=d)
G('dims', target__dimensions={'angular_z': {'unit': 'rad/s', 'lower': 0, 'upper': 1}})
# accuracy, partition
G(
    'acc',
    accuracy={'gamma': 0.03, 'c': 0.01, 'beta': 0.2, 'runs': 3, 'selection': 'assume_independent'},
)
for n, p in {
    'uni': {'alpha': 0.1},
    'uni_first': {'type': 'uniform', 'alpha': 0.1, 'first': 0.05},
    'uni_full': {'alpha': 0.1, 'first': 0.1},
    'paper': {'alpha': 'paper', 'first': 0.05},
    'iid': {'alpha': 'iid'},
    'distinct': {'alpha': 'distinct'},
    'seed': {'alpha': 'paper', 'offset_seed': 7},
    'edges': {'type': 'edges', 'edges': [0, 0.2, 0.7, 1]},
    'anch': {'type': 'anchored', 'half_width': 0.06},
    'anch2': {'type': 'anchored', 'anchor': 0.5},
    'anch3': {
        'type': 'anchored',
        'anchor': 0.5,
        'initiator': {
            'outcome': 'reached',
            'rule': 'anytime',
            'gamma': 0.04,
            'c': 0.05,
            'violations': 0,
            'digest': 'abc',
        },
    },
    'anch4': {
        'type': 'anchored',
        'anchor': 0.5,
        'initiator': {
            'outcome': 'budget',
            'rule': 'anytime',
            'gamma': 0.04,
            'c': 0.05,
            'violations': 2,
            'digest': 'abc',
            'provisos': ['a', 'b'],
        },
    },
    'anch5': {
        'type': 'anchored',
        'half_width': 0.08,
        'anchor': 0.5,
        'initiator': {
            'outcome': 'reached',
            'rule': 'anytime',
            'gamma': 0.04,
            'c': 0.05,
            'violations': 0,
            'digest': 'abc',
            'objection': 'bad',
        },
    },
}.items():
    G('part_' + n, partition=p)
G('query', accuracy={'gamma': 0.04, 'c': 0.01, 'beta': 0.2}, partition={'alpha': 'query'})
# testers (digest does not depend; repr does)
for n, p in {
    'sobol': {'type': 'monte_carlo', 'sequence': 'sobol'},
    'imp': {'type': 'importance', 'distribution': B},
    'imp_b': {
        'type': 'importance',
        'distribution': B,
        'weight_bound': 1.2,
        'accept_unproven_bound': True,
    },
    'trunc': {
        'type': 'importance',
        'distribution': {'type': 'beta', 'linear_x': {'a': 1.5, 'b': 1.5}},
        'truncation': 20.0,
    },
    'adapt': 'adaptive',
    'adapt2': {
        'type': 'adaptive',
        'batch': 20,
        'share_of_target': 0.5,
        'rate': 0.2,
        'start': 0.9,
        'fit': 'mle',
        'shapes': [0.6, 0.9],
    },
    'adapt3': {'type': 'adaptive', 'unlimited_shapes': True},
    'ext': {'type': 'external', 'weight_bound': 3.0, 'accept_unproven_bound': True},
    'ext2': {
        'type': 'external',
        'file': 'good.csv',
        'weight_bound': 3.0,
        'accept_unproven_bound': True,
    },
}.items():
    G('prop_' + n, tester__proposal=p)
for n, r in {
    'eb': {'rule': 'empirical_bernstein'},
    'eb2': {'rule': 'empirical_bernstein', 'range_power': 2, 'form': 'two_sided'},
    'hoef': {'rule': 'hoeffding'},
    'any': {'rule': 'anytime', 'c_below': 0.1},
    'fixed': {'rule': 'fixed', 'tests': 10},
    'rel': {'rule': 'relative_half_width', 'relative': 0.1},
    'rel2': {'rule': 'relative_half_width', 'relative': 0.1, 'at_least': 50},
    'div': {'rule': 'divergence_sized', 'margin': 2.0},
    'iso': {'rule': 'iso9283'},
    'iso2': {'rule': 'iso9283', 'cycles': 50},
    'first': {'rule': 'first_of', 'rules': [{'rule': 'anytime'}, {'rule': 'hoeffding'}]},
}.items():
    G('rule_' + n, tester__stopping=r)
G(
    'rule_query',
    accuracy={'gamma': 0.04, 'c': 0.01, 'beta': 0.2},
    partition={'alpha': 'query'},
    tester__stopping={'rule': 'reproducible_query'},
)
G('rule_cell', partition={'alpha': 'paper'}, tester__stopping={'rule': 'certified_cell'})
put(
    specs['g1_ind'],
    'g1_rule_bin',
    tester__stopping={'rule': 'binomial', 'tests': 60, 'c_below': 0.2},
)
for n, c in {
    'reg': 'regression',
    'reg2': {'type': 'regression', 'degree': 3, 'interactions': True},
    'none': 'none',
}.items():
    G('ctl_' + n, tester__control=c)
G('tester', tester__gamma=0.02, tester__max_tests=77, tester__max_attempts=5)

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

"""The real nodes as processes over real DDS, and a peer that listens to them."""

import fcntl
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import rclpy
import yaml
from geometry_msgs.msg import Twist
from rclpy.executors import SingleThreadedExecutor
from std_srvs.srv import Trigger

from repsq_ros import topics
from repsq_ros.campaign.running_time import RunningTime
from repsq_ros.console.processes import simulation_settings
from repsq_ros.launching.campaign_nodes import LOCKSTEP, LOSSLESS, RELIABLE, NodeDescription
from repsq_ros.msg import Estimate, QuantizedResult, TestCommand, TestMeasurement, TestPhase
from repsq_ros.nodes import qos
from repsq_ros.nodes.transport import PROFILES
from support.forked import ForkedGroup

KEPT = {
    topics.TEST_COMMAND: (TestCommand, qos.RECORD),
    topics.TEST_PHASE: (TestPhase, qos.RECORD),
    topics.TEST_MEASUREMENT: (TestMeasurement, qos.RECORD),
    topics.ESTIMATE: (Estimate, qos.RECORD),
    topics.QUANTIZED_RESULT: (QuantizedResult, qos.LATCHED),
    topics.COMMAND_VELOCITY: (Twist, qos.COMMAND),
}
PATIENCE = 150.0  # [s] to wait for what has to come, on however busy a machine
STEP = 0.2  # [s] from one look to the next, at most, while the listener runs
SOON = 10.0  # [s] for what takes a fraction of a second on a machine that is not overloaded
REPEAT = 0.05  # [s] between two repetitions, as of a switch in the field


class Listener:
    """Keeps everything that is said on the campaign's topics and on cmd_vel.

    Within a topic, messages of one publisher arrive in their order; between topics there is none.
    So what is heard on one topic says nothing of what has been heard on another: wait for both.
    """

    def __init__(self, context):
        self.node = rclpy.create_node('listener', context=context)
        self.executor = SingleThreadedExecutor(context=context)
        self.executor.add_node(self.node)
        self._speakers = {}
        self.heard = {topic: [] for topic in KEPT}
        for topic, (kind, profile) in KEPT.items():
            self.node.create_subscription(kind, topic, self.heard[topic].append, profile)

    def speaker(self, name):
        """Return a node of a name of ours: what others say on our topics is not counted."""
        if name not in self._speakers:
            self._speakers[name] = rclpy.create_node(name, context=self.node.context)
            self.executor.add_node(self._speakers[name])
        return self._speakers[name]

    def destroy(self):
        self.executor.shutdown()
        for node in (self.node, *self._speakers.values()):
            node.destroy_node()

    def until(self, condition, timeout=PATIENCE):
        """Listen until a condition holds; fail with what was heard otherwise.

        As in the nodes, time in which the whole machine stood still does not count.
        """
        clock = RunningTime(STEP)
        while not condition():
            clock.look(time.monotonic())
            if clock.now > timeout:
                counts = {topic: len(kept) for topic, kept in self.heard.items()}
                last = [(phase.phase, phase.reason) for phase in self.phases()[-3:]]
                raise AssertionError(
                    f'not within {timeout} s: {condition}; heard {counts}; last phases {last}'
                )
            self.executor.spin_once(timeout_sec=0.05)

    def listen(self, seconds):
        """Listen for a while."""
        end = time.monotonic() + seconds
        self.until(lambda: time.monotonic() > end, seconds + PATIENCE)

    def latest(self, topic, wanted=lambda message: True, timeout=PATIENCE):
        """Listen until the last message of a topic is one that is wanted, and return it."""
        kept = self.heard[topic]
        self.until(lambda: kept and wanted(kept[-1]), timeout)
        return kept[-1]

    def is_in(self, phase, reason=''):
        """Tell whether a phase is the last one heard."""
        last = self.phases()[-1] if self.phases() else None
        return last is not None and last.phase == phase and last.reason.startswith(reason)

    def phase(self, phase, reason='', timeout=PATIENCE):
        """Listen until a phase is the last one heard, and return it."""
        self.until(lambda: self.is_in(phase, reason), timeout)
        return self.phases()[-1]

    def saying(self, publisher, message, condition, timeout=PATIENCE):
        """Listen until a condition holds, repeating a message: a single one may be lost."""
        due = time.monotonic()

        def told():
            nonlocal due
            if time.monotonic() >= due:
                publisher.publish(message)
                due = time.monotonic() + REPEAT
            return condition()

        self.until(told, timeout)

    def until_moving(self, timeout=PATIENCE):
        """Listen until the robot is told to move."""
        self.latest(topics.COMMAND_VELOCITY, lambda twist: not at_rest(twist), timeout)

    def assert_at_rest(self):
        """Listen until zero is commanded, which is soon; nothing but zero may follow."""
        self.latest(topics.COMMAND_VELOCITY, at_rest, SOON)
        count = len(self.commands())
        self.listen(0.5)
        assert all(map(at_rest, self.commands()[count:]))

    def phases(self):
        return self.heard[topics.TEST_PHASE]

    def commands(self):
        return self.heard[topics.COMMAND_VELOCITY]

    def results(self):
        return self.heard[topics.QUANTIZED_RESULT]


def at_rest(twist):
    return not any(
        (twist.linear.x, twist.linear.y, twist.linear.z,
         twist.angular.x, twist.angular.y, twist.angular.z)
    )  # fmt: skip


class Graph:
    """The nodes of one campaign on a ROS domain of their own."""

    def __init__(self, folder, listener):
        self.listener = listener
        self.group = ForkedGroup(folder)
        self.others = []

    def start(self, name, parameters, remappings=()):
        self.group.start(NodeDescription(name, parameters), remappings)

    def popen(self, command, **options):
        """Start another program; it ends with the graph, as after a test that failed."""
        self.others.append(subprocess.Popen(command, **options))
        return self.others[-1]

    def start_again(self, name):
        """Start a node with the parameters that it had before."""
        kept = yaml.safe_load((self.group.folder / 'nodes' / f'{name}.yaml').read_text())
        self.start(name, kept['/**']['ros__parameters'])

    def start_campaign(
        self, specification, robot, estimator=None, remappings=None, launch_id='', **scheduler
    ):
        """Start all four nodes of a simulated campaign.

        :param remappings: rules, by the name of the node
        """
        rules = remappings or {}
        sim_time = robot.get('clock', 'simulated') == 'simulated'
        common = {
            'specification': str(specification), 'use_sim_time': sim_time, 'launch_id': launch_id,
        }  # fmt: skip
        robot_process = self.group.running.get('simulated_robot')
        if robot_process is None or robot_process.poll() is not None:
            self.start('simulated_robot', robot, rules.get('simulated_robot', ()))
        # A simulated robot that lags on a busy machine has stamps that lag.
        self.start(
            'measurement',
            {**common, **LOSSLESS, 'clock_tolerance': 0.0},
            rules.get('measurement', ()),
        )
        self.start('estimator', {**common, **(estimator or {})}, rules.get('estimator', ()))
        # Nobody else is on this domain: what waits for others waits for a moment.
        verified = {'verify_stops': not sim_time}
        lockstep = {**LOCKSTEP, 'speed': robot.get('speed', 1.0)} if sim_time else RELIABLE
        waits = {'peer_settled': 0.2, 'look_around': 0.0}
        scheduler = {
            'attended': False, 'guard': False, **waits, **verified, **lockstep, **scheduler,
        }  # fmt: skip
        if scheduler['guard']:
            arm = robot.get('subject') == 'arm'
            stop = {'command_type': 'urscript' if arm else 'twist'}
            self.start('guard', {**common, **verified, **stop})
        self.start(
            'scheduler', {**common, 'campaign_id': 'lab', **scheduler}, rules.get('scheduler', ())
        )

    def call(self, name):
        """Call a service of the scheduler, and return its answer."""
        client = self.listener.node.create_client(Trigger, f'/scheduler/{name}')
        self.listener.until(client.service_is_ready)
        future = client.call_async(Trigger.Request())
        self.listener.until(future.done)
        self.listener.node.destroy_client(client)
        return future.result()

    def kill(self):
        """End all processes at once: what a test shows, it has shown."""
        for process in self.group.running.values():
            process.kill()
        for process in self.group.running.values():
            process.wait()

    def process(self, name):
        return self.group.running[name]

    def signal(self, name, number):
        self.process(name).send_signal(number)

    def wait(self, name, timeout=PATIENCE):
        """Listen until a process has ended, and return its exit code."""
        self.listener.until(lambda: self.process(name).poll() is not None, timeout)
        return self.process(name).returncode

    def says(self, name, text):
        """Listen until a node has printed a text, which it may do after it has published."""
        self.listener.until(lambda: text in self.output(name))

    def output(self, name):
        return (self.group.folder / 'nodes' / f'{name}.log').read_text()

    def result(self, timeout=2 * PATIENCE):
        """Listen until the result is there; the nodes have to live until then."""

        def there():
            ended = self.group.ended()
            ended.pop('scheduler', None)
            assert not ended, f'{ended}: {[self.group.last_words(name) for name in ended]}'
            return bool(self.listener.results())

        self.listener.until(there, timeout)
        return self.listener.results()[-1]


def _this_machine_alone():
    """Return the variables with which Fast DDS reaches this machine alone, over UDP.

    The discovery range LOCALHOST brings shared memory with it, whatever FASTDDS_BUILTIN_TRANSPORTS
    says, and a process that is killed leaves mutexes in it in which others crash as they end.
    `make bench-faults` tries that, too.
    """
    fast_dds = 'fastrtps' in rclpy.get_rmw_implementation_identifier()
    if os.environ.get('REPSQ_SHARED_MEMORY') == '1' or not fast_dds:
        return {'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST'}
    profiles = dict.fromkeys(PROFILES, str(simulation_settings()))
    return {'ROS_AUTOMATIC_DISCOVERY_RANGE': 'SUBNET', **profiles}


@contextmanager
def domain_of_its_own():
    """Give a ROS domain that no other test run on this machine uses meanwhile.

    It is that of this process and of those that it starts.
    """
    before = dict(os.environ)
    try:
        with _free_domain() as domain:
            os.environ.update(ROS_DOMAIN_ID=str(domain), **_this_machine_alone())
            yield domain
    finally:
        os.environ.clear()
        os.environ.update(before)


@contextmanager
def _free_domain():
    folder = Path(tempfile.gettempdir()) / 'repsq_ros_test_domains'
    folder.mkdir(exist_ok=True)
    for domain in random.SystemRandom().sample(range(1, 101), 100):
        with (folder / str(domain)).open('w') as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            yield domain
            return
    raise RuntimeError('all ROS domains are in use by other test runs')


@contextmanager
def graph(folder):
    """Give a graph on a domain of its own; whatever happens, its processes end."""
    with domain_of_its_own() as domain:
        yield from _graph(folder, domain)


def _graph(folder, domain):
    os.environ['ROS_PYTHON_CHECK_FIELDS'] = '1'
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=domain)
    made = Graph(folder, Listener(context))
    try:
        yield made
    finally:
        for process in made.others:
            process.kill()
            process.wait()
        made.kill()
        made.listener.destroy()
        rclpy.shutdown(context=context)


@contextmanager
def busy_core():
    """Keep one core busy."""
    burner = subprocess.Popen([sys.executable, '-c', 'while True: pass'])
    try:
        yield
    finally:
        burner.send_signal(signal.SIGKILL)
        burner.wait()

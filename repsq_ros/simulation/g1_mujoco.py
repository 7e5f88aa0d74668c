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

"""The Unitree G1 (12 joints) under its published walking policy, in MuJoCo.

Model, gains and policy come from a folder: scene.xml, g1.yaml and walking_policy.npz, an LSTM
(gates in the order i, f, g, o) followed by two linear layers with an ELU between them.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml
from numpy.typing import NDArray

from repsq_ros.errors import MissingError, ParameterError
from repsq_ros.protocols.command_space import CommandKind
from repsq_ros.simulation.simulated_sensors import SensorNoise
from repsq_ros.simulation.subject import BodyState, Command, worn

Array = NDArray[np.float32]

GAIT_PERIOD = 0.8  # [s] of the clock signal in the policy's training
FILES = ('scene.xml', 'g1.yaml', 'walking_policy.npz')


@dataclass(frozen=True)
class G1Changes:
    """Differences from the robot that the policy was trained for."""

    friction: float = 1.0  # factor on the friction of all contacts
    payload: float = 0.0  # [kg] added to the pelvis
    gains: float = 1.0  # factor on stiffness and damping of all joints
    latency: float = 0.0  # [s] from the policy's output to the joints
    wear: float = 0.0  # with each test, 1 / gains grows by this share of the first one


class SimulationState(NamedTuple):
    """The complete state of a walk."""

    physics: NDArray[np.float64]
    memory: tuple[Array, Array]
    action: Array
    target: NDArray[np.float64]
    words: tuple[NDArray[np.float64], ...]  # actions that have not reached the joints yet
    ticks: int


class WalkingPolicy:
    """The recurrent policy: one observation in, one action for each joint out."""

    def __init__(self, weights: Path) -> None:
        with np.load(weights) as arrays:
            self._w = {name: arrays[name].astype(np.float32) for name in arrays}
        self._bias = self._w['memory_bias_ih_l0'] + self._w['memory_bias_hh_l0']
        self.reset()

    def reset(self) -> None:
        """Reset the memory."""
        self._hidden: Array = np.zeros(64, dtype=np.float32)
        self._cell: Array = np.zeros(64, dtype=np.float32)

    @property
    def memory(self) -> tuple[Array, Array]:
        """Return the memory."""
        return self._hidden, self._cell

    def remember(self, memory: tuple[Array, Array]) -> None:
        """Restore the memory."""
        self._hidden, self._cell = memory

    def act(self, observation: Array) -> Array:
        """Return the action (12,) for an observation (47,)."""
        w = self._w
        gates = (
            w['memory_weight_ih_l0'] @ observation
            + w['memory_weight_hh_l0'] @ self._hidden
            + self._bias
        )
        sigmoid = 1.0 / (1.0 + np.exp(-gates))
        self._cell = sigmoid[64:128] * self._cell + sigmoid[:64] * np.tanh(gates[128:192])
        self._hidden = sigmoid[192:] * np.tanh(self._cell)
        inner = w['actor_0_weight'] @ self._hidden + w['actor_0_bias']
        inner = np.where(inner > 0, inner, np.expm1(np.minimum(inner, 0)))
        action: Array = w['actor_2_weight'] @ inner + w['actor_2_bias']
        return action


UNCHANGED = G1Changes()


class G1Mujoco:
    """The walking robot; a command takes effect at the policy's next step, every 20 ms."""

    takes = CommandKind.VELOCITY
    sensors = ('mocap', 'odometry')
    noise = SensorNoise()

    def __init__(self, folder: Path, changes: G1Changes = UNCHANGED) -> None:
        try:
            import mujoco
        except ImportError:
            raise MissingError.of_package('the subject g1', 'mujoco') from None
        self._mujoco: Any = mujoco
        missing = [name for name in FILES if not (folder / name).is_file()]
        if missing:
            raise ParameterError(
                'model',
                f'{folder} without {", ".join(missing)}',
                f'a folder with {", ".join(FILES)}',
            )
        try:
            self._model = mujoco.MjModel.from_xml_path(str(folder / 'scene.xml'))
            config = yaml.safe_load((folder / 'g1.yaml').read_text())
            self._read(config)
            self._policy = WalkingPolicy(folder / 'walking_policy.npz')
        except (ValueError, KeyError, TypeError, yaml.YAMLError) as error:
            raise ParameterError(
                'model', f'{folder} ({" ".join(str(error).split())})', 'a readable G1 model'
            ) from None
        self._data = mujoco.MjData(self._model)
        self._change(changes)
        self.reset(np.random.default_rng(0), 0)

    def _read(self, config: dict[str, Any]) -> None:
        step = float(config['simulation_dt'])
        self._model.opt.timestep = step
        self.tick_ns = round(step * 1e9)
        self._decimation = int(config['control_decimation'])
        self._kp = np.array(config['kps'], dtype=np.float64)
        self._kd = np.array(config['kds'], dtype=np.float64)
        self._default = np.array(config['default_angles'], dtype=np.float64)
        scales = ('ang_vel_scale', 'dof_pos_scale', 'dof_vel_scale', 'action_scale')
        self._scale = {key: float(config[key]) for key in scales}
        self._command_scale = np.array(config['cmd_scale'], dtype=np.float64)
        self._seconds = step

    def _change(self, changes: G1Changes) -> None:
        self._model.geom_friction[:] *= changes.friction
        self._model.body_mass[1] += changes.payload  # 0 is the world
        if changes.payload:
            self._mujoco.mj_setConst(self._model, self._data)
        self._full_kp = self._kp * changes.gains
        self._full_kd = self._kd * changes.gains
        self._wear = changes.wear
        self._late = round(changes.latency / self._seconds)  # ticks

    def standing(self) -> SimulationState:
        """Return the current state, to continue from it later."""
        kind = self._mujoco.mjtState.mjSTATE_INTEGRATION
        physics = np.empty(self._mujoco.mj_stateSize(self._model, kind))
        self._mujoco.mj_getState(self._model, self._data, physics, kind)
        return SimulationState(
            physics,
            self._policy.memory,
            self._action,
            self._target,
            tuple(self._words),
            self._ticks,
        )

    def go_on_from(self, standing: SimulationState) -> None:
        """Restore an earlier state."""
        kind = self._mujoco.mjtState.mjSTATE_INTEGRATION
        self._mujoco.mj_setState(self._model, self._data, standing.physics, kind)
        self._mujoco.mj_forward(self._model, self._data)
        # Forward dynamics change the warm start of the next step: restore it.
        self._mujoco.mj_setState(self._model, self._data, standing.physics, kind)
        self._policy.remember(standing.memory)
        self._set(standing.action, standing.target, standing.words, standing.ticks)

    def reset(self, generator: np.random.Generator, index: int) -> None:
        """Stand at the origin, worn by the tests before. The generator is not used."""
        factor = worn(self._wear, index)
        self._kp, self._kd = self._full_kp / factor, self._full_kd / factor
        self._mujoco.mj_resetData(self._model, self._data)
        self._mujoco.mj_forward(self._model, self._data)
        self._policy.reset()
        still, target = np.zeros(12, dtype=np.float32), self._default.copy()
        self._set(still, target, (target,) * self._late, 0)

    def _set(
        self,
        action: Array,
        target: NDArray[np.float64],
        words: tuple[NDArray[np.float64], ...],
        ticks: int,
    ) -> None:
        self._action, self._target = action, target
        self._words, self._ticks = deque(words), ticks

    def step(self, command: Command) -> None:
        """Simulate one tick: PD joint torques, and every few ticks a new action of the policy."""
        data, target = self._data, self._target
        if self._late:
            self._words.append(target)
            target = self._words.popleft()
        data.ctrl[:] = (target - data.qpos[7:]) * self._kp - data.qvel[6:] * self._kd
        self._mujoco.mj_step(self._model, data)
        self._ticks += 1
        if self._ticks % self._decimation == 0:
            self._action = self._policy.act(self._observation(command))
            self._target = self._action * self._scale['action_scale'] + self._default

    def _observation(self, command: Command) -> Array:
        data, scale = self._data, self._scale
        w, x, y, z = data.qpos[3:7]
        gravity = (2 * (w * y - x * z), -2 * (y * z + w * x), 1 - 2 * (w * w + z * z))
        phase = 2 * math.pi * ((self._ticks * self._seconds) % GAIT_PERIOD) / GAIT_PERIOD
        observation: Array = np.concatenate(
            [
                data.qvel[3:6] * scale['ang_vel_scale'],
                gravity,
                np.asarray(command) * self._command_scale,
                (data.qpos[7:] - self._default) * scale['dof_pos_scale'],
                data.qvel[6:] * scale['dof_vel_scale'],
                self._action,
                (math.sin(phase), math.cos(phase)),
            ]
        ).astype(np.float32)
        return observation

    def seen_by(self, sensor: str) -> BodyState:
        """Return the true state, for all sensors."""
        return self.state()

    def state(self) -> BodyState:
        """Return the current state of the pelvis."""
        data = self._data
        x, y, z = data.qpos[:3].tolist()
        turn_w, turn_x, turn_y, turn_z = data.qpos[3:7].tolist()
        in_body = np.zeros(3)
        turned_back = np.zeros(4)
        self._mujoco.mju_negQuat(turned_back, data.qpos[3:7])
        self._mujoco.mju_rotVecQuat(in_body, data.qvel[:3], turned_back)
        forward, leftward, upward = in_body.tolist()
        roll, pitch, yaw = data.qvel[3:6].tolist()
        return BodyState(
            (x, y, z),
            (turn_x, turn_y, turn_z, turn_w),
            (forward, leftward, upward),
            (roll, pitch, yaw),
        )

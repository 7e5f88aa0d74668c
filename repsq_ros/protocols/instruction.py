"""A command in words, for people who carry it out by hand."""

from __future__ import annotations

from repsq_ros.protocols.command_space import COMPONENTS, REST, UNITS, Command

HOLD = 'stop: hold the robot'


def instruction(kind: str, command: Command) -> str:
    """Return what is to be done.

    :param kind: 'velocity' or 'pose'
    :param command: its components in SI units; what holds the robot is a stop
    """
    if command == REST[kind]:
        return HOLD
    told = ', '.join(
        f'{name} = {value + 0.0:.6g} {unit}'
        for name, value, unit in zip(COMPONENTS[kind], command, UNITS[kind], strict=True)
    )
    return f'move to {told}' if kind == 'pose' else f'command {told}'

"""External wrench by the centroidal momentum: what neither the ground nor gravity explains of its rate."""

from __future__ import annotations

import math

import casadi as cs
import numpy as np

from gradiva.common import (
    GRAVITY,
    NDArray,
    RobotState,
    Side,
    configuration,
    low_pass_gain,
    sealed,
    setting,
)
from gradiva.robot_model import Compiler, FlatFunction, IdynTreeModel, SymbolicDynamics, built_once, interpreted

_STATE = ("base_rotation", "base_twist", "com_position")
_JOINTS = ("positions", "velocities")
_FEET = tuple(f"{side}_foot_{quantity}" for side in Side for quantity in ("position", "wrench"))


@configuration
class ExternalWrenchConfig:
    """Whether the external wrench is estimated, and by which filters.

    Attributes:
        is_estimated: Whether the state has an external wrench.
        time_constant: Of each of the two low passes on the residual, [s].
        offset_time_constant: In which the estimate forgets what lasts, such as offsets of the sensors and errors of the
            model, [s].
        push_force: Residual beyond its offset that is a push, [N].
        dead_band: Part of the offset of the ZMP by the wrench that layer 2 and step adaptation ignore, [m].
        push_offset: Least offset of the ZMP by a wrench that is a push, for a law of layer 2 that takes it itself: more
            than landings add to the estimate, [m].
    """

    is_estimated: bool
    time_constant: float = setting("s", above=0.0)
    offset_time_constant: float = setting("s", above=0.0)
    push_force: float = setting("N", above=0.0)
    dead_band: float = setting("m", least=0.0)
    push_offset: float = setting("m", least=0.0)


_PUSH_TIME_CONSTANT = 10.0  # [s] in which a push that lasts becomes an offset


class ExternalWrenchObserver:
    r"""Estimates the external wrench about the CoM as the low-passed residual of the centroidal momentum's rate.

    .. math::
        r_k = \frac{h_k - h_{k-1}}{\Delta} - \sum_i \begin{bmatrix} f_i \\ \mu_i + (p_i - x) \times f_i \end{bmatrix}_k
        - \begin{bmatrix} m g \\ 0 \end{bmatrix}, \qquad \hat w = F^2 r - b

    with momentum :math:`h = A_G(q) \nu` about the CoM :math:`x`, the wrenches :math:`f_i, \mu_i` of the ground at the
    soles :math:`p_i`, which are means over the interval, and a low pass F of first order. Two of them in series have
    half the noise of one of the same delay, since white noise of the velocities is differentiated. The offset b follows
    :math:`F^2 r`, slowly while it differs by a push.
    """

    def __init__(self, model: IdynTreeModel, config: ExternalWrenchConfig, compiler: Compiler = interpreted) -> None:
        """Build the equations.

        Args:
            model: Of the robot, with its flexible joints where they are observed.
            config: Of the filters.
            compiler: How the equations become fast.
        """
        self._config = config
        key = (momentum_function, model.fingerprint, compiler)
        self._function = built_once(key, lambda: momentum_function(model, compiler))
        self.reset()

    def reset(self) -> None:
        """Forget the past: the next wrench is zero, and the offset is learned anew."""
        self._time, self._begin = -math.inf, math.inf
        self._momentum, self._has_gap = np.zeros(6), False
        self._residual, self._smoothed, self._offset = np.zeros(6), np.zeros(6), np.zeros(6)

    def note_gap(self) -> None:
        """Leave out the change of the momentum until the next update: the clock jumped, its duration is not known."""
        self._has_gap = True

    def update(self, state: RobotState, time: float) -> NDArray:
        """Return the external wrench: force, then moment about the CoM, world axes, [N, N·m], shape (6,).

        Args:
            state: At ``time``.
            time: [s]; the first one since the last reset gives no wrench.
        """
        inputs = {name: getattr(state, name) for name in (*_STATE, *_FEET)}
        for name in _JOINTS:
            actuated, flexible = getattr(state, f"joint_{name}"), getattr(state, f"flexible_{name}")
            inputs[f"joint_{name}"] = np.concatenate((actuated, flexible)) if flexible.size else actuated
        self._function.set(**inputs)
        outputs, period = self._function(), time - self._time
        momentum = outputs["momentum"].copy()
        if math.isinf(period):
            self._begin = time
        elif period > 0.0 and not self._has_gap:
            self._filter((momentum - self._momentum) / period - outputs["load"], time, period)
        if period > 0.0:
            self._time, self._momentum, self._has_gap = time, momentum, False
        return sealed(self._smoothed - self._offset)

    def _filter(self, residual: NDArray, time: float, period: float) -> None:
        config = self._config
        gain = low_pass_gain(config.time_constant, period)
        self._residual += gain * (residual - self._residual)
        self._smoothed += gain * (self._residual - self._smoothed)
        beyond = self._smoothed - self._offset
        time_constant = min(time - self._begin, config.offset_time_constant)  # at first the offset is the mean
        if time_constant == config.offset_time_constant and math.hypot(*beyond[:3]) > config.push_force:
            time_constant = _PUSH_TIME_CONSTANT
        self._offset += low_pass_gain(time_constant, period) * beyond


def momentum_function(model: IdynTreeModel, compiler: Compiler) -> FlatFunction:
    """Return momentum about the CoM, and the wrench of feet and gravity about it, as a function of the state."""
    robot = SymbolicDynamics.of(model)
    feet = {name: cs.SX.sym(name, 6 if name.endswith("wrench") else 3) for name in _FEET}
    com = cs.SX.sym("com_position", 3)
    states = (*_STATE[:2], *(f"joint_{name}" for name in _JOINTS))
    inputs = {name: getattr(robot, name) for name in states} | {"com_position": com, **feet}
    load = cs.SX([0.0, 0.0, -robot.mass * GRAVITY, 0.0, 0.0, 0.0])
    for side in Side:
        wrench, lever = feet[f"{side}_foot_wrench"], feet[f"{side}_foot_position"] - com
        load += cs.vertcat(wrench[:3], wrench[3:] + cs.cross(lever, wrench[:3]))
    momentum = robot.centroidal_momentum_matrix @ cs.vertcat(robot.base_twist, robot.joint_velocities)
    name = f"external_wrench_{model.description.name}"
    return FlatFunction(name, inputs, {"momentum": momentum, "load": load}, compiler)

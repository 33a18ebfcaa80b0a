"""Solve recorded ticks of inverse kinematics by Pink on Pinocchio; a program of its own, for its libraries clash.

Reads a JSON of the problem from standard input and writes the answers, base first in world axes, and their times.
Pink has no velocities of targets: the one of the CoM is a shift of its target.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from importlib import import_module
from typing import Any

import numpy as np

if __name__ == "__main__":  # who merely imports this file has none of them
    pin: Any = import_module("pinocchio")
    pink: Any = import_module("pink")
    limits_of_pink: Any = import_module("pink.limits")
    tasks_of_pink: Any = import_module("pink.tasks")


def main() -> None:
    """Solve each tick ``repeats`` times."""
    logging.disable(logging.WARNING)  # of joints at their limits
    given: dict[str, Any] = json.load(sys.stdin)
    model = reduced(given)
    data, dt, gain = model.createData(), given["dt"], given["gains"]
    feet = [tasks_of_pink.FrameTask(frame, 1.0, 1.0, gain=gain["foot"] * dt) for frame in given["feet"]]
    com = tasks_of_pink.ComTask(1.0, gain=gain["com"] * dt)
    torso = tasks_of_pink.FrameTask(given["torso"], 0.0, given["torso_weight"] ** 0.5, gain=gain["posture"] * dt)
    posture = tasks_of_pink.PostureTask(1.0, gain=gain["posture"] * dt)
    limits = [limits_of_pink.ConfigurationLimit(model, config_limit_gain=1.0), limits_of_pink.VelocityLimit(model)]
    names = [model.names[2 + k] for k in range(model.njoints - 2)]
    order = [given["joints"].index(name) for name in names]
    answers, durations = [], []
    for tick in given["ticks"]:
        q = np.concatenate((tick["base"], np.array(tick["joints"])[order]))
        for task, target in zip(feet, (tick["left"], tick["right"]), strict=True):
            task.set_target(pin.XYZQUATToSE3(np.array(target)))
        com.set_target(np.array(tick["com"][:3]) + np.array(tick["com"][3:6]) / gain["com"])
        torso.set_target(pin.SE3(pin.Quaternion(np.array(tick["torso"])).matrix(), np.zeros(3)))
        posture.set_target(np.concatenate((tick["base"], np.array(given["posture"])[order])))
        for _ in range(given["repeats"]):
            start = time.process_time()
            configuration = pink.Configuration(model, data, q)
            velocity = pink.solve_ik(
                configuration, [torso, posture], dt, "daqp", constraints=[*feet, com], limits=limits, safety_break=False
            )
            durations.append(time.process_time() - start)
        rotation, joints = pin.XYZQUATToSE3(np.array(tick["base"])).rotation, np.zeros(len(order))
        joints[order] = velocity[6:]
        answers.append([*(rotation @ velocity[:3]), *(rotation @ velocity[3:6]), *joints])
    json.dump(
        {"answers": answers, "durations": durations, "version": f"pink on pinocchio {pin.__version__}"}, sys.stdout
    )


def reduced(given: dict[str, Any]) -> Any:
    """Return the model with other joints than those of the problem locked at zero."""
    full = pin.buildModelFromUrdf(given["model"], pin.JointModelFreeFlyer())
    locked = [full.getJointId(name) for name in list(full.names)[2:] if name not in given["joints"]]
    return pin.buildReducedModel(full, locked, pin.neutral(full))


if __name__ == "__main__":
    main()

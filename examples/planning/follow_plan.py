"""A plan alone, and a DCM law alone: a pushed pendulum is led back to the plan, without robot or simulator."""

import numpy as np

import gradiva

PERIOD = 0.01  # [s]


def follow(law_of: type[gradiva.DcmLaw] = gradiva.DcmController, push: float = 0.02) -> dict[str, float]:
    """Return the steps of the plan and its length, and the DCM error in metres: of the push, and a second later.

    Args:
        law_of: Class of the law.
        push: Of the DCM to the left, in the middle of the plan, [m].
    """
    robot = gradiva.load_robot("icub_v3")
    plan = gradiva.WalkingPlanner(robot).plan(gradiva.VelocityCommand(0.2, duration=6.0))
    law = law_of(robot)
    dcm, times = plan.at(0.0).dcm.position, np.arange(0.0, plan.end_time, PERIOD)
    errors = []
    for time in times:
        if abs(time - 3.0) < 0.5 * PERIOD:
            dcm = dcm + np.array([0.0, push])
        reference = plan.at(time).dcm
        errors.append(np.linalg.norm(dcm - reference.position))
        ahead = gradiva.balance_plan(plan, time, robot.description.sole)
        zmp = law.zmp(gradiva.PendulumState(dcm), ahead, PERIOD)
        dcm = zmp + np.exp(reference.divergence_rate * PERIOD) * (dcm - zmp)
    moment = int(np.argmin(abs(times - 3.0)))
    distance = float(plan.at(plan.end_time).com_position[0] - plan.at(0.0).com_position[0])
    return {
        "steps": len(plan.steps),
        "distance": distance,
        "pushed": errors[moment],
        "later": errors[moment + round(1.0 / PERIOD)],
    }


if __name__ == "__main__":
    for law in (gradiva.DcmController, gradiva.DcmMpc):
        print(law.__name__, {name: round(float(value), 4) for name, value in follow(law).items()})

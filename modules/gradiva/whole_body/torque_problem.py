"""A composed problem of whole-body control by torque."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from gradiva.common import NDArray
from gradiva.robot_model import Compiler
from gradiva.whole_body.composed_problem import ComposedProblem
from gradiva.whole_body.problem_draft import ProblemDraft
from gradiva.whole_body.qp_composer import affine
from gradiva.whole_body.qp_solver import SolverName


class TorqueProblem(ComposedProblem):
    """Accelerations and torques of one tick; ``outputs`` has what the draft wanted, and how torques follow."""

    def __init__(self, name: str, draft: ProblemDraft, solver: SolverName, compiler: Compiler) -> None:
        """Build, and compile, the function; ``name`` appears in errors."""
        dynamics, parameters, unknowns = draft.dynamics, draft.parameters, draft.unknowns
        parameters.add(
            base_position=dynamics.base_position,
            base_rotation=dynamics.base_rotation,
            base_twist=dynamics.base_twist,
            joint_positions=dynamics.joint_positions,
            joint_velocities=dynamics.joint_velocities,
        )
        rows, offset = affine(unknowns.torques, unknowns.variables)
        outputs = {"torque_rows": rows, "torque_offset": offset, **draft.outputs}
        robot = dynamics.model.description.name
        super().__init__(name, robot, draft.composer, parameters, solver, compiler, outputs)
        self._joints = dynamics.joints

    def command(self, values: Mapping[str, npt.ArrayLike], relaxed: bool) -> tuple[NDArray, NDArray]:
        """Return ν̇, shape (6 + n,), and τ, [N·m], shape (n,), at the optimum; see `solve`."""
        solution, out = self.solve(values, relaxed), self.outputs
        acceleration = np.concatenate((solution[-6:], solution[: self._joints]))
        return acceleration, out["torque_rows"].dot(solution) + out["torque_offset"]

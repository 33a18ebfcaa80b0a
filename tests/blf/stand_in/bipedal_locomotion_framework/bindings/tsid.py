"""Inverse dynamics: b = a_des + kp e + kd (v_des - v) - J̇ν, base dynamics b = h; world axes, mixed."""

from functools import partial
from types import SimpleNamespace

import idyntree.swig as idyn
import manifpy
import numpy as np

from ._problem import Solver, Task, filled, rotation_error

ACCELERATION = "robot_acceleration_variable_name"


class _Task(Task):
    def joints(self):
        return self.kin_dyn.getNrOfDegreesOfFreedom()

    def speeds(self):
        return filled(self.kin_dyn.getModelVel, (6 + self.joints(),))

    def acceleration_rows(self, J, variables):
        A = np.zeros((len(J), variables.size))
        A[:, variables.spans[self.parameters[ACCELERATION]]] = J
        return A

    def frame(self, name=None):
        name = name or self.parameters["frame_name"]
        J = filled(partial(self.kin_dyn.getFrameFreeFloatingJacobian, name), (6, 6 + self.joints()))
        return J, _vector(self.kin_dyn.getFrameBiasAcc(name))

    def dynamics(self):
        M = filled(self.kin_dyn.getFreeFloatingMassMatrix, (6 + self.joints(), 6 + self.joints()))
        bias = idyn.FreeFloatingGeneralizedTorques(self.kin_dyn.model())
        self.kin_dyn.generalizedBiasForces(bias)
        base = _vector(bias.baseWrench())
        return M, np.concatenate((base, _vector(bias.jointTorques())))

    def contacts(self):
        groups = (group for name, group in self.parameters.items() if name.startswith("CONTACT_"))
        return [(group["variable_name"], group["frame_name"]) for group in groups]

    def forces(self, variables, rows):
        """Return A and b of selected rows of M ν̇ + h = [0; τ] + Σ Jᵀ f."""
        M, h = self.dynamics()
        A = -self.acceleration_rows(M[rows], variables)
        for variable, frame in self.contacts():
            A[:, variables.spans[variable]] = self.frame(frame)[0].T[rows]
        return A, h[rows]


def _vector(value):
    return np.array(value.toNumPy(), dtype=float).ravel() if hasattr(value, "toNumPy") else np.array(list(value))


class SE3Task(_Task):
    mandatory = (ACCELERATION, "frame_name", "kp_linear", "kd_linear", "kp_angular", "kd_angular")

    def set_set_point(self, I_H_F, mixed_velocity, mixed_acceleration):
        self.target, self.velocity = I_H_F, mixed_velocity.coeffs()
        self.acceleration = mixed_acceleration.coeffs()
        return True

    def rows(self, variables):
        (J, bias), (position, rotation) = self.frame(), self.pose()
        slip, gains = self.velocity - J @ self.speeds(), self.gain
        linear = gains("kp_linear") * (self.target.translation() - position) + gains("kd_linear") * slip[:3]
        angular = gains("kp_angular") * rotation_error(self.target.rotation(), rotation)
        angular = angular + gains("kd_angular") * slip[3:]
        return self.acceleration_rows(J, variables), self.acceleration + np.concatenate((linear, angular)) - bias


class SO3Task(_Task):
    mandatory = (ACCELERATION, "frame_name", "kp_angular", "kd_angular")

    def set_set_point(self, I_R_F, angular_velocity, angular_acceleration):
        self.target, self.velocity = I_R_F.rotation(), angular_velocity.coeffs()
        self.acceleration = angular_acceleration.coeffs()
        return True

    def rows(self, variables):
        J, bias = (each[3:] for each in self.frame())
        error = self.gain("kp_angular") * rotation_error(self.target, self.pose()[1])
        error = error + self.gain("kd_angular") * (self.velocity - J @ self.speeds())
        return self.acceleration_rows(J, variables), self.acceleration + error - bias


class CoMTask(_Task):
    mandatory = (ACCELERATION, "kp_linear", "kd_linear")

    def set_set_point(self, position, velocity, acceleration):
        self.target, self.velocity, self.acceleration = map(np.array, (position, velocity, acceleration))
        return True

    def rows(self, variables):
        J = filled(self.kin_dyn.getCenterOfMassJacobian, (3, 6 + self.joints()))
        error = self.gain("kp_linear") * (self.target - _vector(self.kin_dyn.getCenterOfMassPosition()))
        error = error + self.gain("kd_linear") * (self.velocity - J @ self.speeds())
        b = self.acceleration + error - _vector(self.kin_dyn.getCenterOfMassBiasAcc())
        return self.acceleration_rows(J, variables), b


class JointTrackingTask(_Task):
    mandatory = (ACCELERATION, "kp")

    def set_set_point(self, joint_position, joint_velocity, joint_acceleration):
        self.target, self.velocity, self.acceleration = map(
            np.array, (joint_position, joint_velocity, joint_acceleration)
        )
        return len(self.target) == self.joints()

    def rows(self, variables):
        J = np.hstack((np.zeros((self.joints(), 6)), np.eye(self.joints())))
        q = filled(self.kin_dyn.getJointPos, (self.joints(),))
        error = self.gain("kp") * (self.target - q) + self.gain("kd") * (self.velocity - self.speeds()[6:])
        return self.acceleration_rows(J, variables), self.acceleration + error


class BaseDynamicsTask(_Task):
    mandatory = (ACCELERATION,)

    def rows(self, variables):
        return self.forces(variables, slice(0, 6))


class JointDynamicsTask(_Task):
    mandatory = (ACCELERATION, "joint_torques_variable_name")

    def rows(self, variables):
        A, b = self.forces(variables, slice(6, None))
        A[:, variables.spans[self.parameters["joint_torques_variable_name"]]] = np.eye(self.joints())
        return A, b


class VariableRegularizationTask(Task):
    mandatory = ("variable_name", "variable_size")

    def set_set_point(self, set_point):
        self.target = np.array(set_point)
        return len(self.target) == self.parameters["variable_size"]

    def rows(self, variables):
        A = np.zeros((len(self.target), variables.size))
        A[:, variables.spans[self.parameters["variable_name"]]] = np.eye(len(self.target))
        return A, self.target


class FeasibleContactWrenchTask(_Task):
    """Friction pyramid, centre of pressure and yaw torque of a rectangular sole, about its frame, as Caron has them."""

    is_inequality = True
    mandatory = (
        *("frame_name", "variable_name", "number_of_slices", "static_friction_coefficient"),
        *("foot_limits_x", "foot_limits_y"),
    )
    is_active = True

    def set_contact_active(self, is_active):
        self.is_active = is_active

    def cone(self):
        mu, slices = self.parameters["static_friction_coefficient"], self.parameters["number_of_slices"]
        (back, front), (right, left) = self.parameters["foot_limits_x"], self.parameters["foot_limits_y"]
        half = np.pi / (4 * slices)
        rows = []
        for angle in half * (1 + 2 * np.arange(4 * slices)):
            row = np.array([np.cos(angle), np.sin(angle), -mu * np.cos(half), 0, 0, 0])
            rows.append(row / abs(np.sin(angle)))
        rows += [[0, 0, right, -1, 0, 0], [0, 0, -left, 1, 0, 0], [0, 0, back, 0, 1, 0], [0, 0, -front, 0, -1, 0]]
        cx, cy, X, Y = 0.5 * (back + front), 0.5 * (right + left), 0.5 * (front - back), 0.5 * (left - right)
        for sign in (-1, 1):
            for a in (-1, 1):
                for b in (-1, 1):
                    down = a * mu * cy - b * mu * cx - mu * (X + Y)
                    rows.append([sign * cy + a * Y, -sign * cx + b * X, down, -a * mu, -b * mu, sign])
        return np.array([*rows, [0, 0, -1, 0, 0, 0], [0, 0, 1, 0, 0, 0]], dtype=float)

    def rows(self, variables):
        rotation, cone = self.pose()[1], self.cone()
        A = np.zeros((len(cone), variables.size))
        turned = np.hstack((cone[:, :3] @ rotation.T, cone[:, 3:] @ rotation.T))
        A[:, variables.spans[self.parameters["variable_name"]]] = turned
        return A, np.append(np.zeros(len(cone) - 1), 1e30 if self.is_active else 0.0)


class QPTSID(Solver):
    mandatory = (ACCELERATION, "joint_torques_variable_name", "contact_wrench_variables_name")

    def state(self, x):
        spans = self.variables.spans
        motion = x[spans[self.parameters[ACCELERATION]]]
        names = self.parameters["contact_wrench_variables_name"]
        return SimpleNamespace(
            base_acceleration=manifpy.SE3Tangent(motion[:6]),
            joint_accelerations=motion[6:],
            joint_torques=x[spans[self.parameters["joint_torques_variable_name"]]],
            contact_wrenches={name: SimpleNamespace(wrench=x[spans[name]]) for name in names},
        )

"""Inverse kinematics: b = v_des + kp (p_des - p), ω_des + kp log(R_des Rᵀ); world axes, mixed."""

from functools import partial
from types import SimpleNamespace

import manifpy
import numpy as np

from ._problem import Solver, Task, filled, rotation_error

VELOCITY = "robot_velocity_variable_name"


class _Task(Task):
    def columns(self, variables):
        return variables.spans[self.parameters[VELOCITY]]

    def joints(self):
        return self.kin_dyn.getNrOfDegreesOfFreedom()

    def positions(self):
        return filled(self.kin_dyn.getJointPos, (self.joints(),))

    def jacobian(self):
        call = partial(self.kin_dyn.getFrameFreeFloatingJacobian, self.parameters["frame_name"])
        return filled(call, (6, 6 + self.joints()))


class SE3Task(_Task):
    mandatory = (VELOCITY, "frame_name", "kp_linear", "kp_angular")

    def set_set_point(self, I_H_F, mixed_velocity):
        self.target, self.velocity = I_H_F, mixed_velocity.coeffs()
        return True

    def rows(self, variables):
        position, rotation = self.pose()
        linear = self.gain("kp_linear") * (self.target.translation() - position)
        angular = self.gain("kp_angular") * rotation_error(self.target.rotation(), rotation)
        return self.jacobian(), self.velocity + np.concatenate((linear, angular))


class SO3Task(_Task):
    mandatory = (VELOCITY, "frame_name", "kp_angular")

    def set_set_point(self, I_R_F, angular_velocity):
        self.target, self.velocity = I_R_F.rotation(), angular_velocity.coeffs()
        return True

    def rows(self, variables):
        error = rotation_error(self.target, self.pose()[1])
        return self.jacobian()[3:], self.velocity + self.gain("kp_angular") * error


class CoMTask(_Task):
    mandatory = (VELOCITY, "kp_linear")

    def set_set_point(self, position, velocity):
        self.target, self.velocity = np.array(position), np.array(velocity)
        return True

    def rows(self, variables):
        J = filled(self.kin_dyn.getCenterOfMassJacobian, (3, 6 + self.joints()))
        com = self.kin_dyn.getCenterOfMassPosition().toNumPy()
        return J, self.velocity + self.gain("kp_linear") * (self.target - com)


class JointTrackingTask(_Task):
    mandatory = (VELOCITY, "kp")

    def set_set_point(self, joint_position, joint_velocity):
        self.target, self.velocity = np.array(joint_position), np.array(joint_velocity)
        return len(self.target) == self.joints()

    def rows(self, variables):
        J = np.hstack((np.zeros((self.joints(), 6)), np.eye(self.joints())))
        return J, self.velocity + self.gain("kp") * (self.target - self.positions())


class _Limits(_Task):
    is_inequality = True

    def rows(self, variables):
        lower, upper = self.bounds()
        J = np.hstack((np.zeros((self.joints(), 6)), np.eye(self.joints())))
        return np.vstack((J, -J)), np.concatenate((upper, -lower))


class JointLimitsTask(_Limits):
    mandatory = (VELOCITY, "sampling_time", "klim", "use_model_limits", "upper_limits", "lower_limits")

    def bounds(self):
        assert not self.parameters["use_model_limits"], "limits of the model are wrong where a joint has none"
        gain, q = self.gain("klim") / self.parameters["sampling_time"].total_seconds(), self.positions()
        return gain * (self.gain("lower_limits") - q), gain * (self.gain("upper_limits") - q)


class JointVelocityLimitsTask(_Limits):
    mandatory = (VELOCITY, "upper_limits", "lower_limits")

    def bounds(self):
        return self.gain("lower_limits"), self.gain("upper_limits")


class QPInverseKinematics(Solver):
    mandatory = (VELOCITY,)

    def state(self, x):
        return SimpleNamespace(base_velocity=manifpy.SE3Tangent(x[:6]), joint_velocity=x[6:])

"""Rows of the tasks of a problem, and its solution by DAQP."""

import time

import daqp
import idyntree.swig as idyn
import numpy as np

TOLERANCE = 1e-9


def rotation_error(desired, measured):
    """Return log(R_des R^T) in world axes."""
    turn = desired @ measured.T
    axis = 0.5 * np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    sine, cosine = np.linalg.norm(axis), 0.5 * (np.trace(turn) - 1.0)
    return axis if sine < 1e-12 else axis * np.arctan2(sine, cosine) / sine


def filled(call, shape):
    """Return the matrix or vector that a call of iDynTree fills."""
    found = idyn.MatrixDynSize(*shape) if len(shape) == 2 else idyn.VectorDynSize(*shape)
    call(found)
    return found.toNumPy().copy()


class Task:
    """Rows A and b of an equality, or of the inequality A x <= b."""

    is_inequality = False
    mandatory = ()

    def set_kin_dyn(self, kin_dyn):
        self.kin_dyn = kin_dyn
        return kin_dyn.isValid()

    def initialize(self, param_handler):
        self.parameters = param_handler.values
        return all(name in self.parameters for name in self.mandatory)

    def gain(self, name):
        return np.array(self.parameters[name])

    def pose(self):
        transform = self.kin_dyn.getWorldTransform(self.parameters["frame_name"])
        return transform.getPosition().toNumPy().copy(), transform.getRotation().toNumPy().copy()


class Solver:
    def initialize(self, handler):
        self.parameters, self.tasks, self.output, self.variables = handler.values, {}, None, None
        return all(name in self.parameters for name in self.mandatory)

    def add_task(self, task, task_name, priority, weight=None):
        is_known = task_name in self.tasks or priority not in (0, 1) or (weight is None) == (priority == 1)
        if is_known or (task.is_inequality and priority):
            return False
        self.tasks[task_name] = (task, None if weight is None else np.array(weight, dtype=float))
        return True

    def finalize(self, handler):
        self.variables = handler
        return True

    def advance(self):
        start, self.output, n = time.perf_counter(), None, self.variables.size
        H, f, rows, lower, upper = np.zeros((n, n)), np.zeros(n), [], [], []
        for task, weight in self.tasks.values():
            A, b = task.rows(self.variables)
            if weight is not None:
                assert len(weight) == len(b), "a weight is as long as its task"
                H += (A.T * weight) @ A
                f -= A.T @ (weight * b)
            else:
                rows.append(A)
                upper.append(b)
                lower.append(np.full(len(b), -np.inf) if task.is_inequality else b)
        lower, upper = np.concatenate(lower), np.concatenate(upper)
        sense = np.where(lower == upper, 5, 0).astype(np.int32)
        x, _, flag, _ = daqp.solve(H, f, np.vstack(rows), upper, lower, sense, primal_tol=TOLERANCE)
        self.duration = time.perf_counter() - start
        if flag <= 0:
            return False
        self.output = self.state(x)
        return True

    def is_output_valid(self):
        return self.output is not None

    def get_output(self):
        return self.output

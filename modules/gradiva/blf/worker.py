"""Solve problems with bipedal-locomotion-framework, in an interpreter of its own that has neither Gradiva nor CasADi.

`WorkerProcess` starts this file. Requests arrive on standard input, answers leave on the former standard output; what
the framework prints goes to standard error. The first request is the problem in JSON, all others are ticks:

* request: kind (``J`` or ``T``), bytes; then JSON, or the numbers of the state and of the set points in the order of
  the tasks;
* answer: status, seconds of the solver and of its set points, bytes; then numbers, or JSON of what failed.

A pose is a position and a rotation by rows; poses, velocities and accelerations are in world axes, mixed. Python 3.8
and NumPy are enough; the framework, manifpy and iDynTree's SWIG bindings are imported with the first problem.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import struct
import sys
import time
from datetime import timedelta
from typing import Any

import numpy as np

REQUEST, ANSWER = struct.Struct("<cI"), struct.Struct("<BdI")
PROBLEM, TICK = b"J", b"T"
SOLVED, REFUSED, BROKEN = 0, 1, 2  # status: numbers; a call returned False; an exception
MODULES = ("manifpy", "idyntree.swig", "bipedal_locomotion_framework.bindings")  # in the order of their import
_MAX_ITERATIONS_TIME = 5e-3  # [s] that a QP takes only when it ends at its iteration limit
_OSQP_1 = "as with FeasibleContactWrenchTask on OSQP 1.0, on which it never succeeds: install osqp 0.6.3 there"


class Refused(Exception):  # noqa: N818 (it reads as the sentence it is)
    """Reports a call that returned False: the call, and the task that it was for."""

    def __init__(self, call: str, task: str = "") -> None:
        super().__init__(f"{call} returned False")
        self.task = task


def checked(answer: Any, call: str, task: str = "") -> None:
    """Raise `Refused` where a call returned False; others return nothing."""
    if answer is False:
        raise Refused(call, task)


def quaternion(rotation: Any) -> list[float]:
    """Return x, y, z, w of a rotation matrix, shape (3, 3)."""
    (a, b, c), (d, e, f), (g, h, i) = rotation.tolist()
    if a + e + i > 0.0:
        w = 0.5 * math.sqrt(1.0 + a + e + i)
        found = (h - f) / (4.0 * w), (c - g) / (4.0 * w), (d - b) / (4.0 * w), w
    elif a >= e and a >= i:
        x = 0.5 * math.sqrt(1.0 + a - e - i)
        found = x, (b + d) / (4.0 * x), (c + g) / (4.0 * x), (h - f) / (4.0 * x)
    elif e >= i:
        y = 0.5 * math.sqrt(1.0 - a + e - i)
        found = (b + d) / (4.0 * y), y, (f + h) / (4.0 * y), (c - g) / (4.0 * y)
    else:
        z = 0.5 * math.sqrt(1.0 - a - e + i)
        found = (c + g) / (4.0 * z), (f + h) / (4.0 * z), z, (d - b) / (4.0 * z)
    norm = math.sqrt(sum(each * each for each in found))
    return [each / norm for each in found]


class Numbers:
    """Reads a flat array piece by piece."""

    def __init__(self, flat: Any) -> None:
        self._flat, self._next = flat, 0

    def take(self, size: int) -> Any:
        """Return the next ``size`` numbers."""
        self._next += size
        return self._flat[self._next - size : self._next]

    def rotation(self) -> Any:
        """Return the next rotation, shape (3, 3)."""
        return self.take(9).reshape(3, 3)


class Framework:
    """Holds the modules of the framework, and builds its parameter handlers."""

    def __init__(self) -> None:
        self.manif, swig, self.blf = (importlib.import_module(name) for name in MODULES)
        self.swig = swig

    def handler(self, parameters: dict[str, Any]) -> Any:
        """Return the handler of a dict; times are timedelta, groups are dicts."""
        handler = self.blf.parameters_handler.StdParametersHandler()
        for name, value in parameters.items():
            if isinstance(value, dict):
                checked(handler.set_group(name, self.handler(value)), f"StdParametersHandler.set_group('{name}')")
            else:
                getattr(handler, f"set_parameter_{_type_of(value)}")(name, value)
        return handler

    def pose(self, position: Any, rotation: Any) -> Any:
        """Return a pose of manif."""
        return self.manif.SE3(position=position, quaternion=quaternion(rotation))


def _type_of(value: Any) -> str:
    """Return the end of the name of the setter of a value."""
    if isinstance(value, list):
        return f"vector_{_type_of(value[0])}"
    names = ((bool, "bool"), (int, "int"), (float, "float"), (str, "string"), (timedelta, "datetime"))
    return next(name for kind, name in names if isinstance(value, kind))


# -- whole body ------------------------------------------------------------------------------------------------------


class WholeBody:
    """A problem of tasks, by inverse kinematics or task-space inverse dynamics.

    Each task is a dict: ``name``, ``type``, ``priority`` (0 hard, 1 weighted), ``weight`` of the latter,
    ``parameters``; a task without set points is only initialised.
    """

    def __init__(self, framework: Framework, problem: dict[str, Any]) -> None:
        self._framework, self._joints = framework, len(problem["joints"])
        self._is_dynamic = problem["kind"] == "tsid"
        self._module = framework.blf.tsid if self._is_dynamic else framework.blf.ik
        self._gravity = np.array([0.0, 0.0, -problem["gravity"]])
        self._kindyn = self._loaded(problem)
        self._contacts = problem.get("contacts", [])  # names of the variables of the wrenches
        self._solver, self._kind = self._make_solver()
        self._tasks = [(task, self._added(task)) for task in problem["tasks"]]
        self._finalize()
        self._has_succeeded = False

    def _loaded(self, problem: dict[str, Any]) -> Any:
        swig, loader = self._framework.swig, self._framework.swig.ModelLoader()
        loaded = loader.loadReducedModelFromFile(problem["model"], problem["joints"])
        checked(loaded, f"loadReducedModelFromFile('{problem['model']}')")
        kindyn = swig.KinDynComputations()
        checked(kindyn.loadRobotModel(loader.model()), "loadRobotModel")
        checked(kindyn.setFrameVelocityRepresentation(swig.MIXED_REPRESENTATION), "setFrameVelocityRepresentation")
        checked(kindyn.setFloatingBase(problem["base"]), f"setFloatingBase('{problem['base']}')")
        return kindyn

    def _make_solver(self) -> tuple[Any, str]:
        if not self._is_dynamic:
            parameters = {"robot_velocity_variable_name": "robot_velocity", "verbosity": False}
            kind, solver = "QPInverseKinematics", self._module.QPInverseKinematics()
        else:
            parameters = {
                "robot_acceleration_variable_name": "robot_acceleration",
                "joint_torques_variable_name": "joint_torques",
                "contact_wrench_variables_name": self._contacts,
                "verbosity": False,
            }
            kind, solver = "QPTSID", self._module.QPTSID()
        checked(solver.initialize(handler=self._framework.handler(parameters)), f"{kind}.initialize")
        return solver, kind

    def _added(self, given: dict[str, Any]) -> Any:
        name, kind, parameters = given["name"], given["type"], dict(given["parameters"])
        if "sampling_time" in parameters:
            parameters["sampling_time"] = timedelta(seconds=parameters["sampling_time"])
        if kind not in ("VariableRegularizationTask", "FeasibleContactWrenchTask"):
            motion = "acceleration" if self._is_dynamic else "velocity"
            parameters[f"robot_{motion}_variable_name"] = f"robot_{motion}"
        task = getattr(self._module, kind)()
        if kind != "VariableRegularizationTask":
            checked(task.set_kin_dyn(self._kindyn), f"{kind}.set_kin_dyn", name)
        checked(task.initialize(param_handler=self._framework.handler(parameters)), f"{kind}.initialize", name)
        if given["priority"]:
            added = self._solver.add_task(task, name, given["priority"], given["weight"])
        else:
            added = self._solver.add_task(task, name, 0)
        checked(added, f"{self._kind}.add_task", name)
        return task

    def _finalize(self) -> None:
        variables, motion = self._framework.blf.system.VariablesHandler(), 6 + self._joints
        sizes = {"robot_velocity": motion}
        if self._is_dynamic:
            sizes = {"robot_acceleration": motion, "joint_torques": self._joints, **dict.fromkeys(self._contacts, 6)}
        for name, size in sizes.items():
            checked(variables.add_variable(name, size), f"VariablesHandler.add_variable('{name}')")
        checked(self._solver.finalize(handler=variables), f"{self._kind}.finalize")

    def solve(self, numbers: Numbers) -> Any:
        """Return the velocity; or acceleration, torques and wrenches of the contacts."""
        self._set_state(numbers)
        for given, task in self._tasks:
            self._set_point(given, task, numbers)
        start = time.perf_counter()
        has_advanced = self._solver.advance()
        if has_advanced is False:
            self._refuse(time.perf_counter() - start)
        checked(self._solver.is_output_valid(), f"{self._kind}.is_output_valid")
        self._has_succeeded = True
        return self._output()

    def _refuse(self, duration: float) -> None:
        is_osqp_1 = self._is_dynamic and not self._has_succeeded and duration > _MAX_ITERATIONS_TIME
        raise Refused(f"{self._kind}.advance{f' ({_OSQP_1})' if is_osqp_1 else ''}")

    def _set_state(self, numbers: Numbers) -> None:
        pose, size = np.eye(4), self._joints
        pose[:3, 3], pose[:3, :3] = numbers.take(3), numbers.rotation()
        twist, positions, speeds = numbers.take(6), numbers.take(size), numbers.take(size)
        checked(self._kindyn.setRobotState(pose, positions, twist, speeds, self._gravity), "setRobotState")

    def _set_point(self, given: dict[str, Any], task: Any, numbers: Numbers) -> None:
        """Set the set point of a task, where it has one; a foot that carries load stays where it is."""
        kind = given["type"]
        if kind == "SE3Task":
            call = self._pose_set_point(given, task, numbers)
        elif kind == "SO3Task":
            rotation = self._framework.manif.SO3(quaternion=quaternion(numbers.rotation()))
            tangent = self._framework.manif.SO3Tangent
            rates = [tangent(numbers.take(3)) for _ in range(1 + self._is_dynamic)]
            call = task.set_set_point(rotation, *rates)
        elif kind in ("CoMTask", "JointTrackingTask"):
            size = 3 if kind == "CoMTask" else self._joints
            call = task.set_set_point(*(numbers.take(size) for _ in range(2 + self._is_dynamic)))
        elif kind == "VariableRegularizationTask":
            call = task.set_set_point(numbers.take(given["parameters"]["variable_size"]))
        elif kind == "FeasibleContactWrenchTask":
            checked(task.set_contact_active(bool(numbers.take(1)[0])), f"{kind}.set_contact_active", given["name"])
            return
        else:
            return
        checked(call, f"{kind}.set_set_point", given["name"])

    def _pose_set_point(self, given: dict[str, Any], task: Any, numbers: Numbers) -> Any:
        """Set the pose of a foot: as given, or in torque control where it stands, while it carries load."""
        stands = self._is_dynamic and bool(numbers.take(1)[0])
        position, rotation = numbers.take(3), numbers.rotation()
        if stands:
            measured = self._kindyn.getWorldTransform(given["parameters"]["frame_name"])
            position = np.array(measured.getPosition().toNumPy())
            rotation = np.array(measured.getRotation().toNumPy())
        rates = [self._framework.manif.SE3Tangent(numbers.take(6)) for _ in range(1 + self._is_dynamic)]
        return task.set_set_point(self._framework.pose(position, rotation), *rates)

    def _output(self) -> Any:
        output = self._solver.get_output()
        if not self._is_dynamic:
            return np.concatenate((coefficients(output.base_velocity), output.joint_velocity))
        wrenches = [coefficients(output.contact_wrenches[name].wrench) for name in self._contacts]
        motion = coefficients(output.base_acceleration), output.joint_accelerations
        return np.concatenate((*motion, output.joint_torques, *wrenches))


def coefficients(value: Any) -> Any:
    """Return the numbers of a tangent of manif, or of a vector."""
    return np.asarray(value.coeffs() if hasattr(value, "coeffs") else value, dtype=float)


# -- centroidal MPC --------------------------------------------------------------------------------------------------


class CentroidalMpc:
    """The MPC of the framework; its clock begins at zero and goes on by its period with each solution.

    Times of the problem and of the contacts are whole periods from now; momenta and forces are per kilogram.
    """

    def __init__(self, framework: Framework, problem: dict[str, Any]) -> None:
        self._framework, parameters = framework, dict(problem["parameters"])
        self._period = parameters["sampling_time"]
        for name in ("sampling_time", "time_horizon"):
            parameters[name] = timedelta(seconds=parameters[name])
        self._names = [group["contact_name"] for group in parameters.values() if isinstance(group, dict)]
        self._parameters = parameters
        self._begin()

    def _begin(self) -> None:
        """Build it anew: whether its clock goes on where it has no solution is not known."""
        self._mpc: Any = self._framework.blf.reduced_model_controllers.CentroidalMPC()
        self._solved = 0
        checked(self._mpc.initialize(self._framework.handler(self._parameters)), "CentroidalMPC.initialize")

    def solve(self, numbers: Numbers) -> Any:
        """Return corner forces now, where each contact is or lands next, and CoM, its velocity, angular momentum."""
        state = [numbers.take(3) for _ in range(3)]
        com = numbers.take(3 * int(numbers.take(1)[0])).reshape(-1, 3)
        contacts = {name: self._contacts(name, numbers) for name in self._names}
        phases, mpc, kind = self._framework.blf.contacts.ContactPhaseList(), self._mpc, "CentroidalMPC"
        checked(phases.set_lists(contacts), "ContactPhaseList.set_lists")
        still = [np.zeros(3) for _ in com]
        checked(mpc.set_reference_trajectory(list(com), still), f"{kind}.set_reference_trajectory")
        checked(mpc.set_contact_phase_list(phases), f"{kind}.set_contact_phase_list")
        checked(mpc.set_state(*state), f"{kind}.set_state")
        if mpc.advance() is False:
            self._begin()
            raise Refused(f"{kind}.advance")
        answer = self._output(mpc.get_output())
        self._solved += 1
        return answer

    def _contacts(self, name: str, numbers: Numbers) -> Any:
        """Return the contacts of one name."""
        found = self._framework.blf.contacts.ContactList()
        found.set_default_name(name)
        for _ in range(int(numbers.take(1)[0])):
            begin, end = (self._time(each) for each in numbers.take(2))
            pose = self._framework.pose(numbers.take(3), numbers.rotation())
            checked(found.add_contact(pose, begin, end), "ContactList.add_contact", name)
        return found

    def _time(self, periods: float) -> timedelta:
        """Return the time of the framework's clock that is ``periods`` from now, not before its beginning."""
        return timedelta(seconds=max(0, round(periods) + self._solved) * self._period)

    def _output(self, output: Any) -> Any:
        forces = [corner.force for name in self._names for corner in output.contacts[name].corners]
        places = [self._place(output.contact_phase_list, name) for name in self._names]
        trajectories = output.com_trajectory, output.com_velocity_trajectory, output.angular_momentum_trajectory
        return np.concatenate([*forces, *places, *(np.ravel(each) for each in trajectories)]).astype(float)

    def _place(self, phases: Any, name: str) -> Any:
        """Return the position of the contact that lasts or comes next."""
        for phase in (phases[index] for index in range(phases.size())):
            if phase.end_time > self._time(0) and name in phase.active_contacts:
                return np.asarray(phase.active_contacts[name].pose.translation(), dtype=float)
        return np.full(3, np.inf)


# -- pipe ------------------------------------------------------------------------------------------------------------


def read_exactly(source: int, size: int) -> bytes:
    """Return ``size`` bytes of a descriptor; fewer where it ended."""
    found = b""
    while len(found) < size:
        part = os.read(source, size - len(found))
        if not part:
            break
        found += part
    return found


def answer_of(solver: Any, kind: bytes, data: bytes) -> tuple[Any, tuple[int, float, bytes]]:
    """Return the solver, which the first request makes, and status, seconds and bytes of the answer."""
    start = time.perf_counter()
    try:
        if kind == PROBLEM:
            problem = json.loads(data)
            make: Any = CentroidalMpc if problem["kind"] == "centroidal_mpc" else WholeBody
            return make(Framework(), problem), (SOLVED, 0.0, b"")
        found = solver.solve(Numbers(np.frombuffer(data)))
        return solver, (SOLVED, time.perf_counter() - start, found.tobytes())
    except Refused as error:
        status, text = REFUSED, {"text": str(error), "task": error.task}
    except Exception as error:
        status, text = BROKEN, {"text": f"{type(error).__name__}: {error}", "task": ""}
    return solver, (status, time.perf_counter() - start, json.dumps(text).encode())


def main() -> None:
    """Answer requests until the pipe is closed."""
    answers, solver = os.dup(1), None
    os.dup2(2, 1)
    while True:
        head = read_exactly(0, REQUEST.size)
        if len(head) < REQUEST.size:
            return
        kind, size = REQUEST.unpack(head)
        solver, (status, seconds, data) = answer_of(solver, kind, read_exactly(0, size))
        os.write(answers, ANSWER.pack(status, seconds, len(data)) + data)


if __name__ == "__main__":
    sys.path.pop(0)  # the folder of this file
    main()

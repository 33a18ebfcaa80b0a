"""Check the folder of a robot against its model: configuration, names, mass, soles, limits, ports."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import tomli_w

from gradiva.common import (
    ControlMode,
    ModelError,
    ModelNotInstalled,
    NDArray,
    Side,
    WalkingError,
    merge,
    nearest_name,
)
from gradiva.common.errors import FAIL, OK, WARN, Finding
from gradiva.robot_model import IdynTreeModel, RobotDescription, RobotPorts, force_torque_mount
from gradiva.setup.layers import Plant, nested
from gradiva.setup.load_setup import Setup, load_setup
from gradiva.setup.new_robot import Choices, find_limbs, fit_sole
from gradiva.setup.robots import load_robot
from gradiva.setup.soft_floors import is_too_soft, soft_floor_note, stiffer_floor
from gradiva.setup.stability_margins import GAIN_MARGIN, StabilityMargins, stability_margins
from gradiva.setup.standing_plant import StandingBody
from gradiva.simulation import load_tree, read_urdf, sole_boxes

_POSTURE_TOLERANCE = 1.5  # [deg] beyond a joint limit: where the inverse kinematics begins, it ends inside
_SOLE_TOLERANCE = 0.01  # [m] between the sole and the shapes of the foot
_ROUNDS = 6  # gains that are lowered one after the other, each at most so often
_HALF = 0.5  # [-] of a gain that has no value with wide margins of its own, before the next is looked at
_FILES = {"zmp_com_controller": "simplified_model.toml", "foot_admittance": "whole_body.toml"}  # by position control
_NO_TORQUE = 1e-3  # [N·m] that a joint need not have
_LEVEL = 0.99  # [-] cosine between the vertical and the z axis of a sole of the straight robot
_CHOICES: tuple[dict[str, str], ...] = (
    {},
    {"walking.control": "torque"},
    {"walking.control": "torque", "simulation.ground.kind": "viscoelastic"},
)


def check_robot_folder(argument: str, needs_model: bool = True) -> list[Finding]:
    """Check one robot, found by name or path; the text of a finding begins with its subject.

    A model that Gradiva does not bring may be missing unless ``needs_model``: a warning is then all that is found.
    """
    try:
        robot = load_robot(argument)
    except ModelNotInstalled as error:
        return [Finding(FAIL if needs_model else WARN, str(error))]
    except WalkingError as error:
        return [Finding(FAIL, str(error))]
    checks: tuple[Callable[[RobotDescription], Iterator[Finding]], ...] = (
        _mass,
        _names,
        _soles,
        _limits,
        _ports,
    )
    of_files = _tried("configuration", lambda: _configuration(argument, robot))
    of_model = [finding for check in checks for finding in _tried(check.__name__.strip("_"), partial(check, robot))]
    if any(finding.verdict == FAIL for finding in (*of_files, *of_model)):
        return [*of_files, *of_model]
    return [*of_files, *of_model, *torque_findings(argument), *_tried("margins", lambda: margin_findings(argument))]


def _tried(name: str, check: Callable[[], Iterator[Finding]]) -> list[Finding]:
    """Return the findings of a check; a WalkingError in it is one as well."""
    try:
        return list(check())
    except WalkingError as error:
        return [Finding(FAIL, f"{name}: {error}")]


def _configuration(argument: str, robot: RobotDescription) -> Iterator[Finding]:
    for choice in _CHOICES:
        weights = load_setup(argument, choice).walking.inverse_kinematics.posture_weights
    robot.spread(weights, "inverse_kinematics.posture_weights")
    yield Finding(OK, "configuration")


def torque_findings(argument: str) -> list[Finding]:
    """Return whether the peak torques of a robot hold it in its start posture on both feet, and on either.

    Gears that do not turn hold more than that. On one foot the CoM is above it, as it nearly is in a walk. On both feet
    the torques hold for equal vertical forces alone: forces sideways, or more on one foot, may unload the weak joint.
    """
    return _tried("torques", lambda: _standing_torques(argument))


@dataclass(frozen=True, slots=True, eq=False)
class _StandingLoad:
    """Torques that hold a robot on some of its feet, beside its limits.

    Attributes:
        where: The feet that stand, in words.
        needed: Torques without their signs, [N·m], shape (n,).
        fractions: The same in those limits; infinite where a joint without torque needs some, [-], shape (n,).
    """

    where: str
    needed: NDArray
    fractions: NDArray

    @property
    def most(self) -> float:
        """Largest of the fractions, [-]."""
        return float(self.fractions.max())


def _standing_torques(argument: str) -> Iterator[Finding]:
    setup = load_setup(argument)
    limits = IdynTreeModel(setup.robot).torque_limits()
    both, *one = _standing_loads(setup, limits)
    worst = both if both.most > 1.0 or not one else max(one, key=lambda load: round(load.most, 2))  # left of equal ones
    weakest, others = int(np.argmax(worst.fractions.round(3))), int(np.sum(worst.fractions > 1.0)) - 1
    joint = setup.robot.joints[weakest]
    if worst.most <= 1.0:
        yield Finding(OK, f"stands on {worst.where} with {worst.most:.0%} of the torque of {joint}")
        yield from _against_friction(setup.robot, limits, worst)
        return
    need = f"{joint} needs {worst.needed[weakest]:.3g} N·m to stand on {worst.where} and has {limits[weakest]:.3g}"
    more = f", {others} more lack some" * (others > 0) + _same(setup.robot, limits, weakest)
    yield Finding(FAIL, f"torques: {need}{more}")


def _against_friction(robot: RobotDescription, limits: NDArray, load: _StandingLoad) -> Iterator[Finding]:
    """Warn of a joint that holds a load, with the friction of its drive, and does not lift it, against that friction.

    Position control may walk so: where its joints yield, friction holds them.
    """
    lifted = (1.0 - robot.per_joint("gear_loss")) * limits - robot.per_joint("coulomb_friction")
    lifted = np.maximum(lifted, 0.0)
    short = np.flatnonzero((load.needed > lifted) & (load.needed > _NO_TORQUE))
    if short.size:
        weakest = int(short[np.argmax((load.needed[short] - lifted[short]).round(3))])
        lifts = f"{robot.joints[weakest]} lifts {lifted[weakest]:.3g} N·m against its friction"
        need = f"and needs {load.needed[weakest]:.3g} on {load.where}"
        more = f", {short.size - 1} more lack some" * (short.size > 1)
        yield Finding(WARN, f"torques: {lifts} {need}{more}: by torque, on plant robot, it may stop or fall")


def _standing_loads(setup: Setup, limits: NDArray) -> Iterator[_StandingLoad]:
    """Yield the load on both feet, then on each; a robot that stands on both need not reach a posture on one."""
    for sides in (tuple(Side), *((side,) for side in Side)):
        try:
            needed = np.abs(StandingBody(setup, sides).joint_torques)
        except ModelError:
            if len(sides) > 1:
                raise
            continue
        without = np.where(needed > _NO_TORQUE, np.inf, 0.0)  # of joints whose limit is zero
        where = "both feet" if len(sides) > 1 else f"the {sides[0]} foot"
        yield _StandingLoad(where, needed, np.divide(needed, limits, out=without, where=limits > 0.0))


def _same(robot: RobotDescription, limits: NDArray, weakest: int) -> str:
    """Return a note on a limit that all joints of the legs have as well: drives of real ones differ."""
    is_one = {*limits[[robot.joints.index(joint) for joint in robot.leg_joints]]} == {limits[weakest]}
    return "; all joints of the legs have it: a placeholder, to be corrected in the URDF?" * is_one


def margin_findings(argument: str, plants: Sequence[Plant] = (Plant.IDEAL, Plant.ROBOT)) -> Iterator[Finding]:
    """Yield the stability margins of a robot for each plant and control mode with a loop through measured wrenches.

    A loop without margin is a warning on a plant with dry friction, which holds small oscillations.

    Args:
        argument: Name or folder of the robot.
        plants: Whose ages of samples and commands the loop has.

    Raises:
        WalkingError: The configuration is refused, or the robot cannot stand as it should.
    """
    for plant, control in product(plants, (ControlMode.POSITION, ControlMode.VELOCITY)):
        setup = load_setup(argument, {"walking.control": str(control), "walking.model": "dcm"}, plant=plant)
        found = stability_margins(setup)
        finding = found.finding()
        verdict = WARN if finding.verdict == FAIL and setup.simulation.friction.coulomb else finding.verdict
        loop, remedies = f"{control} control, plant {plant}: wrench loop, {found.figures}{found.balance_text}", []
        if is_too_soft(setup):
            verdict, remedies = max(verdict, WARN, key=(OK, WARN, FAIL).index), [stiffer_floor(setup)]
            loop += f"; {soft_floor_note(setup)}"
        yield Finding(verdict, loop, "; ".join(filter(None, [finding.remedy, *remedies])))


class LoweredGains(NamedTuple):
    """Gains of one control mode that differ from the shipped ones, with the margins before.

    Attributes:
        control: The mode.
        gains: By key.
        before: The least margins with the gains that were there.
    """

    control: ControlMode
    gains: Mapping[str, float]
    before: StabilityMargins

    @property
    def note(self) -> str:
        """One line for the user."""
        gains = ", ".join(f"{key} = {value:g}" for key, value in self.gains.items())
        return f"by {self.control} {gains}: the shipped gains leave {' '.join(self.before.figures.split())}"


def widen_margins(folder: Path, heading: str) -> Iterator[tuple[Path, LoweredGains]]:
    """Write the gains with which the loops of a draft have a gain margin, by position, then by velocity control.

    The shipped gains are those of robots whose servos yield as iCub's do; stiff servos, or velocity loops that follow
    within a tick, leave less. What takes most of it is lowered as ``gradiva robots`` advises; phase margin and M_s
    alone lower nothing: MagicBot Z1, with 6.5 dB and 20°, walks with the shipped gains and falls with half of them.

    Args:
        folder: Of the robot, which walks; files that are there stay.
        heading: Of the files.

    Yields:
        Each file that is written, with the gains.

    Raises:
        WalkingError: The configuration is refused, or the robot cannot stand as it should.
    """
    for control in (ControlMode.POSITION, ControlMode.VELOCITY):
        lowered = _lowered(folder, control)
        if lowered is None:
            continue
        files: dict[str, dict[str, float]] = {}
        for key, value in lowered.gains.items():
            name = _FILES[key.partition(".")[0]] if control is ControlMode.POSITION else "velocity.toml"
            files.setdefault(name, {})[key] = value
        for name, gains in files.items():
            tables = reduce(merge, (nested(key, value) for key, value in gains.items()))
            text = f"# {heading} by {control} control, for wide stability margins: see gradiva robots.\n\n"
            (folder / name).write_text(text + tomli_w.dumps(tables), encoding="utf-8")
            yield folder / name, lowered


def _lowered(folder: Path, control: ControlMode) -> LoweredGains | None:
    """Return the gains of one mode that have to be lowered; None where none has, or where that does not widen it."""
    gains: dict[str, float] = {}
    before = None
    for _ in range(_ROUNDS):
        choice = {"walking.control": str(control), "walking.model": "dcm", **gains}
        setups = [load_setup(str(folder), choice, plant=plant) for plant in (Plant.IDEAL, Plant.ROBOT)]
        found = [(stability_margins(setup), setup) for setup in setups]
        narrow, setup = min(found, key=lambda pair: pair[0].margins.gain_db)
        before = before or narrow
        if narrow.margins.gain_db >= GAIN_MARGIN:
            return LoweredGains(control, gains, before) if gains else None
        if not narrow.gain:
            return None
        factor = _HALF if math.isnan(narrow.largest) else narrow.largest / narrow.value
        gains[narrow.gain] = _rounded(factor * narrow.value)
        if narrow.gain.endswith(".zmp"):
            beside = narrow.gain.removesuffix("zmp") + "com"
            law = setup.walking.zmp_com_controller
            pair = law.walking if ".walking." in narrow.gain else law.standing
            gains[beside] = _rounded(factor * pair.com)
    return None


def _rounded(gain: float) -> float:
    """Return a gain rounded down to three digits."""
    digits = 2 - math.floor(math.log10(gain))
    return math.floor(gain * 10.0**digits) / 10.0**digits


def _mass(robot: RobotDescription) -> Iterator[Finding]:
    mass = read_urdf(robot.model_path).mass
    robot.check_mass(mass)
    yield Finding(OK, f"mass {mass:.2f} kg")


def _names(robot: RobotDescription) -> Iterator[Finding]:
    model = _model(robot)
    soles = Choices(left_sole=robot.left_foot_frame, right_sole=robot.right_foot_frame)
    limbs = find_limbs(read_urdf(robot.model_path), soles)
    locked = [joint for leg in limbs.legs.values() for joint in leg if joint not in robot.joints]
    if locked:
        yield Finding(FAIL, f"names: {', '.join(locked)} of the legs are in no joint group")
    else:
        yield Finding(OK, f"names of {len(robot.joints)} joints and {model.model.getNrOfLinks()} links")


def _soles(robot: RobotDescription) -> Iterator[Finding]:
    tree = load_tree(_of_any_mass(robot))
    sole_boxes(robot, tree)
    frames = [robot.foot_frame(side) for side in Side]
    poses = _model(robot).poses_seen_from(robot.base_link, frames, np.zeros(len(robot.joints)))
    for frame, (_, rotation) in zip(frames, poses, strict=True):
        if rotation[2, 2] < _LEVEL:
            yield Finding(FAIL, f"soles: z of '{frame}' does not point up when all joints are at zero")
    try:
        fitted = fit_sole(tree.body_of(robot.left_foot_frame), robot.left_foot_frame, robot.model_path)
    except ModelError as error:
        yield Finding(WARN, f"soles: not compared with the shapes of the foot: {error}")
        return
    pairs = zip((*robot.sole.x, *robot.sole.y, robot.sole.z), (*fitted.x, *fitted.y, fitted.z), strict=True)
    if max(abs(described - found) for described, found in pairs) > _SOLE_TOLERANCE:
        yield Finding(WARN, f"soles: described x={robot.sole.x}, y={robot.sole.y}, z={robot.sole.z}; shapes: {fitted}")
    else:
        yield Finding(OK, f"soles {robot.sole.length:.3f} × {robot.sole.width:.3f} m")


def _limits(robot: RobotDescription) -> Iterator[Finding]:
    model = _model(robot)
    low, high = np.degrees(model.joint_limits())
    outside = [
        f"{joint} starts at {angle:.1f}°, its limits are {lower:.1f}° and {upper:.1f}°"
        for joint, angle, lower, upper in zip(robot.joints, np.degrees(robot.posture), low, high, strict=True)
        if not lower - _POSTURE_TOLERANCE <= angle <= upper + _POSTURE_TOLERANCE
    ]
    yield from (Finding(FAIL, f"limits: {text}") for text in outside)
    if not outside:
        yield Finding(OK, "limits")


def _ports(robot: RobotDescription) -> Iterator[Finding]:
    if robot.ports is None:
        yield Finding(OK, "no ports (simulated within the process only)")
        return
    model, urdf = _model(robot), read_urdf(robot.model_path)
    for joint in robot.ports.joints:
        if joint not in urdf.joints:
            yield Finding(FAIL, f"ports: no joint '{joint}' of boards in the model{nearest_name(joint, urdf.joints)}")
    for contact in robot.real_force_torque_sensors:
        force_torque_mount(model, robot.ports.sensor_of(contact.name)[1], contact)
    for frame in _frames(robot.ports):
        model.frame_index(frame)
    yield Finding(OK, f"ports of {len(robot.ports.boards)} boards")


def _frames(ports: RobotPorts) -> list[str]:
    inertial = [sensor.frame for server in ports.inertial_servers for sensor in server.sensors]
    return [*inertial, *(sensor.frame for sensor in ports.force_torque_sensors)]


def _model(robot: RobotDescription) -> IdynTreeModel:
    return IdynTreeModel(_of_any_mass(robot))


def _of_any_mass(robot: RobotDescription) -> RobotDescription:
    """Return the description with the mass of the model: other faults are then found as well."""
    return replace(robot, mass=read_urdf(robot.model_path).mass)

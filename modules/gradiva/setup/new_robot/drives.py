r"""Drives of a new robot: what its model file says of them, else those of similar drives of the described robots.

Gears are of three kinds: low ratios, of planetary gears behind flat motors, high ones, of harmonic drives, and those of
servos of small robots, of spur gears. Drives of one kind are taken to be similar, of size L: their torque goes with L³,
and the inertia of rotor and gear, at one ratio, with L⁵. Friction of the described harmonic drives grows as L²,
p = 2/3. That of planetary gears grows as the torque, p = 1: it is 2.2 to 2.4 % of the peak torque at all three sizes of
G1, and 1.2 to 1.5 % in servos. So the peak torque of a joint says the rest:

.. math:: F = F_1 \left(\frac{\tau}{\tau_1}\right)^p, \qquad I = I_1 \left(\frac{\tau}{\tau_1}\right)^{5/3}, \qquad
          F_v = v \frac{F}{\omega_0}

with :math:`\omega_0` the speed without load. What the torque itself is after its command goes with the kind as well:
it stands on the plant, and in the latency that torque control counts on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gradiva.common import GRAVITY, NDArray, Side, SoleRectangle
from gradiva.robot_model import IdynTreeModel, JointGroup
from gradiva.robot_model.robot_description import PerJoint
from gradiva.setup.robots import data_folder, describe_robot, read_toml
from gradiva.simulation import JointDrive

_SENSED = "icub_v2_7"  # for whose weight config/plant_robot.toml has the errors of force-torque sensors
_ABSOLUTE = ("force_noise", "torque_noise", "force_bias", "torque_bias", "force_drift", "torque_drift")
"""Errors of force-torque sensors in [N] and [N·m]; the others are fractions already."""

Table = Mapping[str, tuple[object, str]]
"""Key to value and comment; no comment where it is empty."""

_ROTOR_POWER = 5.0 / 3.0  # [-] power of the torque that rotors of similar drives go with
FASTEST = 40.0  # [rad/s] speed limits of a model above it are none
UNKNOWN_SPEED = 100.0  # [rad/s] for a model that has none
_FAST = 12.0  # [rad/s] legs with planetary gears reach 20 to 40 rad/s, with harmonic drives or servos 3 to 9
_STRONGEST_SERVO = 16.0  # [N·m] servos stall at 1 to 13 N·m, harmonic drives of legs begin at 24 N·m
_TO_NO_LOAD = 1.1  # [-] a speed limit is what a motor still holds, nine tenths of its speed without load
_FULL = 0.5  # [-] of the speed without load, up to which the peak torque is there
_FARTHEST = 10.0  # [-] times a similar drive's, or a tenth of it: models beyond that give no values of a drive
_TRUNK_FREQUENCY = 45.0  # [rad/s] natural frequency of legs and torso: servos over the inertia that a joint moves
_ARM_SERVO = (30.0, 1.0)  # [rad/s] and [-]: natural frequency and damping ratio; all as on the shipped robots
_TRIGGER = 0.06  # [m] largest one of adapted steps
_TRIGGER_ANGLE = 0.07  # [rad] times the height of the CoM: DCM errors that drives and sensors make undisturbed
_EXCESS = 0.05  # [-] of the width of a sole, by which the ZMP that is asked for may be beside it: at 0.25 trunks tip
_STEP_FILE = "step_adaptation.toml"
_FORCE_RANGE, _LANDING = 2000.0, 3.0  # [N] of the FT45 and [-] of the weight: range of foot sensors, by force
_SAME = 2.0  # [-] ratio of the peak torques of a leg, beyond which its rotors differ
_STANDING = 6.0  # [-] times m g h: the least stiffness of a leg joint on which the robot stands without toppling


@dataclass(frozen=True, slots=True)
class Gears:
    """A kind of gear: its drives by their peak torque.

    Attributes:
        torque: Peak torque of the drive that has the next two, [N·m].
        coulomb: Coulomb friction of that drive, [N·m].
        rotor: Inertia of its rotor and gear, seen at the joint, [kg·m²].
        coulomb_power: Power of the peak torque that Coulomb friction goes with, p above, [-].
        viscous: Viscous friction at the speed without load over Coulomb friction, v above, [-].
        loss: ``gear_loss`` of `JointGroup`, [-].
        play: ``gear_play`` of `JointGroup`, [rad].
        no_load_speed: Speed without load where a model does not say it, [rad/s].
        damping_ratio: Damping ratio of the position servos of legs and torso, [-].
        torque_latency: ``torque_latency`` of `RobotDescription`, [s].
        control: Tables of torque.toml.
        plant: Tables of plant_robot.toml.
    """

    torque: float
    coulomb: float
    rotor: float
    coulomb_power: float
    viscous: float
    loss: float
    play: float
    no_load_speed: float
    damping_ratio: float
    torque_latency: float
    control: Mapping[str, Table] = field(default_factory=dict)
    plant: Mapping[str, Table] = field(default_factory=dict)

    def friction(self, torques: NDArray) -> NDArray:
        """Return the Coulomb friction of drives with these peak torques, [N·m]."""
        return np.asarray(self.coulomb * (torques / self.torque) ** self.coulomb_power)

    def rotors(self, torques: NDArray) -> NDArray:
        """Return the inertias of rotors and gears of drives with these peak torques, [kg·m²]."""
        return np.asarray(self.rotor * (torques / self.torque) ** _ROTOR_POWER)


_BUS: Table = {"delay": (0.001, "[s] a phase of a bus of 500 Hz, as on Unitree G1"), "jitter": (0.0003, "[s]")}

LOW_RATIO = Gears(
    torque=111.0,
    coulomb=2.5,
    rotor=0.025,
    coulomb_power=1.0,
    viscous=3.0,
    loss=0.05,
    play=0.0035,
    no_load_speed=22.0,
    damping_ratio=0.25,
    torque_latency=0.002,
    control={
        "state_estimator": {"velocity_time_constant": (0.03, "[s] rotors rattle within the play of gears")},
        "drives": {"friction_compensation": (0.1, "[-] learned from there")},
        "torque_control": {"touch_fraction": (2.0, "[-] never by force"), "touch_timeout": (0.0, "[s]")},
    },
    plant={
        "simulation.friction": {"spread": (1.5, "[-] of low ratios, as on Unitree G1 all below")},
        "simulation.motors": {
            "torque_delay": (0.001, "[s] bus"),
            "torque_time_constant": (0.001, "[s] current control: no torque sensor is in the loop"),
        },
        "simulation.sensors.joints": _BUS,
        "simulation.sensors.wrenches": _BUS,
        "simulation.sensors.imu": {"period": (0.002, "[s] on the same bus"), **_BUS},
    },
)
"""Those of Unitree G1, robots/g1: 49.6, 71 and 111 N·m have 1.2, 1.6 and 2.4 N·m, 0.0072, 0.0102 and 0.0251 kg·m²."""

HIGH_RATIO = Gears(
    torque=37.0,
    coulomb=3.8,
    rotor=0.14,
    coulomb_power=2.0 / 3.0,
    viscous=4.3,
    loss=0.2,
    play=0.0,
    no_load_speed=8.8,
    damping_ratio=0.7,
    torque_latency=0.01,
)
"""Fitted to the legs of iCub v2.7, iCub v3 and TALOS: similar over described friction and inertia have a geometric mean
of 1 over their 18 joints. Single drives are off: 110 N·m of iCub v3 have 8 to 12 N·m and 0.41 or 0.65 kg·m² (7.9 and
0.86 here), 100 N·m of TALOS 0.88 and 1.94 kg·m² (0.73 here). Viscous friction is 1.7 to 14 times the Coulomb friction
at the speed without load, largest at small drives of iCub v3."""


SERVO = Gears(
    torque=8.4,
    coulomb=0.104,
    rotor=0.0266,
    coulomb_power=1.0,
    viscous=1.2,
    loss=0.1,
    play=0.0058,
    no_load_speed=4.7,
    damping_ratio=0.25,
    torque_latency=LOW_RATIO.torque_latency,
    control=LOW_RATIO.control,
    plant=LOW_RATIO.plant,
)
"""The Dynamixel MX-106 as identified by M. Duclusaud, G. Passault et al., Extended Friction Models for the Physics
Simulation of Servo Actuators, 2024, doi:10.48550/arXiv.2410.08650 (Coulomb and viscous model). Their MX-64 of 6.0 N·m
has 0.090 N·m (0.074 here), 0.0120 kg·m² (0.0152) and half the viscous friction. Play by the maker's sheet: 20'."""


def with_drives(
    groups: Mapping[str, JointGroup], model: IdynTreeModel, known: Mapping[str, JointDrive]
) -> dict[str, JointGroup]:
    """Return joint groups with rotors, friction, gear play and motors.

    Args:
        groups: With limits; infinite velocity limits are unknown.
        model: The robot; its limits bound those of the groups.
        known: Joint to what its model file says, which goes before where a drive of that torque can have it.
    """
    limits = list(_limits(groups, model))
    slow = _slow_gears(limits)
    driven = {
        name: _driven(groups[name], torques, speeds, _of_group(groups[name], known), slow)
        for name, torques, speeds in limits
    }
    return {**groups, **driven}


def guessed_gears(groups: Mapping[str, JointGroup], model: IdynTreeModel, known: Mapping[str, JointDrive]) -> list[str]:
    """Return a note on the groups whose kind of gears nothing says; arguments as of `with_drives`."""
    limits = list(_limits(groups, model))
    slow = _slow_gears(limits)
    guessed = [
        name
        for name, torques, speeds in limits
        if _gears_of(torques, speeds, _of_group(groups[name], known), slow) is None
    ]
    if not guessed:
        return []
    kind = "servos of spur" if _guessed(slow) is SERVO else "planetary"
    return [
        f"no speed and no rotor of {', '.join(guessed)} is known: {kind} gears are guessed; for harmonic drives give"
        f" the joints their velocity limits, below {_FAST:g} rad/s"
    ]


def same_rotors(groups: Mapping[str, JointGroup], model: IdynTreeModel, known: Mapping[str, JointDrive]) -> list[str]:
    """Return a note on each leg whose rotors a model has alike for drives of very different torques; see `with_drives`.

    They are taken: one motor may drive several ratios.
    """
    notes = []
    for name, torques, _ in _limits(groups, model):
        rotors = {drive.rotor_inertia for drive in _of_group(groups[name], known)}
        if name.endswith("_leg") and len(rotors) == 1 and min(rotors) > 0.0 and max(torques) > _SAME * min(torques):
            notes.append(
                f"rotor inertia of {name}: the model has {min(rotors):.3g} kg·m² for each joint, of {min(torques):.3g}"
                f" to {max(torques):.3g} N·m, perhaps a placeholder; it is taken where such drives can have it"
            )
    return notes


def _limits(groups: Mapping[str, JointGroup], model: IdynTreeModel) -> Iterator[tuple[str, NDArray, NDArray]]:
    """Yield the name of each group with joints, their peak torques, [N·m], and velocity limits, [rad/s]."""
    first = 0
    for name, group in groups.items():
        rows = slice(first, first + len(group.joints))
        first += len(group.joints)
        if group.joints:
            torques = np.minimum(group.per_joint("torque_limit"), _known(model.torque_limits()[rows]))
            speeds = np.minimum(group.per_joint("velocity_limit"), _known(model.velocity_limits()[rows], FASTEST))
            yield name, torques, speeds


def _of_group(group: JointGroup, known: Mapping[str, JointDrive]) -> list[JointDrive]:
    return [known.get(joint, JointDrive()) for joint in group.joints]


def leg_gears(groups: Mapping[str, JointGroup]) -> Gears:
    """Return the kind of gears of the legs, from groups with drives: the plant and torque control go by theirs."""
    has_play = any(any(groups[f"{side}_leg"].per_joint("gear_play")) for side in Side)
    return LOW_RATIO if has_play else HIGH_RATIO


def drive_files(
    gears: Gears, weight: float, height: float, sole: SoleRectangle
) -> dict[str, tuple[str, dict[str, Table]]]:
    """Return file to what it is about and its tables: what steps, torque control and the plant need for these drives.

    The force-torque sensors of a light robot, ``weight`` in [N], err as little against its weight as those of iCub,
    and stand the torques that the soles exert.
    By position, errors of encoders, attitude and joints, which are angles, move the DCM by their product with the
    ``height`` of the CoM, [m]: where that is more than the usual trigger of adapted steps, steps answer no push, and a
    robot that stands lays its soles flat until it rocks. By torque, undisturbed errors pass it as well, as on shipped
    robots; but beside a sole, ``width`` in [m], no ZMP on it holds the DCM. With play, rotors rattle and feet come to
    rest by the plan, not by force, as on G1.
    """
    trigger = (
        (_TRIGGER, "undisturbed errors stay below it"),
        (0.5 * sole.width, "half the sole, which holds no larger error"),
    )
    value, reason = min(trigger)
    excess = [round(_EXCESS * sole.width, 3)] * 2
    torque = {
        "step_adaptation": {"trigger": (round(value, 3), f"[m] {reason}")},
        **{table: values for table, values in gears.control.items() if table != "torque_control"},
        "torque_control": {
            "zmp_excess": (excess, "[m] of narrow soles as well: what an error asks for beyond them tips the trunk"),
            **gears.control.get("torque_control", {}),
        },
    }
    tables = {**gears.plant, **_wrench_sensors(weight, sole)}
    plant = {"plant_robot.toml": ("on the plant robot, by its drives and its weight", tables)}
    return {**_steps(height), "torque.toml": ("in torque control", torque), **plant}


def _steps(height: float) -> dict[str, tuple[str, dict[str, Table]]]:
    """Return the file of adapted steps of a robot whose CoM is higher than the usual trigger is for."""
    usual = read_toml(data_folder("config") / _STEP_FILE)["step_adaptation"]["trigger"]
    trigger = round(min(_TRIGGER, _TRIGGER_ANGLE * height), 3)
    if trigger <= usual:
        return {}
    comment = f"[m] {_TRIGGER_ANGLE:g} rad at the height of the CoM: errors of drives and sensors"
    return {_STEP_FILE: (f"from config/{_STEP_FILE}", {"step_adaptation": {"trigger": (trigger, comment)}})}


def _wrench_sensors(weight: float, sole: SoleRectangle) -> dict[str, Table]:
    r"""Return what differs in the errors of force-torque sensors, by the weight W, [N], and the sole.

    A light robot has sensors whose range fits its weight. A sensor stands the torque of the whole weight at the
    farthest edge of the sole, l from the sole frame: over a range of forces of 2000 N, as of iCub's, or 3 W of heavier
    robots, whose feet land, its range of torques is :math:`W l`. The FT45 of iCub v2.7 has 35 N·m for its 34.5 N·m;
    cross-talk goes with the ratio of both.
    """
    lightness = min(weight / (GRAVITY * describe_robot(_SENSED).mass), 1.0)
    lever = max(abs(edge) for edge in (*sole.x, *sole.y))
    ratio = weight * lever / max(lightness * _FORCE_RANGE, _LANDING * weight)
    table: Table = {"wrench_range_ratio": (two_digits(ratio), "[m] of a sensor that stands the weight at a sole's end")}
    if lightness < 1.0:
        plant = read_toml(data_folder("config") / "plant_robot.toml")
        errors = plant["simulation"]["sensors"]["force_torque"]
        comment = "[N], [N·m] in proportion to the weight of iCub v2.7"
        table = {**table, **{key: (two_digits(lightness * errors[key]), comment) for key in _ABSOLUTE}}
    return {"simulation.sensors.force_torque": table}


def _known(limits: NDArray, useless: float = math.inf) -> NDArray:
    """Return limits without those of 0 or very large ones, which exporters write where they know none."""
    return np.where((limits > 0.0) & (limits < useless), limits, np.inf)


def _slow_gears(limits: Sequence[tuple[str, NDArray, NDArray]]) -> Gears:
    """Return the kind of slow drives of a robot, whose legs say it; groups with limits as of `_limits`."""
    strongest = max(float(max(torques)) for name, torques, _ in limits if name.endswith("_leg"))
    return SERVO if strongest <= _STRONGEST_SERVO else HIGH_RATIO


def _guessed(slow: Gears) -> Gears:
    """Return the kind of gears where nothing says it: servos on robots as weak as that, else those of fast joints."""
    return SERVO if slow is SERVO else LOW_RATIO


def _driven(
    group: JointGroup, torques: NDArray, speeds: NDArray, known: Sequence[JointDrive], slow: Gears
) -> JointGroup:
    """Return a group with its drives, of joints with these peak torques, [N·m], and velocity limits, [rad/s]."""
    gears = _gears_of(torques, speeds, known, slow) or _guessed(slow)
    no_load = np.where(np.isfinite(speeds), _TO_NO_LOAD * speeds, gears.no_load_speed)
    coulomb = gears.friction(torques)

    def modelled(quantity: str, assumed: NDArray) -> PerJoint:
        """Return a quantity as the model has it where that is credible, else as assumed."""
        values = np.array([getattr(drive, quantity) for drive in known])
        is_known = values > 0.0
        are_true = np.all(np.abs(np.log(values[is_known] / assumed[is_known])) < math.log(_FARTHEST))
        return _per_joint(np.where(is_known & are_true, values, assumed))

    return replace(
        group,
        rotor_inertia=modelled("rotor_inertia", gears.rotors(torques)),
        coulomb_friction=modelled("coulomb_friction", coulomb),
        viscous_friction=modelled("viscous_friction", gears.viscous * coulomb / no_load),
        gear_loss=gears.loss,
        gear_play=gears.play,
        full_torque_speed=_per_joint(_FULL * no_load),
        no_load_speed=_per_joint(no_load),
    )


def _gears_of(torques: NDArray, speeds: NDArray, known: Sequence[JointDrive], slow: Gears) -> Gears | None:
    """Return the kind of gears of a group: by its fastest joint, else by its rotors; None where neither is said.

    Rotors of high ratios have about twenty times the inertia of those of low ones at the same torque; the nearer kind
    is taken. Robots of which nothing is said are taken to be of low ratio, as the many that are published for learning,
    or to have servos where they are as weak. ``slow`` is the kind of high ratios, of `_slow_gears`.
    """
    finite = speeds[np.isfinite(speeds)]
    if len(finite):
        return LOW_RATIO if max(finite) >= _FAST else slow
    rotors = np.array([drive.rotor_inertia for drive in known])
    has_rotor = (rotors > LOW_RATIO.rotors(torques) / _FARTHEST) & (rotors < HIGH_RATIO.rotors(torques) * _FARTHEST)
    middle = np.sqrt(LOW_RATIO.rotors(torques) * HIGH_RATIO.rotors(torques))
    is_high = rotors[has_rotor] > middle[has_rotor]
    if not len(is_high):
        return None
    return slow if 2 * int(is_high.sum()) > len(is_high) else LOW_RATIO


def with_servos(
    groups: Mapping[str, JointGroup], inertias: NDArray, toppling: float, velocity: float
) -> dict[str, JointGroup]:
    """Return joint groups with position servos over the inertia that they move, rotors included.

    Args:
        groups: With drives.
        inertias: That each joint moves with its links, [kg·m²], shape (n,).
        toppling: m g h, [N·m/rad].
        velocity: Limit of joints of which none is known, [rad/s].
    """
    first, moved = 0, dict(groups)
    for name, group in groups.items():
        links = inertias[first : first + len(group.joints)]
        first += len(group.joints)
        inertia = float(max(links + group.per_joint("rotor_inertia"), default=1.0))
        gears = LOW_RATIO if any(group.per_joint("gear_play")) else HIGH_RATIO
        frequency, ratio = _ARM_SERVO if name.endswith("_arm") else (_TRUNK_FREQUENCY, gears.damping_ratio)
        stiffness = max(frequency**2 * inertia, _STANDING * toppling if name.endswith("_leg") else 0.0)
        moved[name] = replace(
            group,
            stiffness=two_digits(stiffness),
            damping=two_digits(2.0 * ratio * math.sqrt(stiffness * inertia)),
            velocity_limit=group.velocity_limit if np.all(np.isfinite(group.velocity_limit)) else velocity,
        )
    return moved


def placeholders(groups: Mapping[str, JointGroup], known: Mapping[str, JointDrive]) -> list[str]:
    """Return notes on values of a model file that are not taken, since no drive of that torque has one of a group."""
    notes = []
    for quantity in ("rotor_inertia", "coulomb_friction", "viscous_friction"):
        for group in groups.values():
            values = zip(group.joints, group.per_joint(quantity), strict=True)
            both = [(joint, _modelled(known, joint, quantity), value) for joint, value in values]
            false = [each for each in both if _differ(*each[1:])]
            if false:
                joint, given, value = max(false, key=lambda each: abs(math.log(each[1] / each[2])))
                others = f", as well as for {len(false) - 1} more of its group" if len(false) > 1 else ""
                quality = f"{quantity.replace('_', ' ')} of {joint}: no drive with its torque has"
                notes.append(f"{quality} the model's {given:.3g}; {value:.3g} is assumed{others}")
    return notes


def _modelled(known: Mapping[str, JointDrive], joint: str, quantity: str) -> float:
    return float(getattr(known.get(joint, JointDrive()), quantity))


def _differ(given: float, taken: float) -> bool:
    return given > 0.0 and not math.isclose(given, taken, rel_tol=0.01)


def two_digits(value: float, up: bool = False) -> float:
    """Return a number of two significant digits, which is no less if ``up``."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return round((math.ceil(value / unit - 1e-9) if up else round(value / unit)) * unit, 6)


def _per_joint(values: Iterable[float]) -> PerJoint:
    """Return values of three significant digits; one number where all joints have the same."""
    rounded = tuple(float(f"{value:.3g}") for value in values)
    return rounded[0] if len(set(rounded)) == 1 else rounded

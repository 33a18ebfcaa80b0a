"""Merge shipped files, files of the robot and options into the typed configuration of a run."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from gradiva.common import (
    GRAVITY,
    ConfigError,
    ControlMode,
    PlanningError,
    SoleRectangle,
    from_table,
    merge,
    nearest_name,
)
from gradiva.contacts import static_sinkage
from gradiva.estimation import FootWrenchSource
from gradiva.robot_model import FlexibilityConfig, FlexibleJoint, RobotDescription
from gradiva.setup.layers import (
    CHOICES,
    FIRST_RUN,
    Layer,
    Plant,
    Tables,
    configuration_layers,
    nested,
    place_of,
    together,
)
from gradiva.setup.robots import (
    ROBOT_FILE,
    file_place,
    load_robot,
    overlay_file,
    read_toml,
    robot_argument,
    robot_folder,
)
from gradiva.simplified_model import law_configs, shipped_laws
from gradiva.simulation import SimulationConfig
from gradiva.walking import TorqueLaw, WalkingConfig

T = TypeVar("T")
MODULE_TABLES = ("robot_io", "bring_up", "coordinator", "remote", "joypad")
"""Tables of modules on a robot, which read them by `Setup.part`."""
_BY = "by "  # begins the place of what no file sets
_OVERRIDE = f"{_BY}an override"
_MOST_KEYS = 3  # keys that a message names
_UNREAD = "centroidal_mpc"  # table that former versions saved, and that no walk read
GONE = {"step_adaptation": "ankle_strategy clearance last_free_delay longest_wait"}
"""Keys of earlier versions, by table, in whose place there is nothing."""
_GROUPED = {
    "planner": {
        "commands": "max_backward_speed max_lateral_speed max_angular_speed max_duration cruise_speed",
        "footsteps": "time_weight turning_lever heel_length ramp_steps double_support_ratio",
        "pendulum": "first_double_support last_double_support zmp_tolerance sinkage com_height_amplitude com_arc",
    },
    "simulation.sensors": {
        "encoders": "encoder_noise encoder_offset encoder_resolution velocity_source velocity_noise"
        " velocity_resolution",
        "force_torque": "wrench_source force_noise torque_noise force_bias torque_bias force_drift torque_drift"
        " wrench_gain_error wrench_cross_talk wrench_range_ratio",
        "inertial": "gyro_noise gyro_noise_density gyro_bandwidth gyro_bias gyro_drift tilt_noise"
        " tilt_correlation_time tilt_bias heading_drift landing_gyro_noise",
    },
}
"""Keys of earlier versions, by table, that stand in a table below it now."""
MOVED = {
    _UNREAD: "[centroidal_walking.mpc]",
    "rigid_torque_control": "[torque_control]",
    "flexible_torque_control": "[torque_control]",
    "compliant_torque_control": "[torque_control.compliant]",
    "coordinator.forward_fraction": "coordinator.full_deflection",
    "coordinator.lateral_fraction": "coordinator.full_deflection",
    "coordinator.turn_fraction": "coordinator.full_deflection",
    "contact_estimator.detector.force_time_constant": "contact_estimator.force_time_constant",
} | {
    f"{table}.{key}": f"{table}.{group}.{key}"
    for table, groups in _GROUPED.items()
    for group, keys in groups.items()
    for key in keys.split()
}
"""Tables and keys of earlier versions, and which one is read now."""
CONSTANTS = {
    "planner": "sample_period reference_point unicycle_gain slow_when_turning position_weight last_step_alpha"
    " height_grid_period",
    "gain_schedule": "blend_time",
    "step_adaptation": "minimum_move minimum_delay shortest_fall stance_load lagging_dcm wait standing_margin"
    " unloading recovery_time swing_acceleration swing_speed step_weight offset_weight"
    " time_weight airborne_load sole_height_gain sole_integral_gain stance_tilt_gain"
    " sole_leak_time trigger_time release release_time prediction frozen shortest_support last_delay longest_support"
    " sole_margin zmp_lag sole_speed highest steepest",
    "torque_control": "form",
    "hip_strategy": "return_speed gain lead lag",
    "state_estimator": "anchor_blend_time minimum_load swing_load",
    "flexible_joint_observer": "acceleration_time_constant",
    "external_wrench": "push_time_constant",
    "contact_estimator.detector": "release_force touch_force",
    "contact_estimator.parameters": "damping_deviation damping_drift force_deviation innovation_limit"
    " innovation_timeout minimum_damping minimum_load minimum_stiffness"
    " stiffness_deviation still_speed",
    "centroidal_walking": "decision_period max_age max_silence sole_margin moves_footholds first_move minimum_move"
    " frozen",
    "centroidal_walking.mpc": "iterations settled usable_violation",
    "inverse_kinematics": "foot_tilt_slack_weight height_slack_weight position_margin",
    "servo_feedforward": "gravity_and_contact acceleration_time_constant",
    "drives": "friction_velocity velocity_time_constant acceleration_gain largest_friction command_latency",
    "walking": "torso_lean",
    "safety.joints": "position_duration torque_factor tracking_margin",
    "safety.motors": "duration",
    "safety.feet": "minimum_load early_landing_duration pressure_margin pressure_duration",
    "safety.sensors": "jump_speed jump_margin",
    "safety.clock": "max_step",
    "safety.responses": "clock_jump failed_tick relaxed",
    "simulation.plant": "joint_damping dry_friction",
    "simulation.servo": "damping_scale velocity_stiffness_scale velocity_damping_scale",
    "simulation.sensors": "wrench_cutoff landing_duration wrench_drift_time gyro_drift_time",
    "simulation.sensors.joints": "late_delay",
    "simulation.sensors.imu": "late_delay",
    "simulation.sensors.wrenches": "late_delay",
    "simulation.transport": "late_delay",
    "coordinator": "goal_period goal_change planning_lead planning_timeout",
    "remote": "wait_fraction look_period",
    "robot_io": "carrier velocity_acceleration release_speed limit_tolerance",
    "bring_up": "hanging_weight limit_tolerance locked_tolerance max_tilt near_posture pid_tolerance weight_tolerance",
}
"""Keys of earlier versions, by table, that are constants of their laws now."""
_FACTS = ("com_height", "step_width", "max_speed")  # of the robot, which the planner shares
_SOLE = "sole"  # of the robot, which an experiment may change
_FLEXIBILITY = "flexibility"  # of the robot as the controller knows it, and below [simulation] where the plant differs
_DOTTED = re.compile(r"\b[a-z]\w*(?:\.[a-z]\w*)+")  # as keys are named in a text
_SEARCH_SPACE = "tune"  # table of `gradiva tune`, beside the keys that it searches
_PLANT = "plant"  # key of the configuration of a run, beside its robot


@dataclass(frozen=True, slots=True)
class Setup:
    """Everything that a run is made of.

    Attributes:
        robot: Description of the robot.
        walking: Configuration of its controller.
        simulation: Configuration of the simulated plant.
        tables: The merged tables, as they are written into the run's folder, and the keys ``robot`` and ``plant``.
        plant: The preset that the simulated plant began from.
        layers: The tables before they were merged, each with the place where it stands.
    """

    robot: RobotDescription
    walking: WalkingConfig
    simulation: SimulationConfig
    tables: dict[str, Any]
    plant: Plant = Plant.IDEAL
    layers: tuple[Layer, ...] = field(default=(), compare=False, repr=False)

    @property
    def robot_argument(self) -> str:
        """Name or absolute path by which `load_setup` finds the robot again."""
        return str(self.tables["robot"])

    @property
    def simulated_robot(self) -> RobotDescription:
        """Description whose joints are those of the plant: the flexible ones of the simulation come last."""
        return _bending(self.robot, self.simulation.flexibility)

    @property
    def unmodelled_stiffness(self) -> tuple[float, ...]:
        """Stiffness of the flexible joints of the plant, of which the controller does not know, [N·m/rad]."""
        is_known = self.walking.knows_flexible_joints and self.robot.flexible_joints
        return () if is_known else tuple(joint.stiffness for joint in self.simulated_robot.flexible_joints)

    def steps_per_tick(self) -> int:
        """Return the number of physics steps in a period of the controller.

        Raises:
            ConfigError: It is no whole number, or none.
        """
        period, timestep = self.walking.walking.period, self.simulation.timestep
        steps = self.simulation.steps(period)
        if steps < 1 or not self.simulation.is_multiple(period):
            raise ConfigError(
                f"walking.period={period}: must be a multiple of simulation.timestep={timestep}",
                ["walking.period", "simulation.timestep"],
            )
        return steps

    def part(self, kind: type[T], name: str) -> T:
        """Return the configuration in the table called ``name``, of the controller or of a module.

        Raises:
            ConfigError: A key is unknown or missing, or a value is refused.
        """
        known = getattr(self.walking, name, None) or self.walking.balance_laws.get(name)
        if isinstance(known, kind):
            return known
        return from_table(kind, self.tables.get(name, {}), f"configuration of {self.robot.name}, {name}")

    @contextmanager
    def naming_places(self) -> Iterator[None]:
        """Add to a ConfigError or PlanningError in which file its keys are set."""
        with _naming_places(self.layers):
            yield

    def with_files(self, advice: str) -> str:
        """Return advice with, behind it, in which files the keys stand that it names; none for those of --set."""
        places = {key: place_of(key, self.layers) for key in _DOTTED.findall(advice)}
        files = [f"{key} is set in {place}" for key, place in places.items() if _is_file(place)]
        return "; ".join([advice, *files])


def load_setup(
    robot: str,
    overrides: Mapping[str, Any] | Iterable[str | Layer] = (),
    files: Iterable[Path] = (),
    plant: Plant | str | None = None,
    first_run: bool = False,
) -> Setup:
    """Return the configuration of a robot: ``config/`` ← ``robots/<name>/`` ← presets ← ``files`` ← ``overrides``.

    Velocity control, torque control and soft ground bring more files with them, see ``CHOICES``.

    Args:
        robot: Name of a robot, or path of a folder with a robot.toml.
        overrides: ``{"table.key": value}``, or strings ``table.key=value`` with the value in TOML; beside them
            tables with the place that messages name, as ``by --speed``.
        files: TOML files, later ones win; the ``config.toml`` of a run of this robot is one.
        plant: Whose preset is laid over the simulation; by default that of the run's configuration among ``files``,
            or else the ideal one.
        first_run: Lay the low speeds of first walks on a robot over the configuration.

    Raises:
        ConfigError: An unknown robot, plant, file, table or key, a value that is refused, or the configuration of a run
            with another robot or plant.
        ModelError: The robot's model package is not installed.
    """
    description = load_robot(robot)
    folder, argument = robot_folder(robot), robot_argument(robot)
    wanted: list[Layer] = [(str(path), _read_overlay(Path(path), argument)) for path in files]
    wanted += _override_layers(overrides)
    chosen = _chosen_plant(plant, wanted)
    presets = [name for name in (chosen.preset, FIRST_RUN if first_run else None) if name is not None]
    configured = configuration_layers([folder], presets, map(_without_plant, wanted))
    layers = (*_facts_of(description, folder, together(configured)), *configured)
    with _naming_places(layers):
        _check_module_keys(together(configured[: len(configured) - len(wanted)]), wanted)
        setup = typed_setup(description, together(layers))
    tables = {"robot": argument, _PLANT: str(chosen), **{k: v for k, v in setup.tables.items() if k != "robot"}}
    return replace(setup, tables=tables, plant=chosen, layers=layers)


def _check_module_keys(shipped: Tables, wanted: Iterable[Layer]) -> None:
    """Pass when the tables of modules have no key that no shipped file has; their values are checked by the modules."""
    for name, (_, tables) in product(MODULE_TABLES, wanted):
        table = tables.get(name)
        for key in table if isinstance(table, Mapping) else ():
            if key not in shipped[name]:
                raise ConfigError(f"{name}: unknown key '{key}'{nearest_name(key, shipped[name])}", [f"{name}.{key}"])


def robot_of(files: Iterable[Path]) -> str | None:
    """Return the robot whose run's configuration is among ``files``; None when there is none.

    Raises:
        ConfigError: A file is missing or is not TOML.
    """
    names = [name for path in files if isinstance(name := read_toml(overlay_file(Path(path))).get("robot"), str)]
    return names[-1] if names else None


def _chosen_plant(plant: Plant | str | None, layers: Iterable[Layer]) -> Plant:
    """Return the plant that is asked for, by the argument or by the key of layers of the user: they have to agree."""
    chosen = None if plant is None else Plant.named(plant)
    for place, tables in layers:
        named = tables.get(_PLANT)
        if named is None:
            continue
        if not isinstance(named, str):
            raise ConfigError(f"{place}: 'plant' is a name; effects of a plant are keys below [simulation]")
        if chosen is not None and Plant.named(named) is not chosen:
            raise ConfigError(f"plant '{chosen}' was asked for, but {place} is for the plant '{named}'")
        chosen = Plant.named(named)
    return chosen or Plant.IDEAL


def _without_plant(layer: Layer) -> Layer:
    place, tables = layer
    return place, {name: table for name, table in tables.items() if name != _PLANT}


def _read_overlay(path: Path, robot: str) -> dict[str, Any]:
    """Return the tables of a file without the robot and the command of a run."""
    tables = read_toml(overlay_file(path))
    named = tables.pop("robot", robot)
    tables.pop(_SEARCH_SPACE, None)
    if tables.pop("run", None) is not None:
        tables.pop(_UNREAD, None)
    if named != robot:
        raise ConfigError(f"{path} is the configuration of robot '{named}', not of '{robot}'")
    return tables


def _facts_of(description: RobotDescription, folder: Path, tables: Tables) -> list[Layer]:
    """Return the keys of the planner and the sole that robot.toml sets, and its speed by torque where that counts."""
    planner, place = {fact: getattr(description, fact) for fact in _FACTS}, file_place(folder.resolve() / ROBOT_FILE)
    facts: list[Layer] = [(place, {"planner": planner, _SOLE: asdict(description.sole)})]
    if (speed := _known_speed(description, tables)) != description.max_speed:
        facts.append((f"{place} as max_torque_speed, for torque control", nested("planner.max_speed", speed)))
    return facts


def _known_speed(description: RobotDescription, tables: Mapping[str, Any]) -> float:
    """Return the speed that a robot is known to walk by the control mode that merged tables choose, [m/s]."""
    by_torque = next(choice for choice in CHOICES if choice.value == ControlMode.TORQUE).is_chosen(tables)
    return description.known_speed(ControlMode.TORQUE if by_torque else ControlMode.POSITION)


def typed_setup(description: RobotDescription, tables: dict[str, Any]) -> Setup:
    """Return the typed configuration of any robot, also of one without a folder.

    Args:
        description: Of the robot.
        tables: All, merged.

    Raises:
        ConfigError: An unknown table or key, or a value that is refused.
    """
    parts = [field.name for field in fields(WalkingConfig)]
    where = f"configuration of {description.name},"
    valid = [*parts, *(law.table for law in shipped_laws()), "simulation", _SOLE, _FLEXIBILITY, *MODULE_TABLES]
    for name, table in tables.items():
        if name not in valid:
            raise _unknown_table(name, table, valid)
        if not isinstance(table, Mapping):
            raise ConfigError(f"{where} {name}: expected a table, got {table!r}", [name])
    walking = {name: tables.get(name, {}) for name in parts}
    walking["balance_laws"] = law_configs(str(walking["walking"].get("model", "")), tables, where)
    known = {fact: getattr(description, fact) for fact in _FACTS} | {"max_speed": _known_speed(description, tables)}
    walking["planner"] = merge(known, walking["planner"])
    with _below(_SOLE):
        sole = from_table(SoleRectangle, merge(asdict(description.sole), tables.get(_SOLE, {})), f"{where} {_SOLE}")
    typed = _on_its_ground(from_table(WalkingConfig, walking, where), description.mass, sole)
    with _below(_FLEXIBILITY):
        flexibility = from_table(FlexibilityConfig, tables.get(_FLEXIBILITY, {}), f"{where} {_FLEXIBILITY}")
        flexible = flexibility.flexible_joints(description.name, description.joints)
    _check_torque_law(typed, flexible)
    with _below("simulation"):
        simulation = from_table(SimulationConfig, _with_its_flexibility(tables), f"{where} simulation")
        simulation.flexibility.flexible_joints(description.name, description.joints)
    facts = {fact: getattr(typed.planner, fact) for fact in _FACTS}
    if typed.state_estimator.foot_wrenches is FootWrenchSource.TORQUES or not description.force_torque_sensors:
        description = description.without_foot_sensors()
    return Setup(
        robot=replace(description, sole=sole, flexible_joints=flexible, **facts),
        walking=typed,
        simulation=simulation,
        tables={"robot": description.name, **tables},
    )


def _check_torque_law(config: WalkingConfig, flexible: Sequence[FlexibleJoint]) -> None:
    """Refuse flexible joints beside soft ground: torque control and estimation know one of both."""
    if flexible and config.knows_soft_ground and config.torque_control.law is TorqueLaw.FLEXIBLE:
        raise ConfigError(
            "torque_control.ground=compliant takes links to be rigid, but flexibility.stiffness makes them bend, and no"
            " law knows both: choose torque_control.law=rigid, which does not know of the links, or"
            " torque_control.ground=rigid, which does not know of the soft ground",
            ["torque_control.ground", "flexibility.stiffness"],
        )


def _with_its_flexibility(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tables of the simulation with those links flexible that the controller knows, unless they differ.

    A stiffness of the plant's own is not damped like the controller's: its damping is its own or 2 sqrt(k).
    """
    known, own = tables.get(_FLEXIBILITY, {}), tables.get("simulation", {}).get(_FLEXIBILITY, {})
    if not isinstance(own, Mapping):
        return dict(tables["simulation"])  # refused where it is read
    inherited = {**known, "damping": []} if "stiffness" in own else known
    return merge(tables.get("simulation", {}), {_FLEXIBILITY: merge(inherited, own)})


def _bending(robot: RobotDescription, flexibility: FlexibilityConfig) -> RobotDescription:
    flexible = flexibility.flexible_joints(robot.name, robot.joints)
    return replace(robot, flexible_joints=flexible).with_flexible_joints()


def simulated_robot(tables: Mapping[str, Any]) -> RobotDescription:
    """Return the description of the robot of a run, see ``Setup.simulated_robot``.

    Args:
        tables: Of the run's ``config.toml``.

    Raises:
        ConfigError: They name no robot, or an unknown one.
        ModelError: The robot's model package is not installed.
    """
    name = tables.get("robot")
    if not isinstance(name, str):
        raise ConfigError("the configuration has no key robot")
    robot, table = load_robot(name), _with_its_flexibility(tables)[_FLEXIBILITY]
    where = f"configuration of {robot.name}, {_FLEXIBILITY}"
    return _bending(robot, from_table(FlexibilityConfig, table, where)) if table else robot


def _on_its_ground(config: WalkingConfig, mass: float, sole: SoleRectangle) -> WalkingConfig:
    """Set the planner's sinkage where layer 3 takes the ground to be soft, unless it is configured."""
    if not config.knows_soft_ground or config.planner.pendulum.sinkage != 0.0:
        return config
    depth = static_sinkage(mass * GRAVITY, sole, config.contact_estimator.stiffness)
    return replace(config, planner=replace(config.planner, pendulum=replace(config.planner.pendulum, sinkage=depth)))


def _unknown_table(name: str, table: Any, valid: list[str]) -> ConfigError:
    if not isinstance(table, Mapping) and (keys := _keys_called(name)):
        meant = " or ".join(f"'{key}'" for key in keys)
        return ConfigError(f"unknown key '{name}'; did you mean {meant}?", [name])
    if isinstance(table, Mapping) and table and (former := _former_key(f"{name}.{next(iter(table))}")):
        return ConfigError(former, [name])
    hint = f": walks read {MOVED[name]}" if name in MOVED else nearest_name(name, valid)
    return ConfigError(f"unknown table [{name}]{hint}", [name])


def _former_key(key: str) -> str:
    """Return what became of a key of an earlier version; empty where there was none."""
    table, _, name = key.rpartition(".")
    if name in CONSTANTS.get(table, "").split():
        return f"{key} is a constant now, no key; see 'Keys of earlier versions' on the page 'Configure'"
    if name in GONE.get(table, "").split():
        return f"{key} is gone, nothing is in its place: leave it out"
    return f"{key} is {MOVED[key]} now" if table and key in MOVED else ""


def _keys_called(key: str) -> list[str]:
    """Return the dotted names of the keys that are called ``key``, else by words of it, or nearly so; three at most."""
    paths: dict[str, list[str]] = {}
    for path in [*_paths(WalkingConfig), *_paths(SimulationConfig, "simulation.")]:
        paths.setdefault(path.rpartition(".")[2], []).append(path)
    by_words = [word for word in key.split("_") if word in paths]
    meant = [key] if key in paths else dict.fromkeys([*by_words[:1], *difflib.get_close_matches(key, paths, n=1)])
    return [path for name in meant for path in paths[name]][:_MOST_KEYS]


def _paths(kind: Any, prefix: str = "") -> Iterator[str]:
    """Yield the dotted names of the keys of a configuration dataclass and of its tables."""
    for name, hint in get_type_hints(kind).items():
        if is_dataclass(hint):
            yield from _paths(hint, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


@contextmanager
def _below(table: str) -> Iterator[None]:
    """Let an error name keys from the top on."""
    try:
        yield
    except ConfigError as error:
        raise ConfigError(str(error), [f"{table}.{key}" for key in error.keys]) from None


def _override_layers(overrides: Mapping[str, Any] | Iterable[str | Layer]) -> list[Layer]:
    if isinstance(overrides, Mapping):
        return [(_OVERRIDE, nested(key, value)) for key, value in overrides.items()]
    each = [overrides] if isinstance(overrides, str) else overrides
    return [(_OVERRIDE, nested(*parse_setting(one))) if isinstance(one, str) else one for one in each]


def parse_setting(text: str) -> tuple[str, Any]:
    """Return key and value of ``table.key=value``; the value is TOML, or else text.

    Raises:
        ConfigError: There is no key.
    """
    key, separator, value = text.partition("=")
    if not separator or not key.strip():
        raise ConfigError(f"'{text}': expected table.key=value")
    try:
        return key.strip(), tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return key.strip(), value.strip()


@contextmanager
def _naming_places(layers: Sequence[Layer]) -> Iterator[None]:
    try:
        yield
    except (ConfigError, PlanningError) as error:
        former = next(filter(None, map(_former_key, error.keys)), "")
        places = [f"{key} is set {place}" for key in error.keys if (place := _place(key, layers)) is not None]
        if not places:
            raise
        hint = f": change it there or by --set {error.keys[0]}=VALUE" if _can_be_changed(error, layers) else ""
        raise type(error)("; ".join([former or str(error), ", ".join(places)]) + hint) from None


def _can_be_changed(error: ConfigError | PlanningError, layers: Sequence[Layer]) -> bool:
    """Return whether a command was refused because of a single key, which stands in a file."""
    if not isinstance(error, PlanningError) or len(error.keys) != 1:
        return False
    return _is_file(place_of(error.keys[0], layers))


def _place(key: str, layers: Sequence[Layer]) -> str | None:
    place = place_of(key, layers)
    return f"in {place}" if _is_file(place) else place


def _is_file(place: str | None) -> bool:
    return place is not None and not place.startswith(_BY)

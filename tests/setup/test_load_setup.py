import shutil
from dataclasses import replace

import pytest

from gradiva.common import GRAVITY, ConfigError, ControlMode, PlanningError
from gradiva.planner import VelocityCommand
from gradiva.setup import Plant, check_margins, data_folder, load_robot, load_setup, read_toml, robot_folder, robot_of
from gradiva.setup.layers import place_of
from gradiva.setup.load_setup import CONSTANTS, GONE, MOVED
from gradiva.simulated_walk import SimulatedWalk, plan_from_start
from tests.conftest import EVERY_ROBOT, ROBOTS


@pytest.mark.parametrize("robot", EVERY_ROBOT)
def test_the_facts_of_the_robot_are_the_planner_s(robot):
    setup = load_setup(robot)
    for fact in ("com_height", "step_width", "max_speed"):
        assert getattr(setup.walking.planner, fact) == getattr(setup.robot, fact)


@pytest.mark.parametrize("robot", ROBOTS)
def test_by_torque_the_planner_has_the_speed_that_was_walked_by_torque(robot):
    by_torque, fact = {"walking.control": "torque"}, load_setup(robot).robot.max_torque_speed
    assert load_setup(robot, by_torque).walking.planner.max_speed == fact
    assert load_setup(robot, {**by_torque, "planner.max_speed": 1.0}).walking.planner.max_speed == 1.0
    assert load_setup(robot, {"walking.control": "velocity"}).walking.planner.max_speed > fact - 1e-9
    slower = load_setup(robot, {**by_torque, "planner.max_speed": 0.31}).robot
    assert (slower.max_speed, slower.max_torque_speed) == (0.31, fact)


def test_a_speed_above_that_by_torque_is_refused_with_the_fact_of_the_robot():
    setup = load_setup("g1", {"walking.control": "torque"})
    with pytest.raises(PlanningError, match=r"forward speed 0.4 m/s .*, the fastest that the robot is known to walk"):
        plan_from_start(setup, VelocityCommand(0.4, duration=10.0))
    naming = pytest.raises(PlanningError, match=r"g1/robot.toml as max_torque_speed, for torque control")
    with naming, setup.naming_places():
        plan_from_start(setup, VelocityCommand(0.4, duration=10.0))
    assert plan_from_start(load_setup("g1"), VelocityCommand(0.4, duration=10.0)).footsteps


def test_a_robot_of_which_no_speed_by_torque_is_known_has_that_of_position_control():
    unknown = replace(load_robot("g1"), max_torque_speed=None)
    assert [unknown.known_speed(control) for control in ControlMode] == [0.6, 0.6, 0.6]
    assert [load_robot("g1").known_speed(control) for control in ControlMode] == [0.6, 0.6, 0.35]


def test_a_changed_height_changes_the_start_posture_as_well():
    setup = load_setup("icub_v2_7", ["planner.com_height=0.52"])
    assert setup.robot.com_height == setup.walking.planner.com_height == 0.52


def test_the_sole_of_plant_and_controller_can_be_changed():
    shipped, changed = load_setup("icub_v2_7").robot.sole, load_setup("icub_v2_7", ["sole.x=[-0.07, 0.12]"]).robot.sole
    assert (changed.x, changed.y, changed.z) == ((-0.07, 0.12), shipped.y, shipped.z)


def test_the_later_layer_wins_key_by_key(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text("[simulation.plant]\nmass_scale = 1.05\n[planner]\nswing_height = 0.025\n")
    shipped, noisy = load_setup("talos"), load_setup("talos", plant=Plant.NOISY)
    with_file = load_setup("talos", files=[file], plant=Plant.NOISY)
    with_override = load_setup("talos", ["planner.swing_height=0.035"], [file], plant=Plant.NOISY)
    assert [setup.simulation.plant.mass_scale for setup in (shipped, noisy, with_file)] == [1.0, 1.02, 1.05]
    assert with_file.simulation.servo.delay == noisy.simulation.servo.delay == 0.002
    heights = [setup.walking.planner.swing_height for setup in (shipped, with_file, with_override)]
    assert heights == [0.03, 0.025, 0.035]


def test_the_tables_of_a_run_lead_to_the_same_setup():
    setup = load_setup("icub_v3", ["dcm_controller.proportional_gain=1.5"], plant=Plant.NOISY)
    tables = {name: table for name, table in setup.tables.items() if name != "robot"}
    assert load_setup("icub_v3", tables) == setup


def test_each_plant_is_its_preset_and_that_of_the_robot_over_it(tmp_path, monkeypatch):
    folder = tmp_path / "mine"
    shutil.copytree(robot_folder("icub_v3"), folder)
    (folder / "plant_robot.toml").write_text("[simulation.sensors.force_torque]\nforce_bias = 7.5\n")
    setups = {plant: load_setup(str(folder), plant=plant) for plant in Plant}
    assert [setup.plant for setup in setups.values()] == list(Plant)
    assert [setup.tables["plant"] for setup in setups.values()] == ["ideal", "noisy", "robot"]
    assert [setup.simulation.sensors.force_torque.force_bias for setup in setups.values()] == [0.0, 5.0, 7.5]
    assert len({setup.simulation.sensors.force_torque.force_noise for setup in setups.values()}) == 3
    changed = load_setup(str(folder), ["simulation.sensors.force_torque.force_bias=1.0"], plant="robot")
    assert changed.simulation.sensors.force_torque.force_bias == 1
    assert len({id(setup.walking) for setup in setups.values()}) == 3
    assert all(setup.walking == setups[Plant.IDEAL].walking for setup in setups.values())  # one set of gains


@pytest.mark.parametrize("plant", [plant for plant in Plant if plant.preset])
@pytest.mark.parametrize("robot", ROBOTS)
def test_the_preset_of_a_plant_changes_nothing_but_the_simulation(robot, plant):
    files = [folder / plant.preset for folder in (data_folder("config"), robot_folder(robot))]
    assert {name for file in files if file.is_file() for name in read_toml(file)} == {"simulation"}


def test_the_configuration_of_a_run_chooses_the_plant_unless_another_one_is_asked_for(tmp_path):
    file = tmp_path / "config.toml"
    file.write_text('robot = "talos"\nplant = "noisy"\n[planner]\nswing_height = 0.025\n')
    assert load_setup("talos", files=[file]) == load_setup("talos", files=[file], plant="noisy")
    assert load_setup("talos", ["plant=noisy"]).plant is Plant.NOISY
    with pytest.raises(ConfigError, match=r"plant 'ideal' was asked for, but .*config.toml is for the plant 'noisy'"):
        load_setup("talos", files=[file], plant=Plant.IDEAL)


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"plant": "robto"}, "unknown plant 'robto'; did you mean 'robot'"),
        ({"overrides": ["plant=robto"]}, "unknown plant 'robto'"),
        ({"overrides": ["plant.mass_scale=1.0"]}, "'plant' is a name; effects of a plant are keys below"),
    ],
)
def test_a_plant_that_does_not_exist_is_refused(wanted, message):
    with pytest.raises(ConfigError, match=message):
        load_setup("icub_v2_7", **wanted)


def test_the_configuration_of_a_run_is_laid_over_its_robot_alone(tmp_path):
    file = tmp_path / "config.toml"
    file.write_text('robot = "talos"\n[run]\nseed = 3\narguments = []\n[planner]\nswing_height = 0.025\n')
    assert robot_of([file]) == "talos"
    assert load_setup("talos", files=[file]).walking.planner.swing_height == 0.025
    with pytest.raises(ConfigError, match=r"config.toml is the configuration of robot 'talos', not of 'icub_v3'"):
        load_setup("icub_v3", files=[file])


def test_tables_that_former_runs_saved_and_no_walk_reads_are_left_out(tmp_path):
    file = tmp_path / "config.toml"
    file.write_text('robot = "talos"\n[run]\nseed = 3\n[centroidal_mpc]\nsamples = 12\n')
    assert "centroidal_mpc" not in load_setup("talos", files=[file]).tables
    file.write_text("[centroidal_mpc]\nsamples = 12\n")
    with pytest.raises(ConfigError, match=r"unknown table \[centroidal_mpc\]: walks read \[centroidal_walking.mpc\]"):
        load_setup("talos", files=[file])
    file.write_text('robot = "talos"\n[run]\nseed = 3\n[rigid_torque_control.com]\nweight = 100.0\n')
    with pytest.raises(ConfigError, match=r"unknown table \[rigid_torque_control\]: walks read \[torque_control\]"):
        load_setup("talos", files=[file])


def test_a_file_without_a_robot_names_none(tmp_path):
    (tmp_path / "mine.toml").write_text("[planner]\nswing_height = 0.025\n")
    assert robot_of([tmp_path / "mine.toml"]) is None


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("planer.swing_height=0.02", r"unknown table \[planer\]; did you mean 'planner'"),
        ("planner.swing_hight=0.02", "unknown key 'swing_hight'; did you mean 'swing_height'"),
        ("swing_height=0.02", r"unknown key 'swing_height'; did you mean 'planner.swing_height'\?"),
        ("swing_hight=0.02", "unknown key 'swing_hight'; did you mean 'planner.swing_height'"),
        ("zmp_gain=1", r"did you mean 'zmp_com_controller.\w+.zmp' or 'zmp_com_controller.\w+.zmp'"),
        ("mass_scale=1.1", "did you mean 'simulation.plant.mass_scale'"),
        ("xyzzy=1.1", r"unknown table \[xyzzy\]"),
        ("planner.swing_height", "expected table.key=value"),
    ],
)
def test_an_override_that_means_nothing_is_named(override, message):
    with pytest.raises(ConfigError, match=message):
        load_setup("icub_v2_7", [override])


def test_torque_control_brings_its_files_wherever_it_is_chosen(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('[walking]\ncontrol = "torque"\n')
    plain, by_file = load_setup("talos"), load_setup("talos", files=[file])
    assert by_file == load_setup("talos", ["walking.control=torque"])
    assert (plain.walking.walking.period, by_file.walking.walking.period) == (0.01, 0.001)
    assert by_file.simulation.timestep < plain.simulation.timestep


def test_what_the_user_wants_is_laid_over_the_files_of_a_choice(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text('[walking]\ncontrol = "torque"\nperiod = 0.002\n')
    assert load_setup("icub_v2_7", files=[file]).walking.walking.period == 0.002
    assert load_setup("icub_v2_7", ["walking.period=0.005"], [file]).walking.walking.period == 0.005


def test_gains_that_fall_with_motion_servos_are_refused_for_these_alone():
    with pytest.raises(ConfigError, match="zmp=0, a robot that does not answer to its ZMP falls"):
        load_setup("icub_v2_7", {"zmp_com_controller.walking.zmp": 0.0})
    gains = load_setup("icub_v2_7", {"walking.control": "torque"}).walking.zmp_com_controller.walking
    assert (gains.zmp, gains.com) == (0.0, 0.0)


def test_soles_sink_in_the_plan_as_deep_as_the_ground_that_the_controller_assumes_lets_them():
    soft = {"walking.control": "torque", "simulation.ground.kind": "viscoelastic", "contact_estimator.stiffness": 2e6}
    depth = load_setup("icub_v2_7", soft).walking.planner.pendulum.sinkage
    assert depth == pytest.approx(33.06 * GRAVITY / (0.16 * 0.072 * 2e6))
    assert load_setup("icub_v2_7", {**soft, "planner.pendulum.sinkage": 0.01}).walking.planner.pendulum.sinkage == 0.01
    assert load_setup("icub_v2_7", {**soft, "torque_control.ground": "rigid"}).walking.planner.pendulum.sinkage == 0.0


def test_landings_are_learned_on_rigid_ground_alone():
    assert load_setup("icub_v2_7").walking.torque_control.learns_landings
    soft = load_setup("icub_v2_7", {"simulation.ground.kind": "viscoelastic"})
    assert not soft.walking.torque_control.learns_landings


def test_links_that_bend_and_soft_ground_are_refused_together_with_both_keys():
    wanted = {"flexibility.stiffness": 3e3, "walking.control": "torque", "torque_control.ground": "compliant"}
    with pytest.raises(
        ConfigError, match=r"torque_control.ground=compliant .* flexibility.stiffness .* no law knows both"
    ):
        load_setup("talos", wanted)
    assert load_setup("talos", {**wanted, "torque_control.law": "rigid"}).unmodelled_stiffness == (3e3,) * 4
    assert load_setup("talos", {**wanted, "walking.control": "position"}).robot.flexible_joints


def test_gains_that_do_not_go_together_are_named_with_their_table():
    with pytest.raises(ConfigError, match=r"^configuration of icub_v2_7: zmp_com_controller walking: com=90.0 is more"):
        load_setup("icub_v2_7", {"zmp_com_controller.walking.com": 90.0})


def test_a_key_that_no_module_has_is_refused_in_a_walk_too():
    with pytest.raises(ConfigError, match="joypad: unknown key 'foo'"):
        load_setup("icub_v2_7", ["joypad.foo=3"])


@pytest.mark.parametrize(
    "key",
    [
        "robot_io.carrier",
        "planner.sample_period",
        "safety.motors.duration",
        "simulation.sensors.imu.late_delay",
        "gain_schedule.blend_time",
    ],
)
def test_a_key_of_an_earlier_version_is_a_constant_now(key):
    with pytest.raises(ConfigError, match=rf"^{key} is a constant now, no key; .* 'Keys of earlier versions'"):
        load_setup("icub_v2_7", [f"{key}=3"])


def test_a_key_that_moved_is_named_with_its_present_name():
    with pytest.raises(
        ConfigError, match=r"^coordinator\.turn_fraction is coordinator\.full_deflection now; .* an override"
    ):
        load_setup("icub_v2_7", ["coordinator.turn_fraction=0.5"])


@pytest.mark.parametrize("key", ["ankle_strategy", "clearance", "last_free_delay", "longest_wait"])
def test_a_key_that_is_gone_is_refused_with_that_reason_in_the_configuration_of_a_run(tmp_path, key):
    file = tmp_path / "config.toml"
    file.write_text(f'robot = "talos"\n[run]\nseed = 3\n[step_adaptation]\n{key} = 0.0\n')
    with pytest.raises(ConfigError, match=rf"^step_adaptation\.{key} is gone, .* is set in .*config\.toml$"):
        load_setup("talos", files=[file])


def test_no_present_key_is_called_one_of_an_earlier_version():
    tables = load_setup("icub_v2_7").tables
    by_table = [*CONSTANTS.items(), *GONE.items()]
    former = {f"{table}.{key}" for table, keys in by_table for key in keys.split()} | {*MOVED}
    assert [key for key in former if place_of(key, [("", tables)]) is not None] == []


def test_a_refused_value_is_placed_once():
    with pytest.raises(ConfigError) as refusal:
        load_setup("icub_v2_7", ["walking.period=-1"])
    assert str(refusal.value).count("walking.period is set") == 1


@pytest.mark.parametrize("period", [0.0001, 0.0015])
def test_the_period_is_a_whole_number_of_physics_steps_for_margins_and_walks(period):
    setup = load_setup("icub_v2_7", [f"walking.period={period}"])
    for use in (check_margins, SimulatedWalk):
        with (
            setup.naming_places(),
            pytest.raises(ConfigError, match=r"period=0.00\d+: must be a multiple of simulation"),
        ):
            use(setup)
    assert load_setup("icub_v2_7").steps_per_tick() == 10


def test_advice_names_the_file_of_each_key():
    setup = load_setup("talos", {"planner.swing_height": 0.03})
    assert setup.with_files("a lower step_adaptation.trigger or planner.swing_height, at 0.97 m/s") == (
        "a lower step_adaptation.trigger or planner.swing_height, at 0.97 m/s; step_adaptation.trigger is set in "
        + place_of("step_adaptation.trigger", setup.layers)
    )
    assert "talos" in setup.with_files("zmp_com_controller.walking.zmp").rpartition(" is set in ")[2]
    assert setup.with_files("mend it") == "mend it"


def test_a_single_override_is_taken_as_text_and_an_error_does_not_speak_of_a_command_line():
    assert load_setup("icub_v2_7", "planner.swing_height=0.03").walking.planner.swing_height == 0.03
    with pytest.raises(ConfigError, match=r"planner is set by an override$"):
        load_setup("icub_v2_7", ["planner=3"])


def test_saved_tables_hold_the_facts_of_the_robot_that_a_run_may_change():
    setup = load_setup("icub_v2_7")
    assert setup.tables["planner"]["com_height"] == setup.robot.com_height


def test_a_key_outside_a_table_is_named_with_its_file(tmp_path):
    (tmp_path / "top.toml").write_text("swing_height = 0.03\n")
    with pytest.raises(ConfigError, match=r"did you mean 'planner.swing_height'\?; swing_height is set in .*top\.toml"):
        load_setup("icub_v2_7", files=[tmp_path / "top.toml"])

from pathlib import Path

import pytest

from gradiva.robot_model import Environment
from gradiva.setup import describe_robot, robots_with_ports
from gradiva.yarp_modules.application import read_application
from gradiva.yarp_modules.application.shipped_applications import shipped_applications
from gradiva.yarp_modules.gradiva_module import MODULES, module_class, program_name
from gradiva.yarp_modules.module_options import parse_options

APPS = Path(__file__).parents[3] / "apps"
FILES = sorted(APPS.glob("*.xml"))


def test_the_files_are_those_of_the_generator():
    found = {path.name: path.read_text(encoding="utf-8") for path in FILES}
    assert found == shipped_applications(), "run scripts/applications"


def test_each_robot_has_one_for_each_place_and_form():
    places = ("simulation", "gazebo", "hardware")
    robots = [robot.name for robot in robots_with_ports()]
    expected = {f"{robot}-{place}{form}" for robot in robots for place in places for form in ("", "-three")}
    assert {path.stem for path in FILES} == expected
    assert len(expected) == 30


@pytest.fixture(params=FILES, ids=lambda path: path.stem)
def application(request):
    return read_application(request.param)


def test_nothing_in_them_is_unheeded_and_the_name_is_that_of_the_file(application):
    assert application.notes == ()
    assert application.name == application.file.stem


def test_their_parameters_are_options_of_their_modules(application):
    robot = application.file.stem.split("-")[0]
    environment = "hardware" if "-hardware" in application.file.stem else "simulation"
    programs = {program_name(title): title for title in MODULES}
    for module in application.modules:
        kind = module_class(programs[module.program])
        options = parse_options(module.arguments, module.program, "", kind.OPTIONS, kind.NEEDS_ROBOT)
        assert options.robot in (robot, "")
        assert options.environment == environment
        assert options.name == module.port


def test_the_controller_waits_for_the_boards_and_sensors_that_it_reads(application):
    robot = describe_robot(application.file.stem.split("-")[0])
    is_hardware = "-hardware" in application.file.stem
    environment = Environment.HARDWARE if is_hardware else Environment.SIMULATION
    controller = next(each for each in application.modules if each.port == "/walking-coordinator")
    ports = [dependency.port for dependency in controller.dependencies]
    if "-simulation" in application.file.stem:  # its simulator is one of ours, which the controller waits for by itself
        assert ports == []
        return
    boards = {robot.ports.board_of(joint) for joint in robot.joints}
    assert {robot.ports.full_name(environment, f"{board}/stateExt:o") for board in boards} <= set(ports)
    sensors = {robot.ports.sensor_of(sensor.name)[0].name for sensor in robot.force_torque_sensors}
    sensors.add(robot.ports.imu()[0].name)
    assert {robot.ports.full_name(environment, f"{server}/measures:o") for server in sensors} <= set(ports)
    assert ("/clock" in ports) is not is_hardware
    assert (f"{'--clock /clock'}" in controller.parameters) is not is_hardware


def test_no_module_depends_on_another_one_of_ours_so_that_all_of_them_run_at_once(application):
    ours = tuple(f"{module.port}/" for module in application.modules)
    dependencies = [each.port for module in application.modules for each in module.dependencies]
    assert not [port for port in dependencies if port.startswith(ours)]
    assert all(module.wait_after_start == 0.0 for module in application.modules)


def test_the_split_ones_connect_the_three_layers(application):
    is_split = application.file.stem.endswith("-three")
    ends = {(each.source, each.destination) for each in application.connections}
    layers = {
        ("/walking-coordinator/whole-body/plan-request:o", "/planner/request:i"),
        ("/planner/plan:o", "/walking-coordinator/whole-body/plan:i"),
        ("/walking-coordinator/whole-body/state:o", "/model-control/state:i"),
        ("/model-control/desired:o", "/walking-coordinator/whole-body/desired:i"),
    }
    assert ends == (layers if is_split else set())  # a joypad, which may not be there, connects itself
    assert not any(each.is_persistent for each in application.connections)  # our modules make them again
    assert len(application.modules) == 2 + 2 * is_split + ("-simulation" in application.file.stem)

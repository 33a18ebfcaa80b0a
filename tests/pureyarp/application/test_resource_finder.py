"""Configuration and files of a module are found where YARP looks."""

from dataclasses import replace

import pytest

from pureyarp.application.resource_finder import ResourceFinder, ResourceSearch
from pureyarp.data.values import Value


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A machine with its own YARP folders; the current directory is ``here`` below the returned path."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for name, folder in (("CONFIG_HOME", "CH"), ("DATA_HOME", "DH"), ("CONFIG_DIRS", "CD"), ("DATA_DIRS", "DD")):
        monkeypatch.setenv(f"YARP_{name}", str(tmp_path / folder))
    monkeypatch.setenv("YARP_ROBOT_NAME", "robo")
    return tmp_path


def write(path, text="") -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return str(path)


def test_the_command_line_goes_before_the_file_and_the_file_before_the_defaults(home):
    write(home / "here" / "mine.ini", "name file\nperiod 0.02\n[walk]\nspeed 1\nheight 2\n")
    finder = ResourceFinder()
    finder.setDefault("name", "default")
    finder.setDefault("period", 1.0)
    finder.setDefault("only", 3)
    finder.setDefaultConfigFile("mine.ini")
    assert finder.configure(["program", "--name", "line", "--walk::speed", "9"])
    assert finder.find("name").asString() == "line"
    assert finder.find("period").asFloat64() == 0.02
    assert finder.find("only").asInt32() == 3
    assert finder.findGroup("walk").toString() == "walk (speed 9) (height 2)"


def test_the_first_argument_is_the_name_of_the_program(home):
    finder = ResourceFinder()
    assert finder.configure(["--a", "--b", "1"])
    assert (finder.check("a"), finder.check("b")) == (False, True)
    finder = ResourceFinder()
    assert finder.configure(["--a", "--b", "1"], False)
    assert (finder.check("a"), finder.check("b")) == (True, True)


def test_the_robot_goes_before_the_context(home):
    write(home / "DD" / "contexts" / "walking" / "conf.ini", "of context")
    finder = ResourceFinder()
    finder.setDefaultContext("walking")
    finder.setDefaultConfigFile("conf.ini")
    assert finder.configure(["program"])
    assert finder.find("of").asString() == "context"
    write(home / "DD" / "robots" / "robo" / "conf.ini", "of robot")
    assert finder.configure(["program"])
    assert finder.find("of").asString() == "robot"


def test_the_context_of_the_user_takes_the_place_of_the_default(home):
    write(home / "CH" / "contexts" / "running" / "conf.ini", "fast true")
    finder = ResourceFinder()
    finder.setDefaultContext("walking")
    assert finder.configure(["program", "--context", "running", "--from", "conf.ini"])
    assert finder.find("fast").asBool()
    assert finder.getContext() == "running"
    assert finder.getContexts().toString() == "running"
    assert finder.getHomeContextPath() == str(home / "DH" / "contexts" / "running")
    assert finder.getHomeRobotPath() == str(home / "DH" / "robots" / "robo")


def test_a_file_of_the_user_that_is_not_there_is_refused_and_the_folders_are_logged(home, caplog):
    finder = ResourceFinder()
    finder.setDefaultContext("walking")
    assert not finder.configure(["program", "--from", "none.ini"])
    assert finder.isConfigured()
    (line,) = caplog.messages
    assert line.startswith("the configuration file none.ini cannot be read; looked for in: ")
    for place in ("here", "CH/robots/robo", "DD/contexts/walking", "CD"):
        assert str(home / place) in line


def test_a_missing_default_file_is_logged_and_accepted(home, caplog):
    finder = ResourceFinder()
    finder.setDefaultConfigFile("none.ini")
    assert finder.configure(["program", "--key", "1"])
    assert finder.isConfigured()
    assert "none.ini cannot be read" in caplog.text
    assert finder.find("key").asInt32() == 1


def test_a_quiet_finder_does_not_tell_of_it(home, caplog):
    finder = ResourceFinder()
    finder.setQuiet()
    finder.setDefaultConfigFile("none.ini")
    assert finder.configure(["program"])
    assert finder.findFile("nothing") == ""
    assert caplog.text == ""


def test_a_folder_can_be_the_configuration(home):
    write(home / "here" / "conf" / "a.ini", "a 1")
    write(home / "here" / "conf" / "b.ini", "b 2")
    finder = ResourceFinder()
    assert finder.configure(["program", "--from", "conf"])
    assert (finder.find("a").asInt32(), finder.find("b").asInt32()) == (1, 2)


def test_beside_a_file_at_hand_others_are_found_and_contexts_are_not_asked(home):
    main = write(home / "elsewhere" / "main.ini", "model robot.urdf")
    beside = write(home / "elsewhere" / "robot.urdf")
    write(home / "DD" / "contexts" / "walking" / "robot.urdf")
    write(home / "DD" / "contexts" / "walking" / "other.urdf")
    finder = ResourceFinder()
    finder.setDefaultContext("walking")
    assert finder.configure(["program", "--from", main])
    assert finder.findFile("model") == beside
    assert finder.findFileByName("robot.urdf") == beside
    assert finder.findFileByName("other.urdf") == ""
    assert finder.findPath() == str(home / "elsewhere")


def test_of_a_file_found_in_the_context_the_neighbours_are_found_there(home):
    write(home / "DD" / "contexts" / "walking" / "main.ini")
    beside = write(home / "DD" / "contexts" / "walking" / "robot.urdf")
    finder = ResourceFinder()
    finder.setDefaultContext("walking")
    finder.setDefaultConfigFile("main.ini")
    assert finder.configure(["program"])
    assert finder.findFile("robot.urdf") == beside


def test_a_key_names_a_file_and_without_the_key_the_name_itself_does(home):
    path = write(home / "here" / "a.urdf")
    finder = ResourceFinder()
    finder.configure(["program", "--model", "a.urdf"])
    assert finder.findFile("model") == path
    assert finder.findFile("a.urdf") == path
    assert finder.findFileByName("model") == ""


def test_all_folders_of_a_name_are_listed_the_best_first(home):
    for root in ("CH/robots/robo", "DD"):
        (home / root / "meshes").mkdir(parents=True)
    finder = ResourceFinder()
    assert finder.findPath("meshes") == str(home / "CH" / "robots" / "robo" / "meshes")
    paths = finder.findPaths("meshes")
    assert [paths.get(i).asString() for i in range(paths.size())] == [
        str(home / "CH" / "robots" / "robo" / "meshes"),
        str(home / "DD" / "meshes"),
    ]


def test_a_nested_finder_knows_the_group_and_searches_in_the_same_places(home):
    path = write(home / "CH" / "contexts" / "walking" / "a.urdf")
    finder = ResourceFinder()
    finder.setDefaultContext("walking")
    finder.configure(["program", "--arm::model", "a.urdf"])
    nested = finder.findNestedResourceFinder("arm")
    assert nested.findFile("model") == path
    assert nested.toString_c() == "(model a.urdf)"


def test_check_returns_whether_there_is_a_key_or_its_value_with_a_fallback(home):
    finder = ResourceFinder()
    finder.configure(["program", "--here", "1"])
    assert finder.check("here") is True
    assert finder.check("there") is False
    assert finder.check("here", Value(7)).asInt32() == 1
    assert finder.check("there", Value(7)).asInt32() == 7


def test_a_file_imports_from_another_context(home):
    write(home / "DD" / "contexts" / "camera" / "lens.ini", "focus 3")
    write(home / "here" / "main.ini", "[import camera lens.ini]\n")
    finder = ResourceFinder()
    assert finder.configure(["program", "--from", "main.ini"])
    assert finder.find("focus").asInt32() == 3


def test_the_finder_of_the_process_is_one():
    assert ResourceFinder.getResourceFinderSingleton() is ResourceFinder.getResourceFinderSingleton()


@pytest.fixture
def environment(tmp_path, monkeypatch) -> dict[str, str]:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return {
        "YARP_CONFIG_HOME": str(tmp_path / "CH"),
        "YARP_DATA_HOME": str(tmp_path / "DH"),
        "YARP_CONFIG_DIRS": str(tmp_path / "CD"),
        "YARP_DATA_DIRS": f"{tmp_path / 'DD1'}:{tmp_path / 'DD2'}",
        "YARP_ROBOT_NAME": "robo",
    }


def relative(paths, root) -> list[str]:
    return [str(path.relative_to(root)) for path in paths]


def test_the_order_is_the_one_that_the_real_finder_shows(environment, tmp_path):
    search = ResourceSearch.of(environment).in_contexts("ctx")
    roots = ["CH", "DH", "CD", "DD1", "DD2"]
    assert relative(search.places("conf.ini"), tmp_path) == [
        "here/conf.ini",
        *(f"{root}/robots/robo/conf.ini" for root in roots),
        *(f"{root}/contexts/ctx/conf.ini" for root in roots),
        *(f"{root}/conf.ini" for root in roots),
    ]


def test_without_variables_the_customs_of_linux_hold(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    search = ResourceSearch.of({"HOME": "/users/me"})
    assert [str(path) for path in search.places("f")][1:7] == [
        "/users/me/.config/yarp/robots/default/f",
        "/users/me/.local/share/yarp/robots/default/f",
        "/etc/xdg/yarp/robots/default/f",
        "/usr/local/share/yarp/robots/default/f",
        "/usr/share/yarp/robots/default/f",
        "/users/me/.config/yarp/f",
    ]


def test_the_xdg_variables_come_before_the_customs():
    folders = ResourceSearch.of({"HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_DATA_DIRS": "/a:/b"}).folders
    assert [str(folder) for folder in folders.standard] == [
        "/c/yarp",
        "/h/.local/share/yarp",
        "/etc/xdg/yarp",
        "/a/yarp",
        "/b/yarp",
    ]


@pytest.mark.parametrize("name", ["/absolute/conf.ini", "./conf.ini", "../conf.ini"])
def test_names_with_a_place_are_used_as_they_are(environment, name):
    assert len(list(ResourceSearch.of(environment).places(name))) == 1


def test_path_files_name_further_folders(environment, tmp_path):
    folder = tmp_path / "DD1" / "config" / "path.d"
    folder.mkdir(parents=True)
    (folder / "mine.ini").write_text(f"[search mine]\npath {tmp_path}/P1 {tmp_path}/P2\n")
    search = ResourceSearch.of(environment)
    assert relative(search.places("f"), tmp_path)[-2:] == ["P1/f", "P2/f"]
    (tmp_path / "P2" / "robots" / "robo").mkdir(parents=True)
    (tmp_path / "P2" / "robots" / "robo" / "f").touch()
    assert search.file("f") == tmp_path / "P2" / "robots" / "robo" / "f"


def test_files_and_folders_are_distinguished(environment, tmp_path):
    (tmp_path / "CH" / "thing").mkdir(parents=True)
    (tmp_path / "CD").mkdir()
    (tmp_path / "CD" / "thing").touch()
    search = ResourceSearch.of(environment)
    assert search.file("thing") == tmp_path / "CD" / "thing"
    assert search.folder("thing") == tmp_path / "CH" / "thing"
    assert search.file("nothing") is None


def test_every_place_is_logged_when_asked(environment, caplog):
    caplog.set_level("INFO", "pureyarp")
    search = ResourceSearch.of({**environment, "YARP_ROBOT_NAME": ""})
    search.file("quiet")
    assert caplog.text == ""
    replace(search, is_logged=True).file("loud")
    assert "CH/robots/default/loud" in caplog.text

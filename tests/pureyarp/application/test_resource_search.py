from dataclasses import replace

import pytest

from pureyarp.application.resource_finder import ResourceSearch


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

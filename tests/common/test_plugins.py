import sys

import pytest

from gradiva.common import ConfigError, Registry, load_plugin, plugin_errors, plugin_names

GROUP = "gradiva.examples_of_this_test"


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package on the path, with metadata as pip writes it."""
    (tmp_path / "thing_of_a_user.py").write_text("class Thing:\n    pass\n", encoding="utf-8")
    (tmp_path / "broken_of_a_user.py").write_text("1 / 0\n", encoding="utf-8")
    metadata = tmp_path / "thing_of_a_user-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: thing-of-a-user\nVersion: 1.0\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text(f"[{GROUP}]\nthing = thing_of_a_user:Thing\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    for name in ("thing_of_a_user", "broken_of_a_user"):
        sys.modules.pop(name, None)


def test_a_plugin_is_loaded_by_its_entry_point_and_by_its_path(package):
    assert plugin_names(GROUP) == ["thing"]
    assert load_plugin(GROUP, "thing").__name__ == "Thing"
    assert load_plugin(GROUP, "thing_of_a_user:Thing") is load_plugin(GROUP, "thing")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("thinq", "did you mean 'thing'"),
        ("nowhere.at_all:Thing", "importing 'nowhere.at_all' failed: ModuleNotFoundError"),
        ("thing_of_a_user:Thinq", "'thing_of_a_user' has no 'Thinq'; did you mean 'Thing'"),
        ("broken_of_a_user:Thing", "ZeroDivisionError: division by zero"),
    ],
)
def test_a_plugin_that_cannot_be_loaded_is_an_error_that_says_what_exists(package, name, message):
    with pytest.raises(ConfigError, match=message):
        load_plugin(GROUP, name)


def test_a_group_without_plugins_says_so():
    with pytest.raises(ConfigError, match="no installed package declares one"):
        load_plugin("gradiva.group_without_plugins", "thing")


class OfAUser:
    """A class outside of the package."""


def test_an_error_of_a_plugin_while_it_is_set_up_is_named_with_its_place():
    said = r"\[tasks.head\]: ValueError: no such joint \(.*test_plugins.py:\d+: raise ValueError\(.no such joint.\)\)"
    with pytest.raises(ConfigError, match=said), plugin_errors("[tasks.head]", OfAUser()):
        raise ValueError("no such joint")


def test_errors_of_gradiva_and_those_that_are_named_already_pass():
    with pytest.raises(ValueError, match="own"), plugin_errors("[tasks.pelvis]", ConfigError):
        raise ValueError("own")
    with pytest.raises(ConfigError, match=r"^weight=-1$"), plugin_errors("[tasks.head]", OfAUser):
        raise ConfigError("weight=-1")


class Seam:
    """Base of the kinds of a seam of this test."""

    Config = None


class Kind(Seam):
    def act(self):
        """Do what the seam needs."""


class WithoutTable(Kind):
    Config = int


SEAM = Registry("gradiva.seam_of_this_test", "thing", (Seam,), ("act",), {"shipped": f"{__name__}:Kind"})


def test_a_registry_finds_shipped_kinds_and_those_by_their_path():
    assert SEAM.names() == ["shipped"]
    assert SEAM.kind("shipped") is Kind
    assert SEAM.kind(f"{__name__}:Kind") is Kind
    assert SEAM.config(Kind, {}, "[things.shipped]") is None


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("shiped", r"unknown thing 'shiped'; did you mean 'shipped'.*; or write 'package\.module:Class'"),
        (f"{__name__}:OfAUser", "no Seam of "),
        (f"{__name__}:Seam", "Seam has no method 'act', which a thing needs"),
        (f"{__name__}:WithoutTable", "its Config <class 'int'> is no dataclass"),
    ],
)
def test_what_is_no_kind_of_the_seam_is_refused_by_name(name, said):
    with pytest.raises(ConfigError, match=said):
        SEAM.kind(name)


def test_a_table_of_a_kind_without_settings_is_refused():
    with pytest.raises(ConfigError, match=r"\[things\.shipped\]: unknown key 'gain', Kind has no settings"):
        SEAM.config(Kind, {"gain": 1.0}, "[things.shipped]")

import sys
from typing import Protocol

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
    def __init__(self, config=None):
        """Be made by the registry."""

    def act(self, strength):
        """Do what the seam needs."""

    def answer(self):
        return 42


class Weak(Kind):
    def act(self):
        """Take no strength."""


class WithoutTable(Kind):
    Config = int


class Acting(Protocol):
    def act(self, strength): ...

    def answer(self): ...


SEAM = Registry(
    "gradiva.seam_of_this_test",
    "thing",
    (Seam,),
    Acting,
    {"shipped": f"{__name__}:Kind"},
    returns={"answer": (str,)},
)


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
        (f"{__name__}:Weak", r"Weak\.act: too many positional arguments; it is asked as act\(strength\)"),
        (f"{__name__}:WithoutTable", "its Config <class 'int'> is no dataclass"),
    ],
)
def test_what_is_no_kind_of_the_seam_is_refused_by_name(name, said):
    with pytest.raises(ConfigError, match=said):
        SEAM.kind(name)


def test_a_table_of_a_kind_without_settings_is_refused():
    with pytest.raises(ConfigError, match=r"\[things\.shipped\]: unknown key 'gain', Kind has no settings"):
        SEAM.config(Kind, {"gain": 1.0}, "[things.shipped]")


def test_a_thing_is_made_with_its_table_and_names_itself_where_it_returns_a_wrong_type():
    with pytest.raises(ConfigError, match=r"\[seam_of_this_test\.shipped\]: unknown key 'a', Kind has no settings"):
        SEAM.make("shipped", {"shipped": {"a": 1}})
    made = SEAM.make("shipped", {})
    assert made.act(1.0) is None
    with pytest.raises(ConfigError, match=r"\[seam_of_this_test\.shipped\]: Kind\.answer returned 42, not str"):
        made.answer()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (OfAUser, r"layer 2: expected an object, got the class OfAUser: OfAUser\(…\) makes one"),
        (OfAUser(), r"layer 2: got <.*OfAUser object.*, neither a int nor a str of builtins"),
    ],
)
def test_an_object_that_is_none_of_the_seam_is_refused_by_what_it_is(given, message):
    with pytest.raises(ConfigError, match=message):
        Registry(GROUP, "thing", (int, str)).guarded(given, "layer 2")

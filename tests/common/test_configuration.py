from dataclasses import dataclass, fields

import pytest

from gradiva.common import ConfigError, ControlMode, configuration, from_table, merge, setting


@dataclass(frozen=True, slots=True)
class Inner:
    gain: float

    def __post_init__(self):
        if self.gain <= 1.0:
            raise ConfigError(f"gain={self.gain}, must exceed 1")


@dataclass(frozen=True, slots=True)
class Outer:
    period: float
    inner: Inner
    offset: tuple[float, float]
    mode: ControlMode
    weights: dict[str, float]
    note: str | None = None


TABLE = {
    "period": 1,
    "inner": {"gain": 2.0},
    "offset": [0.1, 2],
    "mode": "velocity",
    "weights": {"torso": 1},
}


def test_a_table_becomes_typed_values():
    outer = from_table(Outer, TABLE, "here")
    assert outer == Outer(1.0, Inner(2.0), (0.1, 2.0), ControlMode.VELOCITY, {"torso": 1.0})
    assert isinstance(outer.period, float)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"perod": 1.0}, "here: unknown key 'perod'; did you mean 'period'?"),
        ({"period": "fast"}, "here period: expected float, got 'fast'"),
        ({"period": True}, "here period: expected float, got True"),
        ({"period": float("nan")}, "here period: expected a finite number, got nan"),
        ({"period": float("inf")}, "here period: expected a finite number, got inf"),
        ({"inner": {"gain": 0.5}}, "here inner: gain=0.5, must exceed 1"),
        ({"inner": {}}, "here inner: missing key 'gain'"),
        ({"inner": 3}, "here inner: expected a table, got 3"),
        ({"offset": [1.0]}, "here offset: expected 2 values, got 1"),
        ({"offset": 1.0}, "here offset: expected a list, got 1.0"),
        ({"mode": "positon"}, "did you mean 'position'?"),
        ({"weights": 1.0}, "here weights: expected a table"),
    ],
)
def test_what_is_wrong_is_named(change, message):
    with pytest.raises(ConfigError) as error:
        from_table(Outer, TABLE | change, "here")
    assert message in str(error.value)


def test_merging_lays_tables_over_tables():
    merged = merge({"a": {"x": 1, "y": 2}, "b": 3}, {"a": {"y": 5}, "b": {"z": 1}})
    assert merged == {"a": {"x": 1, "y": 5}, "b": {"z": 1}}


@configuration
class Ranges:
    positive: float = setting("s", above=0.0, why="time goes on")
    fraction: float = setting("-", least=0.0, below=1.0)
    offset: tuple[float, float] = setting("m", least=-0.5)
    count: int = setting("-", most=4)
    groups: dict[str, float] = setting("1/s", least=0.0)
    name: str = "any"

    def __post_init__(self):
        if self.name == "refused":
            raise ConfigError("name=refused, by the class itself")


RANGES = {"positive": 1.0, "fraction": 0.5, "offset": [0.0, -0.5], "count": 4, "groups": {"torso": 0.0}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"positive": 0.0}, "here: positive=0.0, must be positive: time goes on"),
        ({"fraction": 1.0}, "here: fraction=1.0, must be in [0, 1)"),
        ({"fraction": -0.1}, "here: fraction=-0.1, must be in [0, 1)"),
        ({"offset": [0.0, -0.6]}, "here: offset=(0.0, -0.6), must be at least -0.5"),
        ({"count": 5}, "here: count=5, must be at most 4"),
        ({"groups": {"torso": -1.0}}, "here: groups.torso=-1.0, must not be negative"),
        ({"name": "refused"}, "here: name=refused, by the class itself"),
    ],
)
def test_a_setting_is_checked_against_its_range_before_its_class_checks(change, message):
    assert from_table(Ranges, RANGES, "here").offset == (0.0, -0.5)
    with pytest.raises(ConfigError) as error:
        from_table(Ranges, RANGES | change, "here")
    assert str(error.value) == message


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
def test_a_setting_is_finite(value):
    with pytest.raises(ConfigError, match=f"positive={value}, must be finite"):
        Ranges(value, 0.5, (0.0, 0.0), 1, {})


def test_a_setting_knows_its_unit():
    assert {field.name: field.metadata["unit"] for field in fields(Ranges) if field.metadata} == {
        "positive": "s", "fraction": "-", "offset": "m", "count": "-", "groups": "1/s"
    }  # fmt: skip

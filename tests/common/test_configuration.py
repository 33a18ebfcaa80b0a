from dataclasses import dataclass

import pytest

from gradiva.common import ConfigError, ControlMode, from_table, merge


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

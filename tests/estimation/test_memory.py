import casadi as cs
import numpy as np
import pytest

from gradiva.common import LowPass
from gradiva.estimation.memory import Memory, low_passed, symbolic_low_pass_gain
from gradiva.robot_model.flat_function import FlatFunction


def filtering() -> FlatFunction:
    memory = Memory()
    names = ("period", "time_constant")
    inputs = {"sample": cs.SX.sym("sample", 2), **{name: cs.SX.sym(name) for name in names}}
    share = symbolic_low_pass_gain(inputs["time_constant"], inputs["period"])
    value = low_passed(memory.last("value", 2), inputs["sample"], share)
    memory.keep(value)
    return FlatFunction("low_pass", inputs | {"memory": memory.input}, {"value": value, "memory": memory.output})


@pytest.mark.parametrize("time_constant", [0.0, 0.002, 0.1])
def test_the_low_pass_within_a_function_is_the_one_outside(time_constant: float) -> None:
    function, outside, random = filtering(), LowPass(time_constant), np.random.default_rng(1)
    for period in (np.inf, 0.001, 0.0, 0.01, 1e-9):
        sample = random.normal(size=2)
        function.set(sample=sample, period=period, time_constant=time_constant)
        outputs = function()
        function.set(memory=outputs["memory"])
        np.testing.assert_allclose(outputs["value"], outside.update(sample, period), rtol=1e-15, atol=1e-15)


def test_the_first_sample_passes_to_the_last_digit() -> None:
    function, sample = filtering(), np.array([0.1, 1.0 / 3.0])
    function.set(sample=sample, period=np.inf, time_constant=0.1)
    np.testing.assert_array_equal(function()["value"], sample)

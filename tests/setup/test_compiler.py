import casadi as cs
import pytest

from gradiva.setup import GccCompiler


@pytest.fixture
def square():
    x = cs.SX.sym("x")
    return cs.Function("square", [x], [x * x])


def test_a_function_is_compiled_once_and_found_again(tmp_path, square):
    said = []
    for _ in range(2):
        compiled = GccCompiler(tmp_path, said.append)(square)
        assert float(compiled(3.0)) == 9.0
    assert said == ["compiling square (once on this machine, about 1 s)"]
    assert len(list(tmp_path.glob("square-*.so"))) == 1


def test_other_expressions_make_another_library(tmp_path, square):
    x = cs.SX.sym("x")
    compiler = GccCompiler(tmp_path)
    compiler(square)
    assert float(compiler(cs.Function("square", [x], [x * x + 1.0]))(3.0)) == 10.0
    assert len(list(tmp_path.glob("square-*.so"))) == 2


@pytest.mark.parametrize("compiler", ["/nowhere/gcc", "false"])
def test_without_a_working_compiler_the_function_is_as_it_was(tmp_path, square, monkeypatch, compiler):
    monkeypatch.setenv("CC", compiler)
    said = []
    gcc = GccCompiler(tmp_path, said.append)
    assert gcc(square) is square
    assert gcc(square) is square
    assert gcc.failure
    assert sum("is not compiled, the controller is slower but works" in line for line in said) == 1
    assert not list(tmp_path.glob("*.so"))

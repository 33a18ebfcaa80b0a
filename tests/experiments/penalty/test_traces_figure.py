import numpy as np

from gradiva.experiments.penalty.traces_figure import Panel, Trace, traces_figure


def test_a_figure_has_a_panel_a_quantity_and_a_line_a_trace() -> None:
    times = np.linspace(0.0, 1.0, 5)
    traces = [Trace("one", times, times), Trace("two", times, 2.0 * times)]
    figure = traces_figure("title", [Panel("a [m]", traces, (0.0, 1.0)), Panel("b [N]", traces[:1], None)])
    assert [axis.get_title(loc="left") or axis.get_title() for axis in figure.axes] == ["a [m], enlarged", "b [N]"]
    assert [len(axis.lines) for axis in figure.axes] == [2, 1]
    assert figure.axes[0].get_ylim() == (0.0, 1.0)


def test_lines_that_are_called_otherwise_have_a_legend_of_their_own() -> None:
    times = np.linspace(0.0, 1.0, 5)
    names = ("one", "one", "two")
    panels = [Panel("a [m]", [Trace(name, times, times)]) for name in names]
    legends = [axis.get_legend() for axis in traces_figure("title", panels).axes]
    assert legends[1] is None
    assert [legends[place].get_texts()[0].get_text() for place in (0, 2)] == ["one", "two"]

from gradiva.experiments.bars_figure import bars_figure

ROWS = [
    {"model": "dcm", "control": "torque", "paper": 0.212, "value": 0.45},
    {"model": "dcm_mpc", "control": "torque", "paper": None, "value": None},
]


def test_bars_of_paper_and_ours_stand_side_by_side_and_what_is_missing_is_a_dash():
    figure = bars_figure(ROWS, ("model", "control"), "highest speed [m/s]", "thesis, simulation")
    (axis,) = figure.axes
    assert [bar.get_width() for bar in axis.patches] == [0.212, 0.0, 0.45, 0.0]
    assert [text.get_text() for text in axis.texts] == ["0.21", "–", "0.45", "–"]
    assert [text.get_text() for text in axis.get_yticklabels()] == ["dcm, torque", "dcm_mpc, torque"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["thesis, simulation", "Gradiva, simulation"]
    assert axis.xaxis.get_label().get_text() == "highest speed [m/s]"

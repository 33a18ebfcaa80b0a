from gradiva.experiments.recorded_ticks import note_commands


class Layer:
    def command(self, state, reference, period, relaxed=False):
        return state, reference, period, relaxed


def test_what_layer_3_is_given_is_noted_until_the_end():
    layer, noted = Layer(), []
    end = note_commands(layer, lambda *given: noted.append(given))
    assert layer.command("state", "reference", 0.001, relaxed=True) == ("state", "reference", 0.001, True)
    end()
    layer.command("later", "reference", 0.001)
    assert noted == [("state", "reference", 0.001)]

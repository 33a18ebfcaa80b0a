"""`gradiva config` lists the keys of the configuration with what a robot makes of them."""

import pytest

from gradiva.cli.configuration import reason_of


@pytest.fixture(scope="module", autouse=True)
def wide(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "400")
        yield


def rows_of(out):
    return {line.split()[0]: " ".join(line.split()[1:]) for line in out.splitlines() if line.strip()}


def test_a_table_shows_values_ranges_meanings_and_what_the_robot_has_of_its_own(gradiva):
    status, out, _ = gradiva("config", "step_adaptation")
    rows = rows_of(out)
    assert status == 0
    assert "[step_adaptation]" in rows
    assert rows["tipping_margin"].startswith("0.005 not negative, m Distance of the ZMP from toe and heel")
    assert rows["reach"].startswith("0.8 in (0, 1] (the planner Largest distance of the feet")
    assert rows["reach"].endswith("set in robots/icub_v2_7/step_adaptation.toml")
    assert "max_speed" not in rows


@pytest.mark.parametrize(("word", "table"), [("Planner", "planner"), ("reach", "step_adaptation")])
def test_the_name_of_a_table_or_of_a_key_chooses_that_alone(gradiva, word, table):
    _, out, _ = gradiva("config", word)
    headings = {name.strip("[]") for name in rows_of(out) if name.startswith("[")}
    assert {name.partition(".")[0] for name in headings} == {table}


def test_words_of_meanings_and_overrides_are_found(gradiva):
    status, out, _ = gradiva("config", "com_controller.walking.com", "--set", "zmp_com_controller.walking.com=4.0")
    assert (status, rows_of(out)["com"]) == (0, "4.0 not negative, 1/s K_CoM. — set by --set")
    (_, by_name, _), (_, by_meaning, _) = gradiva("config", "TIPPING"), gradiva("config", "DISTANCE of the zmp")
    assert "tipping_margin" in rows_of(by_name)
    assert "tipping_margin" in rows_of(by_meaning)


@pytest.mark.parametrize(
    ("comment", "reason"),
    [
        ("[m/s] largest speed of the foot", ""),
        ("[m/s] speed of the foot; 0.2 falls", "0.2 falls"),
        ("healthy: 0.07", "healthy: 0.07"),
    ],
)
def test_a_comment_that_repeats_the_meaning_is_left_out(comment, reason):
    assert reason_of(comment, "Largest speed of the foot in the air, [m/s].") == reason


def test_without_a_word_the_tables_are_listed(gradiva):
    status, out, _ = gradiva("config", "--robot", "talos", "--plant", "robot")
    rows = rows_of(out)
    assert status == 0
    assert out.startswith("TALOS, plant robot")
    assert rows["step_adaptation"] == "7"
    assert {"walking", "planner", "simulation", "joypad"} <= rows.keys()


def test_a_word_of_no_key_is_refused_with_the_nearest_one(gradiva):
    status, _, err = gradiva("config", "plannr")
    assert status == 2
    assert "no table and no key has 'plannr'; did you mean 'planner'?" in err


def test_a_list_of_tables_shows_their_keys_and_an_example_with_its_numbers(gradiva):
    _, out, _ = gradiva("config", "pushes")
    assert "list of { link, force," in out
    assert '{ link = "torso", force = [0.0, 30.0, 0.0], start = 4.0, duration = 0.1 }' in out


def test_other_keys_with_such_a_name_are_named(gradiva):
    _, out, _ = gradiva("config", "contact")
    assert "[centroidal_walking.mpc.weights]" in out
    last = out.splitlines()[-1]
    assert last.startswith("others with such names: contact_estimator, ")
    assert "simulation.ground.contact_time" in last
    _, out, _ = gradiva("config", "ground")
    assert "[simulation.ground]" in out

"""The menu of other walks on the page of ``gradiva play``, and the address where it is served."""

import pytest

from gradiva.cli.playing import WalkMenu, page_address
from gradiva.common import ConfigError


def test_a_choice_keeps_the_other_options_and_is_given_up_for_the_former_one():
    menu = WalkMenu({"robot": "g1", "settings": ["planner.com_height=0.6"], "seed": 3})
    table = menu.as_table()
    assert {name: entry["value"] for name, entry in table.items()} == {
        "robot": "g1",
        "control": "position",
        "model": "dcm",
        "plant": "ideal",
        "ground": "rigid",
        "step_adaptation": "place_and_time",
    }
    assert "soft" in table["ground"]["values"]
    chosen = {**{name: entry["value"] for name, entry in table.items()}, "plant": "robot", "control": "torque"}
    menu.check(chosen)
    assert str(menu.setup.plant) == "ideal", "a check changes nothing"
    menu.take(chosen)
    assert (str(menu.setup.plant), str(menu.setup.walking.walking.control), menu.seed) == ("robot", "torque", 3)
    assert menu.setup.walking.planner.com_height == 0.6
    assert "no mesh" in menu.give_up("no mesh")
    assert str(menu.setup.plant) == "ideal"


@pytest.mark.parametrize("chosen", [{"plant": "cheese"}, {"seed": "3"}, {"robot": "../elsewhere"}])
def test_what_is_not_on_the_menu_is_refused(chosen):
    with pytest.raises(ConfigError, match="no such choice"):
        WalkMenu({"robot": "g1"}).check(chosen)


def test_a_page_is_served_to_this_machine_unless_an_address_and_its_certificate_are_given():
    assert page_address(8080, None, None, None).host == "127.0.0.1"
    with pytest.raises(ConfigError, match="give --tls-cert"):
        page_address(8080, "robot.example", None, None)

import pytest

from gradiva.common import FootContact, Side, SoleRectangle
from gradiva.contacts import ViscoElasticContact
from gradiva.experiments import contact_timing

SOLE = SoleRectangle(x=(-0.0535, 0.1065), y=(-0.031, 0.041), z=0.0)


def test_the_rows_of_the_benchmark_are_one_foot_each():
    rows = contact_timing.contact_rows(SOLE)
    assert [row["name"] for row in rows] == ["contacts.viscoelastic_wrench", "contacts.rate"]
    assert all(row["median_us"] > 0.0 and row["samples"] > 1000 for row in rows)


def test_the_foot_that_is_timed_stands_on_its_whole_sole_and_on_parts_of_it():
    model = ViscoElasticContact(SOLE, Side.LEFT)
    contact = FootContact(True, [0, 0, 0], [[1, 0, 0], [0, 1, 0], [0, 0, 1]], 1e6, 1e4)
    shares = [
        model.loaded_moments(contact_timing._rocking(0.1 * index), contact).area / (0.16 * 0.072) for index in range(63)
    ]
    assert min(shares) > 0.1
    assert sum(share < 0.999 for share in shares) / 63 == pytest.approx(0.5, abs=0.15)

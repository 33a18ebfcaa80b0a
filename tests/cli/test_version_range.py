import pytest

from gradiva.cli.checks import allows, parse_requirement


@pytest.mark.parametrize(
    ("requirement", "parts"),
    [
        ("numpy<3,>=2.0", ("numpy", "<3,>=2.0")),
        ("icub-models==2.8.1", ("icub-models", "==2.8.1")),
        ("pytest<10,>=8.3; extra == 'dev'", ("pytest", "<10,>=8.3")),
        ("viser[dev] (>=1.1, <1.2)", ("viser", ">=1.1,<1.2")),
        ("rich", ("rich", "")),
    ],
)
def test_a_requirement_has_a_name_and_a_range(requirement, parts):
    assert parse_requirement(requirement) == parts


@pytest.mark.parametrize(
    ("versions", "installed", "expected"),
    [
        ("<3,>=2.0", "2.4.6", True),
        ("<3,>=2.0", "3.0", False),
        ("<3,>=2.0", "1.26.4", False),
        ("==2.8.1", "2.8.1", True),
        ("==2.8.1", "2.8.10", False),
        ("<0.12", "0.11.0", True),
        ("<=1.2", "1.2.0", True),
        (">=2.0", "2.0rc1", True),
        ("", "7", True),
    ],
)
def test_versions_are_compared_number_by_number(versions, installed, expected):
    assert allows(versions, installed) is expected

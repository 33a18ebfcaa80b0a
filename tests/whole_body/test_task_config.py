import pytest

from gradiva.common import ConfigError
from gradiva.whole_body.tasks import (
    Priority,
)
from gradiva.whole_body.walking_tasks import (
    AngularMomentumTaskConfig,
    ComTaskConfig,
    OrientationTaskConfig,
    PoseTaskConfig,
    PostureTaskConfig,
    ZmpTaskConfig,
)

TASKS = {PoseTaskConfig: 4, OrientationTaskConfig: 2, ComTaskConfig: 2, AngularMomentumTaskConfig: 1, ZmpTaskConfig: 0}
"""How many gains each has."""


@pytest.mark.parametrize("kind", list(TASKS))
def test_a_hard_task_has_a_weight_for_where_it_cannot_be_met(kind):
    gains = [1.0] * TASKS[kind]
    with pytest.raises(ConfigError, match=r"weight=0\.0, must be positive: .* hard task"):
        kind(Priority.HARD, 0.0, *gains)
    for priority in (Priority.SOFT, Priority.OFF):
        assert kind(priority, 0.0, *gains).weight == 0.0


@pytest.mark.parametrize("kind", list(TASKS))
def test_a_negative_weight_is_refused(kind):
    with pytest.raises(ConfigError, match=r"weight=-1\.0, must not be negative"):
        kind(Priority.SOFT, -1.0, *[1.0] * TASKS[kind])


def test_a_negative_gain_is_named():
    with pytest.raises(ConfigError, match=r"angular_damping=-2\.0, must not be negative"):
        PoseTaskConfig(Priority.SOFT, 1.0, 1.0, 1.0, 1.0, -2.0)


@pytest.mark.parametrize(
    ("stiffness", "weight", "named"), [(0.0, 1.0, r"stiffness\.torso"), (1.0, 0.0, r"weights\.torso")]
)
def test_a_posture_group_without_stiffness_or_weight_is_named(stiffness, weight, named):
    with pytest.raises(ConfigError, match=rf"{named}=0\.0, must be positive"):
        PostureTaskConfig({"torso": stiffness}, {"torso": weight})

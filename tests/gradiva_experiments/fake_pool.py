"""A pool that does not walk."""

from gradiva_experiments import ExperimentOptions, TrialResult, find_experiment


class FakePool:
    """Trials for rigid ground fall, and those whose overrides ``falls`` finds too much; keeps the trials.

    The others walk with the CoM within ``error`` [m].
    """

    def __init__(self, falls=lambda overrides: False, error=0.002):
        self._falls, self._error = falls, error
        self.trials = []

    def results(self, trials):
        self.trials += trials
        for index in reversed(range(len(trials))):
            overrides = trials[index].overrides
            fell = overrides["torque_control.ground"] == "rigid" or self._falls(overrides)
            figures = {
                "outcome": "fell" if fell else "walked",
                "reason": "fell at 3.00 s" if fell else "done",
                "duration_s": 3.0 if fell else 10.0,
                "com_error_m": {"rms": 0.001, "max": 0.1 if fell else self._error},
            }
            yield index, TrialResult(figures, None)


def run_with(name, tmp_path, pool, quick=False, plants=()):
    options = ExperimentOptions(quick=quick, plants=plants)
    run = find_experiment(name).start(options, tmp_path, pool, lambda done, total, text: None)
    find_experiment(name).run(run)
    return run

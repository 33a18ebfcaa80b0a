"""Pools that do not walk."""

import json

from gradiva.telemetry import plain
from gradiva_experiments import ExperimentOptions, Pool, TrialResult, find_experiment


class ImmediatePool(Pool):
    """Carries out searches one by one, and yields the last first; `value` answers a job, `trials` are those so far."""

    def __init__(self):
        super().__init__()
        self.trials = []

    def value(self, job):
        return self.run(job).as_json()

    def run(self, trial):
        raise NotImplementedError

    def searches(self, searches):
        yield from reversed([(place, self._carried_out(search)) for place, search in enumerate(searches)])

    def _carried_out(self, search):
        row = None
        try:
            while True:
                self.trials.append(search.send(row))
                row = {"value": json.dumps(plain(self.value(self.trials[-1])))}
        except StopIteration as end:
            return end.value


class FakePool(ImmediatePool):
    """Trials for rigid ground fall, and those whose overrides ``falls`` finds too much.

    The others walk with the CoM within ``error`` [m].
    """

    def __init__(self, falls=lambda overrides: False, error=0.002):
        super().__init__()
        self._falls, self._error = falls, error

    def run(self, trial):
        fell = trial.overrides["torque_control.ground"] == "rigid" or self._falls(trial.overrides)
        figures = {
            "outcome": "fell" if fell else "walked",
            "reason": "fell at 3.00 s" if fell else "done",
            "duration_s": 3.0 if fell else 10.0,
            "com_error_m": {"rms": 0.001, "max": 0.1 if fell else self._error},
        }
        return TrialResult(figures, None)


def run_with(name, tmp_path, pool, quick=False, plants=()):
    options = ExperimentOptions(quick=quick, plants=plants)
    run = find_experiment(name).start(options, tmp_path, pool, lambda done, total, text: None)
    find_experiment(name).run(run)
    return run

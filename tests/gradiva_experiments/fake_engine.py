"""An engine that does not walk."""

from gradiva_experiments.campaign.driver import Answer

BOWL = {"zmp_com_controller.walking.zmp": 2.0, "zmp_com_controller.walking.com": 4.0}


class FakeEngine:
    """Answers at once: the cost has its least value at `BOWL`, and differs from seed to seed; zmp above 5 falls."""

    wants_more = True
    note = print

    def __init__(self):
        self.waiting, self.walks, self.seeds = [], 0, set()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def put(self, key, options):
        self.waiting.append((key, options))

    def withdraw(self, keys):
        self.waiting = [call for call in self.waiting if call[0] not in keys]

    def next(self, timeout):
        key, options = self.waiting.pop(0)
        self.walks += 1
        self.seeds.add(options["seed"])
        gains = {name: float(text) for name, _, text in (each.partition("=") for each in options["settings"])}
        gains = {**BOWL, **gains}
        distance = sum((gains[name] / best - 1.0) ** 2 for name, best in BOWL.items())
        fell = gains["zmp_com_controller.walking.zmp"] > 5.0
        refused = gains["zmp_com_controller.walking.com"] > 3.0 * gains["zmp_com_controller.walking.zmp"]
        error = 0.01 * (1.0 + distance * (1.0 + 0.03 * options["seed"]))
        outcome = "refused" if refused else "fell" if fell else "walked"
        figures = {"outcome": outcome, "reason": "", "duration_s": 4.0 if fell else 10.0, "dcm_error_m.max": error}
        energy = {"specific_energetic_cost": gains["zmp_com_controller.walking.zmp"], "walking_speed_mps": 0.2}
        return key, Answer(figures | energy | {"dcm_error_m.rms": error, "zmp_error_m.rms": 0.0})

"""``gradiva compare``: its input, and variants that it walks."""

import re
from types import SimpleNamespace

import pytest

from gradiva.cli.walk_session import variants, walk_variants
from gradiva.common import ConfigError
from gradiva.telemetry import RunFolder


def test_every_combination_of_values_is_a_variant():
    assert variants(["a=1", "b=3", "a=2"]) == [("a=1", "b=3"), ("a=2", "b=3")]
    assert len(variants(["a=1", "a=2", "b=1", "b=2", "b=3"])) == 6
    for settings, reason in (
        (["a=1"], "nothing to compare"),
        ([], "nothing to compare"),
        ([f"a={k}" for k in range(7)], "7"),
    ):
        with pytest.raises(ConfigError, match=reason):
            variants(settings)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((), "nothing to compare: name two runs or more, or one key with several values"),
        (("run",), "one run cannot be compared, run"),
        (("run", "./run"), "one run cannot be compared, run"),
        (("nowhere",), "nowhere is not a run: there is no such folder"),
        (("run", "nowhere"), "nowhere is not a run: there is no such folder"),
        (("run", "other"), "there is no log"),
        (
            ("run", "other", "--robot", "talos"),
            "run is walked already: leave out RUN, or the options of a walk (--robot)",
        ),
        (("--set", "dcm_controller.gian=1", "--set", "dcm_controller.gian=2"), "dcm_controller.gian"),
    ],
)
def test_wrong_input_is_one_line(gradiva, tmp_path, arguments, reason):
    for name in ("run", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.toml").write_text("")
    status, out, err = gradiva("compare", *arguments)
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert reason in err


@pytest.mark.walk
def test_variants_are_walked_filmed_and_compared(gradiva, tmp_path, monkeypatch):
    filmed = []

    def film(robot, motion, path, *others):
        filmed.append(path)
        path.write_bytes(b"a film")

    monkeypatch.setattr("gradiva.cli.walk_session.film", film)
    monkeypatch.setattr("gradiva.cli.walk_session.check_film", lambda robot, form: None)
    key = "zmp_com_controller.walking.zmp"
    variants = ("--set", f"{key}=1.0", "--set", f"{key}=1.2", "--set", "walking.prepare_duration=0.5")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "comparison.html").write_text("another page")
    status, out, _ = gradiva("compare", "--record", "--duration", 0.5, *variants, "--out", "runs")
    assert status == 0
    assert out.splitlines()[-1] == "runs/comparison-2.html"
    assert (tmp_path / "runs" / "comparison.html").read_text() == "another page"
    folders = sorted(folder for folder in (tmp_path / "runs").iterdir() if folder.is_dir())
    assert [RunFolder(folder).read_config()["zmp_com_controller"]["walking"]["zmp"] for folder in folders] == [1.0, 1.2]
    page = (tmp_path / "runs" / "comparison-2.html").read_text(encoding="utf-8")
    assert re.findall(r'value="([AB]: [^"]*)"', page) == ["A: zmp 1.0", "B: zmp 1.2"]
    assert [path.parent.name for path in filmed] == [folder.name for folder in folders]
    assert page.count("data:video/mp4;base64,YSBmaWxt") == 2


class MadeUpOutcome(SimpleNamespace):
    """A walk with one setting, which falls below a ZMP gain of 1."""

    def __init__(self, request):
        gain = request.setup.walking.zmp_com_controller.walking.zmp
        stands = gain >= 1.0
        super().__init__(stands=stands, result={"outcome": "walked" if stands else "fell", "reason": f"{gain}"})

    def save(self, out):
        (folder := out / self.result["reason"]).mkdir(parents=True)
        (folder / "config.toml").write_text("")
        return folder

    def with_cause(self, cause):
        self.result["reason"] = f"down; cause: {cause.text}; {cause.next_step}"
        return self


def test_a_variant_that_falls_is_blamed_on_its_difference_from_one_that_stands(tmp_path, monkeypatch, capsys):
    saved = []
    monkeypatch.setattr("gradiva.cli.walk_session.run_walk", MadeUpOutcome)
    monkeypatch.setattr("gradiva.cli.walk_session.save_walk", lambda outcome, folder: saved.append(folder.name) or [])
    settings = [f"zmp_com_controller.walking.zmp={gain}" for gain in (0.75, 1.5)]
    others = dict.fromkeys(("from_files", "push", "fault", "bump"))
    folders = walk_variants({"settings": settings, "robot": "icub_v2_7", **others}, tmp_path)
    assert [folder.name for folder in folders] == ["0.75", "1.5"]
    assert saved == ["0.75"]
    key = "zmp_com_controller.walking.zmp"
    assert capsys.readouterr().out.splitlines() == [
        f"{key}=0.75: fell: 0.75",
        f"{key}=1.5: walked: 1.5",
        f"{key}=0.75: cause: {key} = 0.75: the variant with {key} = 1.5 walks on",
    ]

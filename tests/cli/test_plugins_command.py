"""Plug-ins of installed packages are listed, and those that cannot be imported are named with the reason."""


def install(folder, name, group, value, source):
    (folder / f"{name}.py").write_text(source)
    metadata = folder / f"{name}-1.2.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n")
    (metadata / "entry_points.txt").write_text(f"[{group}]\nmine = {value}\n")


def test_each_plugin_is_listed_with_its_package_and_a_broken_one_with_its_reason(gradiva, tmp_path, monkeypatch):
    install(tmp_path, "sound_law", "gradiva.balance_laws", "sound_law:Law", "class Law: ...\n")
    install(tmp_path, "broken_task", "gradiva.tasks", "broken_task:Task", "import nowhere_to_be_found\n")
    monkeypatch.syspath_prepend(tmp_path)
    status, out, _ = gradiva("plugins")
    assert status == 1
    lines = out.splitlines()
    assert "ok    balance law 'mine': sound_law:Law (sound_law 1.2)" in lines
    (broken,) = (line for line in lines if line.startswith("fail"))
    assert "whole-body task 'mine': broken_task:Task (broken_task 1.2)" in broken
    assert "No module named 'nowhere_to_be_found'" in broken


def test_without_plugins_the_groups_are_named(gradiva, monkeypatch):
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [])
    status, out, _ = gradiva("plugins")
    assert status == 0
    assert "no package declares any of gradiva.balance_laws, gradiva.tasks" in out

from command import answer, thalweg


def test_all_of_them(made):
    found = {each["folder"]: each for each in answer("runs", made)["runs"]}
    assert set(found) == {
        str(made / name)
        for name in ("network", "newton", "stopped", "race/newton", "race/lbfgs", "race/gd")
    }
    newton = found[str(made / "newton")]
    assert (newton["state"], newton["data"], newton["method"]) == ("CERTIFIED", "@cancer", "newton")
    assert newton["score"]["measure"] == "accuracy"
    assert found[str(made / "stopped")]["state"] == "NOT CERTIFIED"
    network = found[str(made / "network")]
    assert (network["model"], network["gap"], network["state"]) == ("mlp:4", None, "FINISHED")


def test_damaged_and_unfinished_ones_are_listed(runs):
    (runs / "newton" / "job.json").write_text("{")
    (runs / "stopped" / "result.json").unlink()
    (runs / "race" / "gd" / "result.json").write_text('{"format": 1, "scores": 3}')
    (runs / "no run").mkdir()
    done = thalweg("runs", runs)
    assert done.exit_code == 0
    states = [each["state"] for each in answer("runs", runs)["runs"]]
    assert sorted(states) == [
        "CERTIFIED", "CERTIFIED", "DAMAGED", "DAMAGED", "FINISHED", "UNFINISHED",
    ]  # fmt: skip
    assert " ".join(done.stdout.split()).count("damaged: ") == 2
    assert "no run" not in done.stdout


def test_none(tmp_path):
    assert thalweg("runs", tmp_path).stdout.startswith(f"no runs in {tmp_path}: ")
    assert answer("runs", tmp_path / "not there")["runs"] == []


def test_narrow(made, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    lines = thalweg("runs", made).stdout.splitlines()
    assert max(len(line) for line in lines if str(made) not in line) <= 40

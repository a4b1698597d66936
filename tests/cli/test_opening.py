from thalweg.cli.opening import made_ready
from thalweg.objectives.linear import LinearProblem
from thalweg.runs.job import Job


def test_a_linear_job(capsys):
    data, ready = made_ready(Job("@cancer", l2="2/n", standardize=True))
    assert data.table.X.shape == data.rows.X.shape == (569, 30)
    assert isinstance(ready, LinearProblem)
    assert (ready.loss, ready.l2) == ("logistic", 2 / 569)
    assert capsys.readouterr().err == "loss: logistic, by what y holds; --loss takes another\n"


def test_a_loss_that_was_named_needs_no_word(capsys):
    made_ready(Job("@cancer", loss="squared-hinge"))
    assert capsys.readouterr().err == ""


def test_notes_on_the_data(tmp_path, capsys):
    file = tmp_path / "a.csv"
    file.write_text("a,b,y\n" + "\n".join(f"{k},1,{k % 3}" for k in range(30)))
    data, _ = made_ready(Job(str(file), "y", loss="squared", validation=0.5))
    assert len(data.rows.y) == len(data.rows.held.y) == 15
    assert capsys.readouterr().err.count("note: ") == len(data.table.notes) > 0

import pytest

import thalweg as tw
from thalweg.core.errors import InputError
from thalweg.jobs import opening
from thalweg.jobs.opening import opened, opened_again
from thalweg.runs.job import Job


@pytest.fixture
def job(tmp_path):
    (tmp_path / "a.csv").write_text("a,b,y\n" + "\n".join(f"{k},1,{k}.5" for k in range(30)))
    return Job(str(tmp_path / "a.csv"), "y", validation=0.5)


def test_data_are_read_noted_and_parted(job):
    told = []
    data = opened(job, told.append)
    assert told == list(data.table.notes) != []
    assert len(data.rows.y) == len(data.rows.held.y) == 15
    assert data.encoding is data.table.encoding


def test_what_is_at_hand_is_not_read_again(job, monkeypatch):
    table = tw.read(job.source, "y")
    monkeypatch.setattr(opening, "table_of", None)
    assert opened(job, table=table).table is table


def test_data_are_known_again(job, tmp_path, monkeypatch):
    data = opened(job)
    assert opened_again(job, tmp_path, data.fingerprint).rows.y.tolist() == data.rows.y.tolist()
    monkeypatch.setattr(opening, "fingerprint", None)
    assert data.fingerprint  # it is taken once
    monkeypatch.undo()
    with open(job.source, "a") as file:
        file.write("\n3,1,3.5")
    with pytest.raises(InputError, match=r"its own data, and .*a.csv has changed since"):
        opened_again(job, tmp_path, data.fingerprint)

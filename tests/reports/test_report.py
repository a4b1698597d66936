import html
import re

import pytest

import thalweg as tw
from drawings import run_of
from thalweg.core.errors import InputError, StorageError
from thalweg.reports.report import Report, report
from thalweg.reports.subject import Subject


def test_a_run_a_list_and_a_subject_are_told_alike():
    run = run_of()
    for thing in (run, [run], (run,), Subject((run,))):
        found = report(thing, title="Mine", findings=[])
        assert isinstance(found, Report)
        assert found.subject.runs == (run,)
        assert found.subject.title == "Mine"
        assert found.subject.findings == ()
    assert report(Subject((run,), title="Old"), notes=["a"]).subject.title == "Old"


def test_text_is_the_verdict():
    text = repr(report(run_of()))
    assert text.startswith("CERTIFIED  gd on f\n")
    assert "there was no plan" in text
    assert "gd won" in repr(report([run_of("adam"), run_of("gd", [2.0, 1.0])]))


def test_it_is_saved_whole(tmp_path):
    found = report(run_of())
    file = found.save(tmp_path / "new" / "report.html")
    assert file.read_text("utf-8") == found.html
    assert [each.name for each in file.parent.iterdir()] == ["report.html"]
    with pytest.raises(InputError, match=r"file must end in \.html, got 'a\.pdf'"):
        found.save("a.pdf")
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot be written"):
        found.save(tmp_path / "file" / "report.html")


def test_a_notebook_gets_the_same_page_in_a_frame():
    found = report(run_of(), title='It\'s <mine> & "yours"')
    cell = found._repr_html_()
    source = re.search(r"srcdoc='([^']*)'", cell)[1]
    assert html.unescape(source) == found.html
    assert html.unescape(re.search(r"title='([^']*)' sandbox", cell)[1]) == found.subject.title


@pytest.mark.parametrize(
    ("thing", "more", "sentence"),
    [
        (3, {}, "thing must be a run, a list of runs or a Subject, got 3"),
        ([], {}, "thing must have a run at least, got none"),
        ([3], {}, "thing must hold runs of tw.minimize, got 3"),
        (run_of(trace=tw.Trace()), {}, "with a history"),
        (run_of(), {"tittle": "x"}, "a report has no 'tittle': did you mean 'title'"),
        (run_of(), {"runs": ()}, "a report has no 'runs'"),
    ],
)
def test_bad_input_is_one_sentence(thing, more, sentence):
    with pytest.raises(InputError, match=sentence):
        report(thing, **more)

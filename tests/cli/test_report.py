from command import answer, sentence, thalweg


def test_a_page_a_run(runs):
    found = answer("report", runs / "newton", runs / "race")
    pages = [runs / "newton" / "report.html", runs / "race" / "report.html"]
    assert found["reports"] == [str(page) for page in pages]
    for page in pages:
        assert page.read_text("utf-8").lower().startswith("<!doctype html>")


def test_several_on_one_page(runs, tmp_path):
    page = tmp_path / "both.html"
    done = thalweg("report", runs / "newton", runs / "stopped", "--out", page)
    assert done.stdout == f"{page}\n"
    text = page.read_text("utf-8")
    assert "newton" in text
    assert "nesterov" in text


def test_bad_input(tmp_path):
    assert "does not exist" in sentence("report", tmp_path / "no")
    assert "Missing argument 'RUN...'" in sentence("report")

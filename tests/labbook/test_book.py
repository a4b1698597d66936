import re

import pytest

import thalweg as tw
from laboratory import result
from thalweg.labbook.book import bind, keep, read
from thalweg.labbook.catalogue import SECTIONS
from thalweg.labbook.ruling import Check


def test_a_page_each_and_an_index_of_all(tmp_path):
    for name in ("gd-rate", "svrg"):
        result(name=name).save(tmp_path)
    result(name="ridge", checks=[Check("c", False, "m")]).save(tmp_path)
    index = bind(tmp_path)
    text = index.read_text("utf-8")
    assert "2 of 3 labs pass" in text
    for name in ("gd-rate", "svrg", "ridge"):
        assert (tmp_path / f"{name}.html").is_file()
        assert f'href="{name}.html"' in text
    assert 'href="adam.html"' not in text  # it was not run
    assert all(title in text for title in SECTIONS)
    assert 'href="svrg.html">svrg →' in (tmp_path / "gd-rate.html").read_text("utf-8")
    leading = {each for file in tmp_path.glob("*.html")
               for each in re.findall(r'href="([^"#]+)', file.read_text("utf-8"))}  # fmt: skip
    assert all((tmp_path / each).is_file() for each in leading)


def test_all_verdicts_are_seen_at_a_glance(tmp_path):
    for name in ("gd-rate", "svrg"):
        result(name=name).save(tmp_path)
    result(name="ridge", checks=[Check("c", False, "m")]).save(tmp_path)
    glance = (
        bind(tmp_path).read_text("utf-8").partition('id="glance"')[2].partition("</section>")[0]
    )
    holding, failing = glance.split("<h3>")[1:]
    assert holding.startswith("Holds: 2</h3>")
    assert re.findall(r'href="([^"]+)"', holding) == ["gd-rate.html", "svrg.html"]
    assert failing.startswith("Fails, expected: holds: 1</h3>")
    assert re.findall(r'href="([^"]+)"', failing) == ["ridge.html"]


def test_one_page_at_a_time(tmp_path):
    made = result(name="gd-rate")
    assert keep(made, tmp_path) == [tmp_path / "gd-rate.json", tmp_path / "gd-rate.html"]
    assert "1 of 1 labs pass" in (tmp_path / "index.html").read_text("utf-8")
    assert list(read(tmp_path)) == ["gd-rate"]


def test_a_record_is_kept_where_its_page_cannot_be(tmp_path):
    (tmp_path / "gd-rate.html").mkdir()  # no file can be moved there
    told = []
    assert keep(result(name="gd-rate"), tmp_path, told.append) == [tmp_path / "gd-rate.json"]
    assert list(read(tmp_path)) == ["gd-rate"]
    assert "thalweg lab gd-rate makes its page" in told[0]


def test_another_record_that_cannot_be_read_takes_no_numbers_away(tmp_path):
    (tmp_path / "svrg.json").write_text('{"format": 1}')
    told = []
    assert keep(result(name="gd-rate"), tmp_path, told.append) == [tmp_path / "gd-rate.json"]
    assert "svrg.json is of another version: run its lab again; its numbers" in told[0]


def test_an_empty_folder(tmp_path):
    with pytest.raises(tw.InputError, match="thalweg lab --all makes them"):
        bind(tmp_path)

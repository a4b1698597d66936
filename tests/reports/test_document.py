from thalweg.reports.document import document
from thalweg.reports.markup import Markup, element
from thalweg.reports.script import script_hash


def test_everything_is_in_it_and_nothing_may_be_asked_for():
    text = document("A <title>", element("p", "a < b"), ".own{color:red}")
    assert text.startswith("<!DOCTYPE html>")
    assert "<title>A &lt;title&gt;</title>" in text
    assert "<p>a &lt; b</p>" in text
    assert ".own{color:red}</style>" in text
    assert "default-src &#x27;none&#x27;" in text
    assert script_hash().replace("'", "&#x27;") in text
    assert "http://" not in text.replace("http://www.w3.org", "")
    assert "sends nothing" in document("t", Markup())

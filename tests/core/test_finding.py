from thalweg.core.finding import Finding, Severity, worst_first


def finding(name, severity):
    return Finding(name, severity, f"{name} is 3", measured=3.0, limit=2.0, advice="lower it")


def test_worst_comes_first_and_equals_keep_their_order():
    given = [
        finding("a", Severity.NOTE), finding("b", Severity.ACT),
        finding("c", Severity.OK), finding("d", Severity.ACT),
    ]  # fmt: skip
    assert [f.name for f in worst_first(given)] == ["b", "d", "a", "c"]


def test_text_begins_with_the_severity_and_leaves_out_what_is_empty():
    assert str(finding("step", Severity.ACT)).splitlines() == [
        "ACT   step: step is 3",
        "      advice    lower it",
    ]


def test_a_notebook_shows_the_same_words():
    page = finding("<step>", Severity.ACT)._repr_html_()
    for word in ("ACT", "&lt;step&gt;", "&lt;step&gt; is 3", "lower it"):
        assert word in page
    assert "cause" not in page
    assert page != finding("<step>", Severity.OK)._repr_html_()

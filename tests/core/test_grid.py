from thalweg.core.grid import aligned, html_grid

ROWS = [("method", "time", "remark"), ("sag", "2 s", "CHOSEN"), ("lbfgs", "10 min", "")]


def test_columns_are_aligned_and_nothing_trails():
    assert aligned(ROWS) == ["method    time  remark", "sag        2 s  CHOSEN", "lbfgs   10 min"]


def test_cells_are_text_in_html():
    page = html_grid([("a", "b"), ("x < y", "&")])
    assert page == (
        "<table><thead><tr><th>a</th><th>b</th></tr></thead>"
        "<tbody><tr><td>x &lt; y</td><td>&amp;</td></tr></tbody></table>"
    )

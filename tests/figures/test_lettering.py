from thalweg.figures.lettering import shortened, told_apart, width, wrapped


def test_width_by_hand():
    assert width("ii", 10.0) == 5.8
    assert width("", 10.0) == 0.0
    assert width("WW", 10.0) > width("ll", 10.0)
    assert width("損失", 10.0) > 2 * 10.0  # wide signs count as such


def test_a_name_keeps_both_ends():
    name = "encoder.layers.3.attention.weight"
    short = shortened(name, 120.0, 12.0)
    assert width(short, 12.0) <= 120.0
    assert short.startswith("encod")
    assert short.endswith("ight")
    assert "…" in short
    assert shortened("gd", 120.0, 12.0) == "gd"
    assert shortened(name, 0.0, 12.0) == "…"


def test_names_stay_told_apart():
    names = [f"transformer.blocks.{k}.attention.projection" for k in range(12)]
    short = told_apart(names, 130.0, 12.0)
    assert len(set(short)) == 12
    assert short[3] == "…3.attention.projec…"
    assert all(width(name, 12.0) <= 130.0 for name in short)
    assert told_apart(["a", "b"], 130.0, 12.0) == ["a", "b"]
    assert told_apart(["a", "a"], 130.0, 12.0) == ["a", "a"]


def test_lines_fit_and_lose_no_word():
    text = "the quick brown fox jumps over the lazy dog " * 3
    lines = wrapped(text, 100.0, 12.0)
    assert " ".join(lines).split() == text.split()
    assert all(width(line, 12.0) <= 100.0 for line in lines)
    assert wrapped("", 100.0, 12.0) == []

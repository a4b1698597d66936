from thalweg.methods.payment import GROWTH, SPACING, Payment


def test_the_first_gap_is_paid_at_once():
    assert Payment().is_due(0, 1.0, 1e-6)


def test_at_the_same_point_it_is_paid_again():
    assert Payment(passes=100, norm=1.0, gap=1.0).is_due(100, 1.0, 1e-6)


def test_the_forecast_falls_like_the_square_of_the_norm():
    last = Payment(passes=100, norm=1.0, gap=1.0)
    # At a tenth of the norm the gap is about a hundredth.
    assert last.is_due(100 + SPACING, 0.1, 0.0101)
    assert not last.is_due(100 + SPACING, 0.1, 0.0099)


def test_within_the_spacing_only_a_sure_thing_is_paid_for():
    last = Payment(passes=100, norm=1.0, gap=1.0)
    assert not last.is_due(101, 0.1, 0.0101)
    assert last.is_due(101, 1e-5, 1e-6)


def test_without_hope_it_is_paid_for_as_passes_grow():
    last, passes, paid = Payment(), 0, 0
    while passes < 10_000:
        if last.is_due(passes, 1.0, 1e-12):
            last, paid = Payment(passes, 1.0, 1.0), paid + 1
        passes += 1
    # Geometric: about log(10⁴/40)/log(1/(1 − GROWTH)) after the first few.
    assert 15 <= paid <= 30
    assert 2 * paid <= 0.2 * passes
    assert GROWTH < 1

import pytest

from thalweg.cli.wording import NAMES, as_typed


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("Try method='lbfgs' and max_iter=300.", "Try -m lbfgs and --max-iter 300."),
        ("use time_limit=0.5: it", "use --time-limit 0.5: it"),
        ("standardize=True makes them equal", "--standardize makes them equal"),
        ("read it with impute=, or fill them", "read it with --impute, or fill them"),
        ("sag[l2=3], tol = 1e-06, gap ≤ tol·F", "sag[l2=3], tol = 1e-06, gap ≤ tol·F"),
        ("scale it (method='sag'), f(x) and l2=0.1", "scale it (-m sag), f(x) and --l2 0.1"),
        ("leave it out, with drop=['tailnum'].", "leave it out, with --drop tailnum."),
        ("drop=['a', \"it's\"]: no", "--drop a --drop 'it'\"'\"'s': no"),
        ("with missing=['-', 'n. a.']", "with --missing - --missing 'n. a.'"),
        ("say decimal=',' or thousands=','", "say --decimal , or --thousands ,"),
        ("Use standardize=True (--standardize), which", "Use --standardize, which"),
        ("tw.LinearProblem(X, y, l2=0.1)", "tw.LinearProblem(X, y, l2=0.1)"),
    ],
)
def test_by_hand(text, typed):
    assert as_typed(text) == typed


def test_every_name_is_an_option():
    from thalweg.cli.config import options_of
    from thalweg.cli.train import train

    assert {name.replace("_", "-") for name in NAMES} <= set(options_of(train))

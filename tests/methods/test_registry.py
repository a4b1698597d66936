import pytest

import thalweg as tw
from thalweg.methods.registry import METHODS, resolve

ALL = "Known: " + ", ".join(sorted([*METHODS, "auto"])) + "."


@pytest.mark.parametrize("name", METHODS)
def test_a_name_a_class_and_a_method_are_the_same(name):
    assert resolve(name) == resolve(METHODS[name]) == resolve(METHODS[name]()) == METHODS[name]()
    assert resolve(name).name == name


def test_the_table_holds_every_public_method():
    # Of the methods alone: the other names need torch to be looked at.
    names = [name for name, home in tw._HOMES.items() if home.startswith("thalweg.methods.")]
    public = {getattr(tw, name) for name in names if hasattr(getattr(tw, name), "advance")}
    assert set(METHODS.values()) == public


def test_a_method_is_taken_as_it_is():
    method = tw.Adam(lr=0.3)
    assert resolve(method) is method


@pytest.mark.parametrize(
    ("text", "method"),
    [
        ("adam[lr=0.1]", tw.Adam(lr=0.1)),
        ("adam[]", tw.Adam()),
        ("adam[lr=1e-3,beta1=0.5]", tw.Adam(lr=1e-3, beta1=0.5)),
        ("adam[lr=1e-3,]", tw.Adam(lr=1e-3)),
        ("  adam [ lr = 0.1 , eps = 1e-6 ]  ", tw.Adam(lr=0.1, eps=1e-6)),
        ("gd[step=0.1,schedule=1/t]", tw.GD(step=0.1, schedule="1/t")),
        ("gd[step=0.1, schedule=1/sqrt(t)]", tw.GD(step=0.1, schedule="1/sqrt(t)")),
        ("gd[step=0.1, schedule=1/√t]", tw.GD(step=0.1, schedule="1/√t")),
        ("gd[step=0.1, schedule='1/t']", tw.GD(step=0.1, schedule="1/t")),
        ("gd[step=None]", tw.GD()),
        ("heavy-ball[momentum=0.5]", tw.HeavyBall(momentum=0.5)),
        ("nesterov[momentum=strongly-convex]", tw.Nesterov(momentum="strongly-convex")),
        ("lbfgs[memory=3]", tw.LBFGS(memory=3)),
        ("rmsprop[lagged=True]", tw.RMSProp(lagged=True)),
        ("newton-cg[radius=2,max_cg=7]", tw.NewtonCG(radius=2, max_cg=7)),
    ],
)
def test_options_in_brackets(text, method):
    assert resolve(text) == method


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("adm", f"method must be a known name, got 'adm': did you mean 'adam'? {ALL}"),
        ("Adam", f"method must be a known name, got 'Adam': did you mean 'adam'? {ALL}"),
        (
            "heavy_ball",
            f"method must be a known name, got 'heavy_ball': did you mean 'heavy-ball'? {ALL}",
        ),
        ("", f"method must be a known name, got '': {ALL}"),
        ("qqqq", f"method must be a known name, got 'qqqq': {ALL}"),
        (
            "adm[lr=0.1]",
            f"method must be a known name, got 'adm[lr=0.1]': did you mean 'adam'? {ALL}",
        ),
        (
            "lbfgs[memory=5",
            f"method must be a known name, got 'lbfgs[memory=5': did you mean 'lbfgs'? {ALL}",
        ),
        (
            "lbfgs[memry=3]",
            "lbfgs has no option 'memry': did you mean 'memory'? "
            "Known: memory, precondition, search.",
        ),
        (
            "gd[lr=0.1]",
            "gd has no option 'lr': it is called 'step' here. Known: schedule, search, step.",
        ),
        ("bfgs[memory=3]", "bfgs has no option 'memory': Known: search."),
        (
            "adam[lr]",
            "options must read name=value, got 'lr' in 'adam[lr]': "
            "write, for example, adam[lr=0.1]",
        ),
        (
            "adam[0.1]",
            "options must read name=value, got '0.1' in 'adam[0.1]': "
            "write, for example, adam[lr=0.1]",
        ),
        (
            "adam[lr=]",
            "options must read name=value, got 'lr=' in 'adam[lr=]': "
            "write, for example, adam[lr=0.1]",
        ),
        ("adam[lr=fast]", "lr must be a number above 0, got 'fast'"),
        ("adam[lr=True]", "lr must be a number above 0, got True"),
        ("adam[lr=-1]", "lr must be above 0, got -1.0"),
        ("adam[lr={[]: 1}]", "lr must be a number above 0, got '{[]: 1}'"),
        ("lbfgs[memory=2.5]", "memory must be a whole number, at least 1, got 2.5"),
        ("fista[restart=false]", "restart must be True or False, got 'false'"),
        (
            "nesterov[momentum=convx]",
            "momentum must be a known name, got 'convx': did you mean 'convex'? "
            "Known: convex, strongly-convex.",
        ),
        (
            "adam[schedule=1/tt]",
            "schedule must be a known name, got '1/tt': did you mean '1/t'? "
            "Known: 1/sqrt(t), 1/t, constant.",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_read_gets_a_sentence(text, says):
    with pytest.raises(tw.InputError) as caught:
        resolve(text)
    assert str(caught.value) == says


@pytest.mark.parametrize("bad", [3, None, object, ["adam"], {"adam": 0.1}])
def test_other_types_get_a_sentence(bad):
    with pytest.raises(tw.InputError) as caught:
        resolve(bad)
    assert str(caught.value) == (
        f"method must be a name or a method such as tw.Adam(lr=0.1), got {bad!r}: {ALL}"
    )


def test_minimize_reads_the_same_names():
    run = tw.minimize(tw.surfaces.Quadratic(), "adam[lr=0.3]", max_iter=1)
    assert run.options == tw.Adam(lr=0.3).options


def test_an_option_given_twice_is_refused():
    with pytest.raises(tw.InputError, match="an option must be given once, got 'lr' twice"):
        resolve("adam[lr=0.1, lr=0.2]")

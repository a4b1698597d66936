"""Subjects of reports made of real runs, for tests that look at pages."""

import numpy as np

import thalweg as tw
from thalweg.curvature.density import spectral_density
from thalweg.reports.subject import Subject


def linear():
    """Logistic regression on breast-cancer data, planned, certified, with findings."""
    table = tw.read("@cancer")
    scaled = tw.LinearProblem(table.X, table.y, "logistic", l2=1 / 569, standardize=True)
    raw = tw.LinearProblem(table.X, table.y, "logistic", l2=1 / 569)
    return Subject(
        (tw.minimize(scaled, progress=False),),
        title="Logistic regression on @cancer",
        findings=tuple(tw.diagnose(raw, feature_names=table.feature_names)),
        data=(("source", "@cancer"), ("rows", "569"), ("target", "malignant 212, benign 357")),
        scaling=tuple(
            zip(table.feature_names, table.X.mean(0).tolist(), table.X.std(0).tolist(), strict=True)
        ),
        scores={"training": {"accuracy": 0.987}, "validation": {"accuracy": 0.974}},
        command="thalweg train @cancer --loss logistic --l2 1/n --standardize --validation 0.2",
        script="import thalweg as tw\n\nrun = tw.minimize(problem)",
        settings={"source": "@cancer", "l2": "1/n", "reading": {"impute": "mean"}},
        notes=("Rows were held out by drawing with the seed.",),
    )


def explained(folder):
    """A regression on a table with long names, from its file to its page."""
    rng = np.random.default_rng(0)
    towns = ["Zürich", "Bern <b>", "Genf", "La Chaux-de-Fonds am langen Hügel hinter dem Wald"]
    town = rng.choice(towns, 1500, p=[0.5, 0.3, 0.15, 0.05])
    age, size = rng.normal(40, 9, 1500), rng.lognormal(4, 0.5, 1500)
    price = 5 * size + 100 * (town == "Zürich") - 2 * age + rng.normal(0, 60, 1500)
    rows = [f"{a},{b},{c},{d}" for a, b, c, d in zip(town, age, size, price, strict=True)]
    (folder / "t.csv").write_text("\n".join(["town,age,size,price", *rows]))
    job = tw.Job(str(folder / "t.csv"), "price", standardize=True, validation=0.25)
    return tw.train(job, folder / "run", progress=False, report=False).subject()


def comparison():
    """Methods beside each other, one of which does not get there."""
    table = tw.read("@cancer")
    problem = tw.LinearProblem(table.X, table.y, "logistic", l2=1 / 569, standardize=True)
    methods = ("auto", "gd", "nesterov", "lbfgs")
    return Subject(tuple(tw.minimize(problem, m, max_iter=1500, progress=False) for m in methods))


def diverged():
    """A step far too long."""
    return Subject((tw.minimize(tw.surfaces.Rosenbrock(), tw.GD(step=0.1), progress=False),))


def network():
    """Sigmoids on digits, watched, with the Hessian's spectrum where they ended."""
    import torch  # takes seconds, which tests of other pages need not wait for
    from sklearn.datasets import load_digits
    from torch.nn.functional import cross_entropy as entropy

    X, y = load_digits(return_X_y=True)
    X, y = torch.tensor(X[:600], dtype=torch.float32) / 16, torch.tensor(y[:600])
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(64, 16), torch.nn.Sigmoid(), torch.nn.Linear(16, 16), torch.nn.Sigmoid(),
        torch.nn.Linear(16, 10),
    )  # fmt: skip
    data, validation = (X[:500], y[:500]), (X[500:], y[500:])
    loss = tw.nets.objective(model, data)
    with tw.watch(model, closure=lambda: entropy(model(X[:200]), y[:200]), every=4) as watch:
        run = tw.nets.fit(
            model, data, "sgd[lr=0.5]", epochs=6, validation=validation, probes=[watch],
            progress=False,
        )  # fmt: skip
    w = run.w.astype(np.float32)
    spectrum = spectral_density(
        lambda v: loss.hessian_vector(w, v.astype(np.float32)), w.size, steps=12, probes=1,
        rng=np.random.default_rng(0),
    )  # fmt: skip
    return Subject(
        (run,), title="A network on @digits", record=watch.record, spectrum=spectrum,
        findings=tuple(watch.diagnose()), point=tw.classify(loss, w, max_products=12),
    )  # fmt: skip

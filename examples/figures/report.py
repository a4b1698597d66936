"""Draw `docs/concepts/figures/report-*.png`: pages of `tw.report` as a browser shows them.

`python examples/figures/report.py`; needs the extra `nets`, playwright and Chromium. One page is of
logistic regression on breast-cancer data, one of five methods on them, one of a deep network of
sigmoids on digits, which does not learn.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import NamedTuple

import thalweg as tw

FOLDER = Path(__file__).parents[2] / "docs" / "concepts" / "figures"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
COMMAND = "thalweg train @cancer --loss logistic --l2 1/n --standardize --validation 0.2"


class Shot(NamedTuple):
    """Part of a page, as a screen of this width shows it."""

    name: str
    page: str
    width: int
    scheme: str
    top: str  # an element at which the picture begins
    height: int


SHOTS = (
    Shot("report-linear", "linear", 800, "light", "body", 1096),
    Shot("report-methods", "methods", 800, "dark", "#convergence", 720),
    Shot("report-network", "network", 800, "light", "#layers", 890),
    Shot("report-narrow", "linear", 400, "dark", "body", 988),
)


def linear() -> tw.Report:
    """One run, chosen by its plan."""
    table = tw.read("@cancer")
    problem = tw.LinearProblem(table.X, table.y, "logistic", l2=1 / 569, standardize=True)
    tw.minimize(problem)  # compiles
    run = tw.minimize(problem)
    scores = {"training": {"accuracy": float(((problem.scores(run.w) > 0) == table.y).mean())}}
    scales = zip(table.feature_names, table.X.mean(0), table.X.std(0), strict=True)
    return tw.report(
        run, title="Logistic regression on @cancer", scaling=scales, scores=scores, command=COMMAND
    )


def methods() -> tw.Report:
    """Five methods beside each other."""
    table = tw.read("@cancer")
    problem = tw.LinearProblem(table.X, table.y, "logistic", l2=1 / 569, standardize=True)
    names = ("auto", "lbfgs", "nesterov", "sag", "gd")
    for name in names:
        tw.minimize(problem, name, max_iter=3)  # compiles
    runs = [tw.minimize(problem, name, max_iter=3000) for name in names]
    return tw.report(runs, title="Five methods on @cancer")


def network() -> tw.Report:
    """Sigmoids behind sigmoids, watched."""
    import torch

    table = tw.read("@digits")
    X, y = torch.tensor(table.X / 16, dtype=torch.float32), torch.tensor(table.y)
    torch.manual_seed(0)
    hidden = [torch.nn.Linear(64, 32), torch.nn.Sigmoid()]
    for _ in range(5):
        hidden += [torch.nn.Linear(32, 32), torch.nn.Sigmoid()]
    model = torch.nn.Sequential(*hidden, torch.nn.Linear(32, 10))
    training, validation = (X[:1200], y[:1200]), (X[1200:], y[1200:])
    with tw.watch(
        model, loss="cross-entropy", data=training, validation=validation, every=4
    ) as watch:
        run = tw.nets.fit(
            model, training, "sgd[lr=0.3]", epochs=12, validation=validation, probes=[watch]
        )
    return tw.report(
        run, title="Six sigmoids on @digits", record=watch.record, findings=watch.diagnose()
    )


def main() -> None:
    """Make the pages and take the pictures."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print(f"none of {', '.join(BROWSERS)} is here: the pictures stay as they are")
        return
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        pages = {
            made.__name__: made().save(Path(folder) / f"{made.__name__}.html")
            for made in (linear, methods, network)
        }
        chromium = driver.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        for shot in SHOTS:
            tab = chromium.new_page(
                viewport={"width": shot.width, "height": shot.height}, color_scheme=shot.scheme
            )
            tab.goto(pages[shot.page].as_uri())
            top = tab.locator(shot.top).bounding_box()["y"]
            file = FOLDER / f"{shot.name}.png"
            clip = {"x": 0, "y": top, "width": shot.width, "height": shot.height}
            tab.screenshot(path=file, full_page=True, clip=clip)
            print(f"{file.name}: {file.stat().st_size / 1000:.0f} kB")
        chromium.close()


if __name__ == "__main__":
    main()

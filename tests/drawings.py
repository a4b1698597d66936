"""Runs, plans and figures written down by hand, for tests of pictures."""

import math
import re
import xml.etree.ElementTree as ET

import numpy as np

from records import LINEAR, record_of
from thalweg.core.certificate import Certificate
from thalweg.core.outcome import Outcome
from thalweg.core.plan import Measured, Plan, PlanRow
from thalweg.core.run import Run
from thalweg.core.trace import Trace

SVG = "{http://www.w3.org/2000/svg}"


def run_of(method="gd", values=None, *, gap=1e-6, objective="f", stride=1, **changes):
    """A run whose values are these, one gradient and a tenth of a second each."""
    values = np.geomspace(1.0, 1e-5, 50) if values is None else np.asarray(values, float)
    t = np.arange(len(values), dtype=float)
    nan = np.full(len(values), np.nan)
    rows = np.column_stack([t, t, t + 1, 0.1 * t, values, np.sqrt(np.abs(values)), nan])
    certificate = Certificate("duality gap", True, gap or 0.0, 1e-5, "a gap", "that", gap=gap)
    return Run(
        **{
            "objective": objective, "method": method, "w": np.zeros(2), "value": values[-1],
            "outcome": Outcome.CONVERGED, "reason": "done", "trace": Trace(rows, stride=stride),
            "certificate": certificate, "w0": np.ones(2), "tol": 1e-5, "seed": 0,
            **changes,
        }
    )  # fmt: skip


def plan_of(names=("newton", "lbfgs", "gd"), actual=None, **geometry):
    """A plan whose k-th method takes 10ᵏ ms and iterations; `actual` seconds of the first."""
    rows = [
        PlanRow(name, True, "", None, 10.0**k, 1e-3, 1e-3 * 10.0**k) for k, name in enumerate(names)
    ]
    plan = Plan("squared on 5 × 2", 1e-6, 1e-6, {k: Measured(*v) for k, v in geometry.items()},
                tuple(rows), 0.01)  # fmt: skip
    return plan if actual is None else plan.after(names[0], 3, actual)


def deep_record(layers=14, looks=300, name="transformer.blocks.{}.attention.projection"):
    """A network with many layers of long names, looked at often."""
    rng = np.random.default_rng(0)
    k = np.arange(layers)
    each = [type(LINEAR)(**{**vars(LINEAR), "name": name.format(i)}) for i in k]
    middle = np.sin(np.linspace(0, 3, looks)[:, None] + k)
    loss = np.geomspace(2.0, 0.01, 3000) * np.exp(rng.normal(0, 0.3, 3000))
    sometimes = np.where(np.arange(3000) % 200 == 0, 1.0, np.nan)
    return record_of(
        each, looks=looks, loss=loss, gradient_norm=np.exp(rng.normal(0, 1, (looks, layers)) - k),
        p15=middle - 1, p50=middle, p85=middle + 1, validation_loss=sometimes,
        hessian_largest=300 * sometimes, hessian_smallest=-2 * sometimes, rate=4e-3,
    )  # fmt: skip


def parsed(svg):
    return ET.fromstring(svg)


def coordinates(element):
    """All points that the straight paths of an element name, float[points, 2]."""
    points = []
    for path in element.iter(f"{SVG}path"):
        x = y = math.nan
        for letter, numbers in re.findall(r"([MLHVhvlz])([^MLHVhvlz]*)", path.get("d")):
            given = [float(n) for n in re.findall(r"-?[\d.]+", numbers)]
            match letter:
                case "M" | "L":
                    x, y = given
                case "H":
                    x = given[0]
                case "V":
                    y = given[0]
                case "h":
                    x += given[0]
                case "v":
                    y += given[0]
                case "l":
                    x, y = x + given[0], y + given[1]
            points.append((x, y))
    return np.array(points)


def overlaps(texts):
    """Pairs of texts whose boxes meet."""
    boxes = [(text.content, *text.box) for text in texts]
    return [
        (a[0], b[0])
        for k, a in enumerate(boxes)
        for b in boxes[:k]
        if a[1] < b[3] and b[1] < a[3] and a[2] < b[4] and b[2] < a[4]
    ]

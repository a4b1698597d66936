import re
from itertools import pairwise

import numpy as np
import pytest

from drawings import SVG, deep_record, parsed, plan_of, run_of
from thalweg.core.chosen import Chosen, Tried
from thalweg.core.coefficient import Coefficient
from thalweg.core.explanation import Baseline, Bin, Explanation, Importance, Shuffled
from thalweg.core.finding import Finding, Severity
from thalweg.core.plan import Measured
from thalweg.curvature.density import spectral_density
from thalweg.methods.registry import METHODS
from thalweg.reports import page as module
from thalweg.reports.page import LIMIT, SECTIONS, page
from thalweg.reports.subject import Subject

NASTY = "<script>alert('1')</script>&\"μ"


def largest():
    """As much as a page may plausibly have to show."""
    rng = np.random.default_rng(0)
    names = list(METHODS)[:8]
    plan = plan_of(tuple(METHODS), L=(4.0, "exact"), μ=(0.0, "exact"))
    runs = tuple(
        run_of(
            name, np.geomspace(1, 1e-5, 20_000) * np.exp(rng.normal(0, 0.5, 20_000)), plan=plan,
            options={f"option {k}": k for k in range(12)},
        )
        for name in names
    )  # fmt: skip
    findings = tuple(
        Finding(
            f"finding {k}", Severity(k % 4), "a claim of some length with numbers in it " * 4, 1.0,
            2.0, "a cause " * 30, "an advice " * 30, "a lecture " * 8,
            {f"number {j}": float(j) for j in range(40)},
        )
        for k in range(40)
    )  # fmt: skip
    spectrum = spectral_density(
        lambda v: np.linspace(-1, 9, 100) * v, 100, steps=90, probes=2, rng=rng
    )
    return Subject(
        runs, title="Everything", record=deep_record(60, 2048), findings=findings,
        spectrum=spectrum, data=tuple((f"label {k}", "text " * 20) for k in range(20)),
        scaling=tuple((f"feature {k}", float(k), float(k)) for k in range(2000)),
        scores={rows: {"accuracy": 0.9, "loss": 0.1} for rows in ("training", "validation")},
        command="thalweg train " * 20, script="import thalweg as tw\n" * 80,
        settings={f"setting {k}": "value " * 10 for k in range(60)}, notes=("A note. " * 10,) * 20,
        coefficients=tuple(
            Coefficient("a feature " * 5 + str(k), "class", "other", 1.5, 2.5) for k in range(1000)
        ),
        explanation=explained(),
        chosen=Chosen("log loss", 5, "best", 3, 3, tuple(
            Tried("0", f"{k}/n", (0.0, k / 10), 1.0 + (k - 3) ** 2, 0.5) for k in range(1, 200)
        )),
    )  # fmt: skip


def explained():
    """Of thirty classes and a regression at once, as no model is."""
    bins = tuple(Bin(10, k / 20, 0.0, k / 30, 1.0) for k in range(20))
    columns = tuple(Importance(f"a column {k}", 0.1, 0.01) for k in range(1000))
    return Explanation(
        "held out", 1000, Shuffled("R²", 0.5, 1000, 5, columns), tuple(map(str, range(30))),
        tuple(tuple(range(30)) for _ in range(30)), "a class", bins[:10], bins,
        (Baseline("constant", {"accuracy": 0.1}),), ("A note. " * 10,) * 3,
    )  # fmt: skip


@pytest.fixture(scope="module")
def whole():
    return page(largest())


def test_the_largest_is_below_one_megabyte(whole):
    assert 300_000 < len(whole.encode()) <= LIMIT
    assert (
        whole.count("<figure") == 2 + 3 + 3 * 3 + 1 + 1 + 1 + 4
    )  # …, measures, choice, plan, spectrum, record


def test_sections_come_in_their_order(whole):
    root = parsed(whole)
    assert [each.get("id") for each in root.iter("section")] == list(SECTIONS)
    links = [a.get("href") for a in root.find(".//nav").iter("a")]
    assert links == [f"#{name}" for name in SECTIONS]


def test_it_is_a_valid_document(whole):
    assert whole.startswith("<!DOCTYPE html>")
    root = parsed(whole)  # every tag is closed
    assert root.get("lang") == "en"
    assert root.find("head/title").text == "Certified: Everything"
    levels = [int(each.tag[1]) for each in root.iter() if re.fullmatch(r"h[1-6]", each.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))
    identities = [each.get("id") for each in root.iter() if each.get("id")]
    assert len(identities) == len(set(identities))
    for table in root.iter("table"):
        assert table[0].tag == "caption"
        assert all(head.get("scope") for head in table.iter("th"))
    for drawn in root.iter(f"{SVG}svg"):
        assert drawn.get("role") == "img"
        assert drawn.find(f"{SVG}title").text
        assert drawn.find(f"{SVG}desc").text
    for field in root.iter("fieldset"):
        assert field[0].tag == "legend"
    for each in root.iter("section"):
        assert root.find(f".//*[@id='{each.get('aria-labelledby')}']").tag == "h2"
    assert not list(root.iter("style"))[1:]  # one, in the head; those of drawings are SVG's


def test_nothing_is_fetched(whole):
    root = parsed(whole)
    for each in root.iter():
        assert each.tag not in ("link", "img", "iframe", "object", "embed", "base")
        for key in ("src", "href", "srcset", "action", "data"):
            assert each.get(key, "#").startswith(("#", "data:")), (each.tag, key)
    bare = whole.replace("http://www.w3.org/2000/svg", "")
    assert "http://" not in bare
    assert "https://" not in bare
    policy = root.find("head/meta[@http-equiv='Content-Security-Policy']").get("content")
    assert policy.startswith("default-src 'none'")
    assert "unsafe-inline" not in policy.partition("script-src")[2]
    assert len(list(root.iter("script"))) == 1


def test_words_of_others_stay_words():
    plan = plan_of(("gd",), **{NASTY: (1.0, "exact")})
    run = run_of("gd", objective=NASTY, reason=NASTY, options={NASTY: NASTY}, plan=plan,
                 environment={NASTY: NASTY})  # fmt: skip
    finding = Finding(NASTY, Severity.ACT, NASTY, 1.0, 1.0, NASTY, NASTY, NASTY, {NASTY: NASTY})
    text = page(
        Subject(
            (run,), title=NASTY, findings=(finding,), data=((NASTY, NASTY),),
            scaling=((NASTY, 1.0, 1.0),), scores={NASTY: {NASTY: 1.0}}, command=NASTY, script=NASTY,
            settings={NASTY: NASTY}, notes=(NASTY,),
        )
    )  # fmt: skip
    assert "<script>alert" not in text
    assert len(list(parsed(text).iter("script"))) == 1
    assert isinstance(plan.geometry[NASTY], Measured)


def test_a_bare_run_has_few_sections():
    root = parsed(page(Subject((run_of(gap=None),))))
    assert [each.get("id") for each in root.iter("section")] == [
        "convergence", "certificate", "reproduce",
    ]  # fmt: skip


def test_where_there_is_less_room_fewer_points_are_drawn(monkeypatch):
    subject = Subject((run_of(values=np.geomspace(1, 1e-5, 2_000)),))
    fine = page(subject)
    monkeypatch.setattr(module, "LIMIT", 100_000)
    coarse = page(subject)
    assert len(coarse.encode()) <= 100_000 < len(fine.encode())
    monkeypatch.setattr(module, "LIMIT", 1)
    assert len(page(subject)) <= len(coarse)  # as little as there is, and it ends

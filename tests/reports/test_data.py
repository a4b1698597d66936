from drawings import parsed, plan_of, run_of
from thalweg.core.finding import Finding, Severity
from thalweg.reports.data import conditioning_of, data_section
from thalweg.reports.drawing import Detail
from thalweg.reports.subject import Subject


def rows(page):
    return [row[0].text for row in parsed(page).iter("tr")][1:]


def test_of_many_features_both_ends_are_told():
    scaling = tuple((f"x{k}", 0.0, float(k)) for k in range(2000))
    page = data_section(Subject((run_of(),), scaling=scaling), Detail())
    assert rows(page) == ["x1999", "x1998", "x1997", "x1996", "x1995", "x4", "x3", "x2", "x1", "x0"]
    assert "5 smallest of 2,000" in page
    assert "1,999 times the smallest that is not zero" in page


def test_few_are_told_all():
    scaling = (("small", 1.0, 0.5), ("large", 2.0, 5.0))
    page = data_section(Subject((run_of(),), scaling=scaling), Detail())
    assert rows(page) == ["large", "small"]


def test_the_card():
    page = data_section(Subject((run_of(),), data=(("rows", "569"), ("missing", ""))), Detail())
    assert "569" in page
    assert "missing" not in page


def test_conditioning_before_and_after():
    evidence = {"kappa": 5e8, "kappa standardized": 1855.0}
    finding = Finding("unscaled", Severity.ACT, "a", 1.0, 1.0, evidence=evidence)
    plan = plan_of(("gd",), κ=(12.0, "exact"))
    subject = Subject((run_of(plan=plan),), findings=(finding,))
    assert conditioning_of(subject) == [
        ("κ as planned", "12"),
        ("κ as the data are", "5e+08"),
        ("κ with every feature at deviation 1", "1,855"),
    ]
    assert conditioning_of(Subject((run_of(),))) == []


def test_nothing_known_is_no_section():
    assert data_section(Subject((run_of(),)), Detail()) == ""

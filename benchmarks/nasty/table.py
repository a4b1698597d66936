"""What came of many cases, in a page.

The columns of the table, for cases that have a minimum: how many; how many of them are certified,
not certified, refused by a sentence, broken by an exception; in how many a certificate is wrong, is
so by more than tol·F(0, best b), is so by the last digits of a float; and in how many the judge's
own bracket of F* is within 10⁻⁹ of F(0, best b), so that nothing can have been missed.
"""

import re
from collections import Counter, defaultdict
from typing import Any

CLAIMS = ("run", "certify", "beside", "zero")
SHOWN = 40  # lines of a list
HEAD = ("cases", "certified", "not", "refused", "broke", "wrong", "grave", "rounding", "sharp")


def page(records: list[dict[str, Any]], tol: float) -> str:
    """The summary of all records."""
    parts = (by_kind(records, tol), standing(records, tol), wrong(records), broken(records))
    parts += (refused(records), uncertified(records, tol), warned(records), slow(records))
    return "\n\n".join(parts)


def verdicts(facts: dict, word: str) -> list[str]:
    """The claims of a record that were found so."""
    return [name for name in CLAIMS if facts.get("truth", {}).get(name, {}).get("verdict") == word]


def spoke(facts: dict) -> bool:
    """Whether a case ended in an exception that is a sentence about its input."""
    return "exception" in facts and facts["exception"]["sentence"]


def broke(facts: dict) -> bool:
    """Whether a case ended in an exception that should not be."""
    return "exception" in facts and not facts["exception"]["sentence"]


def by_kind(records, tol: float) -> str:
    """The table: a row for each loss and penalty, of the cases that have a minimum."""
    groups = defaultdict(list)
    for facts in records:
        if facts["expect"] == "minimum":
            groups[facts["loss"], facts["penalty"]].append(facts)
    rows = [f"{'loss':14}{'penalty':12}" + "".join(f"{word:>10}" for word in HEAD)]
    rows += [row(*kind, group, tol) for kind, group in sorted(groups.items())]
    return "\n".join([*rows, row("all", "", [f for group in groups.values() for f in group], tol)])


def grave(facts: dict, tol: float) -> bool:
    """Whether a certificate is wrong by more than the tolerance."""
    excesses = [facts["truth"][name]["excess"] for name in verdicts(facts, "wrong")]
    return any(not excess <= tol * facts["scale"] for excess in excesses)


def row(loss: str, penalty: str, group: list[dict], tol: float) -> str:
    """One line of the table."""
    judged = [f for f in group if "truth" in f]
    certified, broken, refusals = (
        sum(map(test, group)) for test in (lambda f: bool(f.get("holds")), broke, spoke)
    )
    lies, roundings = (sum(bool(verdicts(f, w)) for f in judged) for w in ("wrong", "rounding"))
    sharp = sum(f["bracket"] <= 1e-9 for f in judged)
    cells = (
        len(group),
        f"{100 * certified / max(len(group), 1):.1f}%",
        len(group) - certified - broken - refusals,
        refusals,
        broken,
        lies,
        sum(grave(f, tol) for f in judged),
        roundings,
        f"{100 * sharp / max(len(judged), 1):.0f}%",
    )
    return f"{loss:14}{penalty:12}" + "".join(f"{cell:>10}" for cell in cells)


def standing(records, tol: float) -> str:
    """Cases without a minimum, input that is no problem, and smaller matters."""
    none = [f for f in records if f["expect"] == "no minimum"]
    bad = [f for f in records if f["expect"] == "refusal"]
    said = sum(bool(f.get("says_no_minimum")) for f in none)
    held = [f["seed"] for f in none if f.get("holds")]
    loose = [f["seed"] for f in records if f.get("loose")]
    off = {
        f["seed"]: f"{f['standardizing']:.1g}" for f in records if f.get("standardizing", 0) > 1e-6
    }
    value = [f["seed"] for f in records if f.get("value_error", 0) > tol * f.get("scale", 0)]
    far = [
        f["seed"]
        for f in records
        if f["expect"] == "minimum" and f.get("holds") and f["gap"] is None and above(f, tol)
    ]
    return "\n".join(
        (
            f"no minimum: {len(none)} cases, {said} say so; {len(held)} with a certificate: {held}",
            f"bad input: {len(bad)} cases, {sum(map(spoke, bad))} refused by a sentence; "
            f"not: {[f['seed'] for f in bad if not spoke(f)]}",
            f"certificates that hold with a gap above tol·F(0, best b): {loose}",
            f"certificates that hold without a gap, more than tol·F(0, best b) above F*: {far}",
            f"standardized otherwise than by mean and deviation, and by how much: {off}",
            f"stated value off by more than tol·F(0, best b): {value}",
        )
    )


def above(facts: dict, tol: float) -> bool:
    """Whether a run is shown to have ended more than the tolerance above F*."""
    truth = facts.get("truth", {}).get("run", {"shown": 0.0})
    return truth["shown"] > tol * facts.get("scale", 0.0)


def listed(title: str, lines: list[str]) -> str:
    """A list with its title, cut to a page."""
    more = [f"  … and {len(lines) - SHOWN} more"] if len(lines) > SHOWN else []
    head = f"{title}: {len(lines) or 'none'}"
    return "\n".join([head, *(f"  {line}" for line in lines[:SHOWN]), *more])


def wrong(records) -> str:
    """Claims below the truth, the worst first."""
    lines = []
    for facts in records:
        for name in verdicts(facts, "wrong"):
            truth, gap = facts["truth"][name], facts["gaps"][name]
            # F(0, best b) may be rounding alone, for a constant target at 10⁹: F(0, 0) is not.
            short = [truth["excess"] / (facts[of] or float("nan")) for of in ("scale", "zero")]
            line = (
                f"{facts['seed']} at {name}: gap {gap:.3g}, but F(w) − F* ≥ {truth['shown']:.3g}; "
                f"short by {short[0]:.1g} of F(0, best b), {short[1]:.1g} of F(0, 0)"
                f" | {facts.get('method')} | {facts['description']}"
            )
            lines.append((-short[1], line))
    return listed("wrong certificates", [line for _, line in sorted(lines)])


def broken(records) -> str:
    """What broke."""
    lines = []
    for f in filter(broke, records):
        error = f["exception"]
        lines.append(
            f"{f['seed']} {error['stage']}: {error['type']} in {error['where']}: "
            f"{error['message'][:120]} | {f['description']}"
        )
    return listed("exceptions that are not sentences", lines)


def refused(records) -> str:
    """Problems that were not taken for one."""
    lines = [
        f"{f['seed']} {f['exception']['message'][:160]} | {f['description']}"
        for f in filter(spoke, records)
        if f["expect"] != "refusal"
    ]
    return listed("good input refused", lines)


def uncertified(records, tol: float) -> str:
    """Runs without a certificate by outcome, method and stated cause, and how many ended well."""
    groups = defaultdict(list)
    for f in records:
        if f["expect"] == "minimum" and "holds" in f and not f["holds"]:
            cause = re.search(r"[Cc]ause: [^,:(.=]*", f["reason"])
            groups[f["outcome"], f["method"], cause.group() if cause else ""].append(f)
    lines = [
        f"{len(group):4}, {sum(good(f, tol) for f in group)} of them good enough in truth: "
        f"{' '.join(filter(None, what))}  {[f['seed'] for f in group[:12]]}"
        for what, group in sorted(groups.items(), key=lambda item: -len(item[1]))
    ]
    return listed("not certified", lines)


def good(facts: dict, tol: float) -> bool:
    """Whether a run ended, by the judge's bracket, where a certificate could have held."""
    truth = facts.get("truth", {}).get("run", {"at_most": float("inf")})
    return truth["at_most"] <= tol * facts.get("scale", 0.0)


def warned(records) -> str:
    """Warnings that a user would see."""
    counts = Counter(w.split("\n")[0][:120] for f in records for w in f["warnings"])
    return listed("warnings", [f"{n:4}  {what}" for what, n in counts.most_common()])


def slow(records) -> str:
    """The slowest runs."""
    timed = sorted((f for f in records if "seconds" in f), key=lambda f: -f["seconds"])[:20]
    lines = [
        f"{f['seconds']:6.2f} s  {f['seed']} {f['outcome']} {f['method']} {f['description']}"
        for f in timed
    ]
    return listed("slowest", lines)

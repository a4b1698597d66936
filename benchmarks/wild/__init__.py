"""Linear problems as they come, each from a seed, and how fast the planner's choice is on them.

`cases.problem(seed)` draws a problem: its size (`sizes`), its features (`dense`, `sparse`, in the
units of `units`), its target (`targets`) and its penalty (`penalties`). `measure` times `auto` and
every other method on it, side by side; `table` sums up. `beside` and `beside_table` do so for other
libraries, which are `told` the same problem. Nothing here knows how the planner works: it is called
by public names.

Even seeds are to build on: look at them, and mend what they show. Odd seeds are to judge by: run
them, count, and do not tune to them.
"""

BUILDING = range(0, 1_000_000, 2)
JUDGING = range(1, 1_000_000, 2)


def seeds(text: str) -> range:
    """A range of seeds from "first:end" or "first:end:step", or one seed."""
    parts = [int(part) for part in text.split(":")]
    return range(parts[0], parts[0] + 1) if len(parts) == 1 else range(*parts)

"""Nasty linear problems, and a judge of what is claimed about them.

`cases.problem(seed)` draws a problem, `reference` evaluates its objective to more digits than
any claim has, `polish` finds points that are better than the one claimed, and `judge` compares.
Nothing here knows how Thalweg works: only `judge` calls it, by its public names.

Seeds 0 to 999,999 are for building: look at them, fix what they show, use them in tests.
Seeds from 1,000,000 on are for judging: run them, count, and do not tune to them.
"""

BUILDING = range(1_000_000)

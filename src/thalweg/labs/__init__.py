"""One file for each claim of the lectures: what is claimed, how it is tried, what came of it.

Each has a `LAB`; `tw.lab("gd-rate")` finds it by name. Experiments go through what Thalweg offers
everybody: a lab that needed more would show something else than what is used.
"""

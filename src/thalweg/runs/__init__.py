"""Runs: the folder `runs/<id>/` of a training, what was asked and what came of it, and its model.

    Job ─► runs/<id>/ ─► Saved ─► predict, estimator, module, report, list

Nothing here trains: `thalweg.jobs` does.
"""

"""Jobs: from a file and a few words to a trained model in a folder, and back from it.

    Job ─► table ─► rows ─► linear | network ─► runs/<id>/ ─► Saved ─► predict, certify, report

`thalweg train` is a job; so is `tw.train`.
"""

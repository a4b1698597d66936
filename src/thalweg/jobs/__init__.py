"""Jobs: from a file and a few words to a trained model in a folder.

    Job ─► table ─► rows ─► linear | network ─► runs/<id>/

`thalweg train` is a job; so is `tw.train`. What a folder holds, and how it is used, is `runs`.
"""

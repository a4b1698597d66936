"""Four published detectors, written anew from the descriptions of their rules: see `run.judge`."""

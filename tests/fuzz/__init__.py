"""Files drawn by seed, whole and damaged, read and held to a rule: `python -m tests.fuzz`."""

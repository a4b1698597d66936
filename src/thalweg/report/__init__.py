"""Reports: what a run, or several, came to, as one HTML file that needs nothing else."""

"""Linear models on data as people have it: cases, exact optima, fits side by side, a table."""

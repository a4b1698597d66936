"""Facts: what is measured of a linear problem, one question a file; `LinearFacts` has them all."""

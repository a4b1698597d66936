"""scikit-learn's faces: the same names, parameters and coefficients, each with a certificate."""

"""Ways out of Thalweg: a saved model as JSON, a Python or C function, scikit-learn or ONNX."""

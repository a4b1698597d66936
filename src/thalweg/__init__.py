"""Thalweg: a workbench for optimization in machine learning."""

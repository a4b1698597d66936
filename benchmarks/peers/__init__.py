"""Thalweg beside other solvers of linear models: data, problems, tools, timing, tables."""

"""A linear model as ONNX: z = XW + b in double, and its link."""

from __future__ import annotations

from thalweg.exports.onnx_graph import Graph, answer, features
from thalweg.exports.portable import Portable


def onnx_bytes(model: Portable) -> bytes:
    """The file."""
    graph = Graph()
    x = features(graph, model.columns, model.is_table)
    product = graph.node("MatMul", x, graph.constant(model.coefficients))
    z = graph.node("Add", product, graph.constant(model.intercepts))
    answer(graph, z, model.link, model.classes)
    return graph.to_bytes(f"A linear model of {model.target}, exported by Thalweg.")

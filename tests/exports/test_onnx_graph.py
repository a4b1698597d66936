"""A graph by hand: what is gathered computes what it says."""

import numpy as np
import pytest

from thalweg.exports.onnx_graph import Graph, answer, features
from thalweg.tables.column import Column

ort = pytest.importorskip("onnxruntime")


def test_columns_become_features():
    columns = (Column("a", fill=7.0), Column("t", "text", ("x", "y"), "y"), Column("b", "flag"))
    graph = Graph()
    graph.output("found", features(graph, columns, True), "DOUBLE", [4])
    session = ort.InferenceSession(graph.to_bytes("columns"))
    texts = np.array(["x", "", "unseen"], dtype=object).reshape(-1, 1)
    numbers = np.array([[1.0], [np.nan], [3.0]])
    (found,) = session.run(None, {"a": numbers, "t": texts, "b": numbers})
    expected = [[1, 1, 0, 1], [7, 0, 1, np.nan], [3, 0, 0, 3]]
    np.testing.assert_array_equal(found, expected)


def test_a_class_by_the_sign():
    graph = Graph()
    answer(graph, graph.input("z", "DOUBLE", 1), "sign", ("no", "yes"))
    session = ort.InferenceSession(graph.to_bytes("sign"))
    (label,) = session.run(None, {"z": np.array([[-1.0], [0.0], [2.0]])})
    assert label.tolist() == ["no", "no", "yes"]

"""A model as an ONNX graph: what reads the columns, and what scores them.

    number, flag   double[n, 1]; NaN is missing
    text           string[n, 1]; "" is missing
    a matrix       X, double[n, p]

Each column becomes its features, `Concat` puts them together, and the model follows: of a linear
model a product in double; of a network its layers in float, as it was trained. A value that is
missing and may not be makes every answer NaN.

    answers        prediction, double[n]; or label, string[n], and probabilities, double[n, K]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from thalweg.core.extra import optional
from thalweg.exports.portable import fill_of, refuse_dates
from thalweg.runs.prediction import EXP, IDENTITY, SIGN, SOFTMAX
from thalweg.tables.column import TEXT, Column

OPSET, ML_OPSET, IR = 20, 3, 9  # of 2023, which runtimes of today read
EXTRA = {"extra": "onnx", "instead": "export it --to json, python, c or sklearn"}


class Graph:
    """Nodes and constants, gathered one after the other; what a node gives has a name."""

    def __init__(self) -> None:
        self.onnx = optional("onnx", "ONNX", **EXTRA)
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []

    def node(self, kind: str, *inputs: str, ml: bool = False, **attributes: Any) -> str:
        """Add a node of one output, and give its name."""
        name = f"{kind.lower()}_{len(self._nodes)}"
        domain = "ai.onnx.ml" if ml else ""
        self._nodes.append(
            self.onnx.helper.make_node(kind, inputs, [name], domain=domain, **attributes)
        )
        return name

    def constant(self, values: Any, dtype: Any = np.float64) -> str:
        """Add an array."""
        name = f"constant_{len(self._constants)}"
        array = np.ascontiguousarray(values, dtype=dtype).reshape(np.shape(values))
        self._constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def input(self, name: str, kind: str, columns: int) -> str:
        """Add an input [n, columns]."""
        self._inputs.append(self._value(name, kind, ["n", columns]))
        return name

    def output(self, name: str, value: str, kind: str, shape: Sequence[int]) -> None:
        """Have `value` come out under a name."""
        self._nodes.append(self.onnx.helper.make_node("Identity", [value], [name]))
        self._outputs.append(self._value(name, kind, ["n", *shape]))

    def cast(self, value: str, kind: str) -> str:
        """The same in another type."""
        return self.node("Cast", value, to=getattr(self.onnx.TensorProto, kind))

    def to_bytes(self, description: str) -> bytes:
        """The file, once checked."""
        helper = self.onnx.helper
        graph = helper.make_graph(
            self._nodes, "thalweg", self._inputs, self._outputs, self._constants
        )
        model = helper.make_model(
            graph,
            opset_imports=[
                helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET),
            ],
            ir_version=IR, producer_name="thalweg", doc_string=description,
        )  # fmt: skip
        self.onnx.checker.check_model(model)
        return bytes(model.SerializeToString())

    def _value(self, name: str, kind: str, shape: Sequence[Any]) -> Any:
        kinds = self.onnx.TensorProto
        return self.onnx.helper.make_tensor_value_info(name, getattr(kinds, kind), shape)


def features(graph: Graph, columns: Sequence[Column], is_table: bool) -> str:
    """The features of a row, double[n, p]."""
    if not is_table:
        return _filled(graph, graph.input("X", "DOUBLE", len(columns)), columns)
    refuse_dates(columns, "ONNX")
    parts = []
    for column in columns:
        if column.kind == TEXT:
            parts.append(_one_hot(graph, graph.input(column.name, "STRING", 1), column))
        else:
            parts.append(_filled(graph, graph.input(column.name, "DOUBLE", 1), [column]))
    return graph.node("Concat", *parts, axis=1)


def answer(graph: Graph, z: str, link: str, classes: Sequence[str]) -> None:
    """What comes out of scores z, double[n, K], by the link of the model."""
    if link in (IDENTITY, EXP):
        z = graph.node("Exp", z) if link == EXP else z
        last = graph.constant([1], np.int64)
        graph.output("prediction", graph.node("Squeeze", z, last), "DOUBLE", [])
        return
    if link == SOFTMAX:
        place = graph.node("ArgMax", z, axis=1, keepdims=0)
        odds = graph.node("Softmax", z, axis=1)
    else:
        is_second = graph.cast(graph.node("Greater", z, graph.constant(0.0)), "INT64")
        place = graph.node("Squeeze", is_second, graph.constant([1], np.int64))
        both = graph.node("Concat", graph.node("Neg", z), z, axis=1)
        odds = graph.node("Sigmoid", both)
    names = graph.constant(np.array(classes, dtype=object), object)
    graph.output("label", graph.node("Gather", names, place), "STRING", [])
    if link != SIGN:
        graph.output("probabilities", odds, "DOUBLE", [len(classes)])


def _filled(graph: Graph, x: str, columns: Sequence[Column]) -> str:
    fills = [fill_of(column) for column in columns]
    if all(fill is None for fill in fills):
        return x
    known = graph.constant([np.nan if fill is None else float(fill) for fill in fills])
    return graph.node("Where", graph.node("IsNaN", x), known, x)


def _one_hot(graph: Graph, text: str, column: Column) -> str:
    """A column of 0 and 1 for each category; "" as the category that stands for it, or NaN."""
    fill = fill_of(column)
    codes = graph.node(
        "LabelEncoder", text, ml=True, keys_strings=[*column.categories, ""], default_int64=-1,
        values_int64s=[*range(len(column.categories)), -1 if fill is None else int(fill)],
    )  # fmt: skip
    places = graph.constant(np.arange(len(column.categories)), np.int64)
    flags = graph.cast(graph.node("Equal", codes, places), "DOUBLE")
    if fill is not None:
        return flags
    missing = graph.node(
        "LabelEncoder", text, ml=True, keys_strings=[""], values_floats=[np.nan], default_float=0.0
    )
    return graph.node("Add", flags, graph.cast(missing, "DOUBLE"))

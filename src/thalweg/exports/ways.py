"""`export`: a saved run as a file for those who do not have Thalweg.

json      what a page or any program can evaluate          a linear model
python    one file, `predict(row)`, without dependencies   a linear model
c         one file, `predict(numbers, texts, answer)`      a linear model
sklearn   a fitted pipeline, as joblib writes it           a linear model
onnx      a graph for onnxruntime and the like             a linear model, or a network
"""

from __future__ import annotations

from typing import Any

from thalweg.core.checks import check_choice
from thalweg.core.errors import InputError
from thalweg.exports.portable import portable

WAYS = ("json", "python", "c", "sklearn", "onnx")


def export(saved: Any, to: str) -> bytes:
    """A saved model as the content of a file for those who do not have Thalweg.

    Parameters
    ----------
    saved
        What `tw.load` gave: a run, or a race, of which the winner is taken.
    to
        "json", "python", "c", "sklearn" or "onnx"; of a network "onnx".

    Returns
    -------
    bytes
        To be written to a file.

    >>> import tempfile
    >>> import thalweg as tw
    >>> job = tw.Job("@diabetes", standardize=True)
    >>> saved = tw.train(job, tempfile.mkdtemp() + "/run", report=False, progress=False)
    >>> model = {}
    >>> exec(tw.export(saved, "python"), model)
    >>> row = tw.read("@diabetes").X[0]
    >>> model["predict"](row) == saved.predict("@diabetes").values[0]
    True
    """
    check_choice("to", to, WAYS)
    saved = saved.best
    saved.finished()
    if saved.job.is_network:
        if to != "onnx":
            raise InputError(
                f"to must be 'onnx' for {saved.folder}, which is a network, got {to!r}: "
                f"thalweg export {saved.folder} --to onnx --out model.onnx"
            )
        from thalweg.exports.onnx_network import onnx_bytes as network_bytes

        return network_bytes(saved)
    return _writer(to)(portable(saved))


def _writer(to: str) -> Any:
    """Imported when it is asked for: each needs other libraries."""
    if to == "json":
        from thalweg.exports.plain_json import json_bytes as write
    elif to == "python":
        from thalweg.exports.python_source import python_bytes as write
    elif to == "c":
        from thalweg.exports.c_source import c_bytes as write
    elif to == "sklearn":
        from thalweg.exports.plain_sklearn import sklearn_bytes as write
    else:
        from thalweg.exports.onnx_linear import onnx_bytes as write
    return write

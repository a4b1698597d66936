"""What is typed wrongly, or is wrong with a file: exit code 2, one paragraph on stderr, nothing on
stdout, no traceback, and not one file more, less or changed.
"""

import errno
import gzip
import json
import os
import pickle
import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from thalweg.cli.failure import SETTLES
from thalweg.cli.program import main
from thalweg.core import storage
from thalweg.jobs.train import train
from thalweg.runs.job import Job
from thalweg.runs.saved import load

ROWS = [f"{k % 7},{(3 * k) % 11},{'ABC'[k % 3]},{'yes' if k % 7 > 3 else 'no'}" for k in range(60)]
TABLE = "\n".join(["age,income,town,bought", *ROWS, ""])
NUMBERS = "\n".join(["a,b,y", *(f"{k},{k * k % 13},{2 * k + 1}.5" for k in range(40)), ""])


class Evil:
    def __reduce__(self):
        return os.mkdir, ("opened-a-pickle",)


def changed(run, name, **fields):
    """A copy of `run` whose JSON file `name` says something else."""
    copy = Path(f"{name.split('.')[0]}-{'-'.join(fields)}")
    shutil.copytree(run, copy)
    content = json.loads((copy / name).read_text())
    (copy / name).write_text(json.dumps({**content, **fields}))


def damaged(run, name, content, copy):
    """A copy of `run` in which the file `name` is `content`, or is not there."""
    shutil.copytree(run, copy)
    Path(copy, name).unlink()
    if content is not None:
        Path(copy, name).write_bytes(content)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with good and bad tables, runs, recipes and configurations."""
    place = tmp_path_factory.mktemp("bad")
    before = Path.cwd()
    os.chdir(place)
    text = {
        "good.csv": TABLE, "numbers.csv": NUMBERS,
        "empty.csv": "", "header.csv": "a,b\n", "one-row.csv": "a,b\n1,2\n",
        "one-class.csv": "a,b\n1,x\n2,x\n", "ragged.csv": "a,b\n1,2\n1,2,3\n",
        "twice.csv": "a,a\n1,2\n", "gaps.csv": "a,b\n1,\n2,3\n,4\n",
        "words.csv": "a,b\n" + "".join(f"id{k},{k % 2}\n" for k in range(60)),
        "dates.csv": "d,b\n2020-01-01,1\n2020-01-02,0\n",
        "prose.txt": "Just words.\n",
        "less.csv": "age,town\n1,A\n", "text-for-number.csv": "age,income,town\nold,1,A\n",
        "no-rows.csv": "age,income,town\n", "missing-later.csv": "age,income,town\n1,,A\n",
        "unknown-key.toml": "tolerance = 1\n", "wrong-type.toml": "tol = 'small'\n",
        "no-verb.toml": "[trian]\ntol = 1\n", "not.toml": "= =\n",
        "wrong-choice.toml": "loss = 'l3'\n",
        "no-field.toml": "layres = 'mlp:4'\n", "wrong-field.toml": "epochs = 'many'\n",
        "recipe.toml": "layers = 'mlp:4'\nepochs = 1\n",
        "net.py": "def build(shape, outputs): return 3\nnumber = 5\n",
        "broken.py": "def build(:\n", "raises.py": "raise RuntimeError('no luck')\n",
    }  # fmt: skip
    for name, content in text.items():
        Path(name).write_text(content)
    Path("garbage.csv").write_bytes(np.random.default_rng(0).bytes(5000))
    Path("latin.csv").write_bytes("a,é\n1,2\n".encode("latin1"))
    Path("utf16.csv").write_bytes(TABLE.encode("utf-16"))
    Path("cut.csv.gz").write_bytes(gzip.compress(os.urandom(9000))[:4000])
    Path("cut.npz").write_bytes(b"PK\x03\x04 and no more")
    Path("cut.parquet").write_bytes(b"PAR1 and no more")
    Path("model.pkl").write_bytes(pickle.dumps(Evil()))
    Path("pickle.csv").write_bytes(pickle.dumps(Evil()))
    np.savez("objects.npz", X=np.array([[Evil()]], dtype=object))
    np.savez("plain.npz", X=np.eye(4))
    Path("folder").mkdir()
    Path("round.csv").symlink_to("round.csv")
    run = train(Job("good.csv", "bought"), "run", report=False, progress=False).folder
    damaged(run, "job.json", b"{", "job-damaged")
    damaged(run, "job.json", None, "job-missing")
    damaged(run, "encoding.json", b"{}", "encoding-damaged")
    damaged(run, "encoding.json", None, "encoding-missing")
    damaged(run, "model.npz", b"PK", "model-damaged")
    damaged(run, "model.npz", pickle.dumps(Evil()), "model-pickle")
    damaged(run, "model.npz", None, "model-missing")
    damaged(run, "result.json", None, "unfinished")
    damaged(run, "result.json", b"[]", "result-damaged")
    changed(run, "job.json", format=99)
    changed(run, "job.json", job=3)
    changed(run, "encoding.json", version=99)
    changed(run, "result.json", format=99)
    changed(run, "result.json", scores=None)
    shutil.copytree(run, "data-gone")
    header = json.loads(Path("data-gone/job.json").read_text())
    header["job"]["source"] = "gone.csv"
    Path("data-gone/job.json").write_text(json.dumps(header))
    Path("data-gone/result.json").unlink()
    shutil.copytree("data-gone", "data-changed")
    header["job"]["source"] = "numbers.csv"
    header["job"]["target"] = "y"
    Path("data-changed/job.json").write_text(json.dumps(header))
    damaged("unfinished", "job.json", Path("run/job.json").read_bytes(), "plan-damaged")
    Path("plan-damaged/plan.json").write_bytes(b"{}")
    shutil.copytree("unfinished", "checkpoint-damaged")
    Path("checkpoint-damaged/checkpoint.npz").write_bytes(b"PK")
    yield place
    os.chdir(before)


GOOD = "train good.csv --target bought"
CASES = {
    # the command itself
    "no such verb": ("trian good.csv", "No such verb 'trian': did you mean 'train'"),
    "no such option": ("train good.csv --traget x", "did you mean --target"),
    "nothing to train": ("train", "Missing argument 'DATA'"),
    "an option without its value": ("train good.csv --target", "requires an argument"),
    "an argument too many": (f"{GOOD} more.csv", "unexpected extra argument"),
    # files
    "no such file": ("train god.csv", "does not exist: did you mean 'good.csv'"),
    "no such folder": ("train no/such.csv", "no folder no either"),
    "empty": ("train empty.csv", "is empty"),
    "header alone": ("train header.csv --target b", "a header and no rows"),
    "one row": ("train one-row.csv --target b", "two values at least"),
    "one class": ("train one-class.csv --target b", "two values at least"),
    "binary": ("train garbage.csv --target b", "is binary"),
    "latin1": ("train latin.csv --target a", "iconv -f LATIN1"),
    "utf16": ("train utf16.csv --target a", "iconv -f UTF-16"),
    "cut gzip": ("train cut.csv.gz --target a", "cut off or damaged"),
    "cut npz": ("train cut.npz", "cannot be read as NPZ"),
    "cut parquet": ("train cut.parquet --target a", "cannot be read as Parquet"),
    "a folder": ("train folder", "a folder without IDX files"),
    "a pickle": ("train model.pkl", "is a pickle"),
    "a pickle as csv": ("train pickle.csv --target b", "is a pickle"),
    "pickled objects": ("train objects.npz", "pickled objects"),
    "a link in a circle": ("train round.csv", "is a link to round.csv"),
    "ragged": ("train ragged.csv --target a", "2 fields in every line"),
    "names twice": ("train twice.csv --target a", "name every column once"),
    "prose": ("train prose.txt", "in no known format"),
    "no such built-in": ("train @canser", "did you mean '@cancer'"),
    # columns
    "no target": ("train good.csv", "--target"),
    "no target in npz": ("train plain.npz", "--target"),
    "no such target": ("train good.csv --target bougth", "did you mean 'bought'"),
    "no such column to drop": (f"{GOOD} --drop twon", "did you mean 'town'"),
    "the target dropped": (f"{GOOD} --drop bought", "must not hold the target"),
    "all dropped": (f"{GOOD} --drop age --drop income --drop town", "none left"),
    "missing values": ("train gaps.csv --target b", "--impute"),
    "no such imputation": ("train gaps.csv --target b --impute mode", "'mode' is not one of"),
    "too many categories": ("train words.csv --target b", "--max-categories"),
    "few categories": (f"{GOOD} --max-categories 2", "at most 2 categories, got 3"),
    "dates": ("train dates.csv --target b", "holds dates"),
    "text as regression": (f"{GOOD} --task regression", "must hold numbers for a regression"),
    "no such task": (f"{GOOD} --task ranking", "'ranking' is not one of"),
    # problems
    "no such loss": (f"{GOOD} --loss l3", "'l3' is not one of"),
    "a loss for classes": ("train numbers.csv --target y --loss logistic", "classes that repeat"),
    "negative l2": (f"{GOOD} --l2 -1", "l2.*at least 0"),
    "l2 no number": (f"{GOOD} --l2 much", "l2.*a number"),
    "l2 over m": (f"{GOOD} --l2 1/m", "one over n"),
    "l1 no number": (f"{GOOD} --l1 nan", "l1.*a number"),
    "sparse and dense": (f"{GOOD} --sparse --dense", "contradict each other"),
    # methods and limits
    "no such method": (f"{GOOD} -m lbfsg", "did you mean 'lbfgs'"),
    "a second one": (f"{GOOD} -m sag -m lbfsg", "did you mean 'lbfgs'"),
    "the same twice": (f"{GOOD} -m sag -m sag", "twice"),
    "no such option of it": (f"{GOOD} -m sag[speed=3]", "speed"),
    "an option of another kind": (f"{GOOD} -m adam[lr=fast]", "lr"),
    "an option out of range": (f"{GOOD} -m adam[lr=-1]", "lr must be"),
    "a bracket open": (f"{GOOD} -m adam[lr=1", "adam"),
    "a method without the penalty": (f"{GOOD} --l1 0.1 -m gd", "gd needs a smooth objective"),
    "a method without l2": (f"{GOOD} --l2 0 -m sdca", "l2"),
    "tol 0": (f"{GOOD} --tol 0", "tol must be"),
    "tol negative": (f"{GOOD} --tol -1", "tol must be"),
    "tol nan": (f"{GOOD} --tol nan", "tol must be"),
    "tol no number": (f"{GOOD} --tol small", "'small' is not a valid float"),
    "time limit no time": (f"{GOOD} --time-limit x", "time-limit"),
    "time limit 0": (f"{GOOD} --time-limit 0s", "time.limit"),
    "max-iter negative": (f"{GOOD} --max-iter -1", "max-iter"),
    "seed negative": (f"{GOOD} --seed -1", "seed"),
    "one fold": (f"{GOOD} --folds 1", "folds"),
    "more folds than rows": (f"{GOOD} --folds 61", "folds must be at most"),
    "all held out": (f"{GOOD} --validation 2", "between 0 and 1"),
    "none held out": (f"{GOOD} --validation 0", "between 0 and 1"),
    "held-out file gone": (f"{GOOD} --validation gone.csv", "gone.csv does not exist"),
    "held-out file of others": (f"{GOOD} --validation numbers.csv", "'age'.* missing"),
    # networks
    "a layer of nothing": (f"{GOOD} --model mlp:0", "mlp:0"),
    "no such network": (f"{GOOD} --model mpl:4", "mpl"),
    "code that is not there": (f"{GOOD} --model gone.py:build", "gone.py"),
    "code without it": (f"{GOOD} --model net.py:missing", "missing"),
    "code that is no function": (f"{GOOD} --model net.py:number", "number"),
    "code that builds a number": (f"{GOOD} --model net.py:build", "build"),
    "code that is not Python": (f"{GOOD} --model broken.py:build", "broken.py"),
    "code that raises": (f"{GOOD} --model raises.py:build", "no luck"),
    "recipe gone": (f"{GOOD} --recipe gone.toml", "recipe must be a file in TOML"),
    "recipe not TOML": (f"{GOOD} --recipe not.toml", "recipe must be a file in TOML"),
    "recipe of other fields": (f"{GOOD} --recipe no-field.toml", "layres"),
    "recipe of other kinds": (f"{GOOD} --recipe wrong-field.toml", "epochs"),
    "a recipe for a line": (f"{GOOD} --recipe recipe.toml --model linear", "left out"),
    "layers twice": (f"{GOOD} --recipe recipe.toml --model mlp:8", "left out"),
    "tol of a network": (f"{GOOD} --model mlp:4 --tol 1e-3", "trained for --epochs"),
    "loss of a network": (f"{GOOD} --model mlp:4 --loss logistic", "loss"),
    "epochs of a line": (f"{GOOD} --epochs 3", "--max-iter"),
    "no epochs": (f"{GOOD} --model mlp:4 --epochs 0", "epochs"),
    "no such optimizer": (f"{GOOD} --model mlp:4 -m lbfsg", "lbfsg"),
    "images that are none": (f"{GOOD} --model conv:4/4", "conv"),
    # configurations
    "no such file of options": (f"{GOOD} --config gone.toml", "config must be a file in TOML"),
    "options not TOML": (f"{GOOD} --config not.toml", "config must be a file in TOML"),
    "an option that none has": (f"{GOOD} --config unknown-key.toml", "did you mean 'tol'|Known"),
    "an option of a wrong kind": (f"{GOOD} --config wrong-type.toml", "tol must be number"),
    "an option of a wrong name": (f"{GOOD} --config wrong-choice.toml", "l3"),
    "options for no verb": (f"{GOOD} --config no-verb.toml", "did you mean 'train'"),
    # where it goes
    "out is a run": (f"{GOOD} --out run", "holds a run.*--resume run"),
    "out is not empty": (f"{GOOD} --out ..", "must be a new folder"),
    "out is a file": (f"{GOOD} --out good.csv", "is a file"),
    "out below a file": (f"{GOOD} --out good.csv/run", "good.csv"),
    "out in a race is a run": (f"{GOOD} --out run -m sag -m saga", "holds a run"),
    # resuming
    "resume nothing": ("train --resume gone", "gone does not exist"),
    "resume a file": ("train --resume good.csv", "good.csv is a file"),
    "resume a folder": ("train --resume folder", "not a saved run"),
    "resume what is finished": ("train --resume run", "is finished"),
    "resume with data": ("train good.csv --resume unfinished", "left out with --resume"),
    "resume elsewhere": ("train --resume unfinished --out other", "left out with --resume"),
    "resume with a method": ("train --resume unfinished -m sag", "left out with --resume"),
    "resume, job damaged": ("train --resume job-damaged", "not valid JSON"),
    "resume, job missing": ("train --resume job-missing", "job.json"),
    "resume, another version": ("train --resume job-format", "format 99.*the version that wrote"),
    "resume, a job of another kind": ("train --resume job-job", "job.json is damaged"),
    "resume, data gone": ("train --resume data-gone", "gone.csv does not exist"),
    "resume, data changed": ("train --resume data-changed", "numbers.csv has changed since"),
    "resume, plan damaged": ("train --resume plan-damaged", "plan.json"),
    "resume, checkpoint damaged": ("train --resume checkpoint-damaged", "is not a checkpoint"),
    # predicting
    "predict nothing": ("predict run", "Missing argument 'DATA'"),
    "predict by nothing": ("predict gone good.csv", "gone does not exist"),
    "predict by what is unfinished": ("predict unfinished good.csv", "has not been finished"),
    "predict no file": ("predict run god.csv", "did you mean 'good.csv'"),
    "predict, a column missing": ("predict run less.csv", "'income' missing"),
    "predict, text for numbers": ("predict run text-for-number.csv", "'age' must hold numbers"),
    "predict, values missing": ("predict run missing-later.csv", "no missing values, as at first"),
    "predict no rows": ("predict run no-rows.csv", "a header and no rows"),
    "predict an array": ("predict run plain.npz", "named columns"),
    "predict, model damaged": ("predict model-damaged good.csv", "model.npz"),
    "predict, model a pickle": ("predict model-pickle good.csv", "model.npz"),
    "predict, model missing": ("predict model-missing good.csv", "model.npz"),
    "predict, encoding damaged": ("predict encoding-damaged good.csv", "encoding.json is damaged"),
    "predict, encoding missing": ("predict encoding-missing good.csv", "encoding.json"),
    "predict, encoding of another": ("predict encoding-version good.csv", "version"),
    "predict, result damaged": ("predict result-damaged good.csv", "result.json"),
    "predict, result of another": ("predict result-format good.csv", "format 99"),
    "predict into nowhere": ("predict run good.csv --out good.csv/x.csv", "cannot be written"),
    "predict into a folder": ("predict run good.csv --out folder", "folder"),
    # the other verbs
    "certify nothing": ("certify gone", "gone does not exist"),
    "certify what is unfinished": ("certify unfinished", "has not been finished"),
    "report on nothing": ("report gone", "gone does not exist"),
    "report on what is unfinished": ("report unfinished", "has not been finished"),
    "report, a result without scores": ("report result-scores", "scores is None"),
    "report into nowhere": ("report run --out good.csv/x.html", "cannot be written"),
    "plan without data": ("plan", "Missing argument 'DATA'"),
    "plan, no such method": ("plan good.csv --target bought -m lbfsg", "did you mean 'lbfgs'"),
    "plan, tol 0": ("plan good.csv --target bought --tol 0", "tol must be"),
    "diagnose nothing": ("diagnose gone.csv --target y", "does not exist"),
    "methods, none such": ("methods lbfsg", "did you mean 'lbfgs'"),
}  # fmt: skip


def snapshot(place):
    """Every file with its bytes, every folder and link; not what Python compiles of a script."""
    return {
        str(path): path.read_bytes() if path.is_file() else path.is_symlink()
        for path in sorted(place.rglob("*"))
        if "__pycache__" not in path.parts
    }


def said(typed):
    """Exit code, stdout and stderr."""
    result = CliRunner().invoke(main, shlex.split(typed))
    return result.exit_code, result.stdout, result.stderr


def error_of(text):
    """The one paragraph, with the command that settles it; notes on the data may stand before."""
    text, *command = text.split(f"{SETTLES}\n")
    assert all(re.fullmatch(r"thalweg .*\n", each) for each in command), command
    lines = text.splitlines()
    (place,) = (k for k, line in enumerate(lines) if line.startswith("Error: "))
    assert all(line.startswith("  ") for line in lines[place + 1 :]), text
    return " ".join(lines[place:])


@pytest.mark.parametrize("case", CASES)
def test_bad_usage_is_one_paragraph_and_changes_nothing(place, case, monkeypatch):
    monkeypatch.chdir(place)
    typed, sentence = CASES[case]
    before = snapshot(place)
    code, out, err = said(typed)
    assert (code, out) == (2, ""), err
    assert "Traceback" not in err
    told = error_of(err)
    assert re.search(sentence, told), told
    assert snapshot(place) == before


SMALL = "train numbers.csv --target y -m cholesky --no-report --out {}"


def filled(monkeypatch, after):
    """A disk that has room for so many files and then no more."""
    room, write = iter(range(after)), storage._flush

    def flush(path, content):
        if next(room, None) is None:
            path.write_bytes(content[:10])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(path, content)

    monkeypatch.setattr(storage, "_flush", flush)


def test_a_disk_that_fills_up_at_any_moment_leaves_nothing_or_what_can_be_resumed(
    place, monkeypatch
):
    monkeypatch.chdir(place)
    assert said(SMALL.format("whole"))[0] == 0
    whole = load("whole")
    before = snapshot(place)
    for after in range(100):
        with monkeypatch.context() as patch:
            filled(patch, after)
            code, out, err = said(SMALL.format("full"))
        if code == 0:
            break
        assert (code, out) == (2, "")
        assert "No space left on device" in error_of(err)
        if Path("full").exists():
            assert said("train --resume full --no-report")[0] == 0
            np.testing.assert_array_equal(load("full").run.w, whole.run.w)
            shutil.rmtree("full")
        assert snapshot(place) == before
    assert after > 6
    shutil.rmtree("full")
    shutil.rmtree("whole")


def test_what_a_killed_writer_left_does_not_matter(place, monkeypatch):
    monkeypatch.chdir(place)
    for left in (".new.new-0123", ".new.old"):
        Path(left).mkdir()
        Path(left, "job.json").write_text("{")
    assert said(SMALL.format("new"))[0] == 0
    assert said("predict new numbers.csv")[0] == 0
    for left in Path().glob("*new*"):
        shutil.rmtree(left)
    for left in Path().glob(".new*"):
        shutil.rmtree(left)

"""Where scikit-learn's own tests are: installed with it, or in its source distribution.

Wheels of some versions come without tests. They are then taken from the source distribution, by
pip, and laid over a copy of the installed package, which is left as it is. Nothing is built.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import sklearn

from peers.exchange import NAMED

# pip asks a source distribution for its name before it keeps it, and by that would configure the
# whole build: compilers, BLAS and all. This answers instead of the backend that it would ask.
BACKEND = "mesonpy"
ANSWER = """
from pathlib import Path

def prepare_metadata_for_build_wheel(folder, settings=None):
    info = Path(folder) / "scikit_learn-{version}.dist-info"
    info.mkdir()
    fields = ["Metadata-Version: 2.1", "Name: scikit-learn", "Version: {version}", ""]
    (info / "METADATA").write_text("\\n".join(fields))
    return info.name
"""


def folder_with_tests(space: Path, *, is_from_source: bool = False) -> Path:
    """The folder that holds a package `sklearn` with tests: the installed one if it has them."""
    installed = Path(sklearn.__file__).parent
    if (installed / "linear_model" / "tests").is_dir() and not is_from_source:
        return installed.parent
    print("Taking scikit-learn's tests from its source distribution, by pip", flush=True)
    return overlaid(installed, downloaded(space), space / "overlaid")


def downloaded(space: Path) -> Path:
    """The source distribution of the installed version, a .tar.gz."""
    answers = space / "answers"
    answers.mkdir()
    (answers / f"{BACKEND}.py").write_text(ANSWER.format(version=sklearn.__version__))
    subprocess.run(
        [
            sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
            "--no-binary", "scikit-learn", "--no-build-isolation",
            "--dest", str(space), f"scikit-learn=={sklearn.__version__}",
        ],
        env={**os.environ, "PYTHONPATH": str(answers)},
        check=True,
    )  # fmt: skip
    return next(space.glob("scikit_learn-*.tar.gz"))


def overlaid(installed: Path, source: Path, folder: Path) -> Path:
    """A copy in `folder` of the package, and of its libraries, with the tests of `source`."""
    shutil.copytree(installed, folder / "sklearn")
    for libraries in installed.parent.glob("scikit_learn*.libs"):
        shutil.copytree(libraries, folder / libraries.name)
    with tarfile.open(source) as archive:
        for member in archive.getmembers():
            path = Path(*Path(member.name).parts[1:])  # without the name of the distribution
            is_test = "tests" in path.parts or path.name == "conftest.py"
            if path.parts[:1] == ("sklearn",) and is_test and member.isfile():
                member.name = str(path)
                archive.extract(member, folder, filter="data")
    return folder


def modules_that_name_one(folder: Path) -> list[str]:
    """The test modules under `folder` whose text names one of the classes, as dotted names."""
    return [
        ".".join(path.relative_to(folder).with_suffix("").parts)
        for path in sorted((folder / "sklearn").rglob("test_*.py"))
        if path.parent.name == "tests" and NAMED.search(path.read_text(encoding="utf-8"))
    ]

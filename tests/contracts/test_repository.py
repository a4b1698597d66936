"""What the repository promises about itself."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import thalweg as tw

ROOT = Path(__file__).parents[2]
SOURCE, TESTS = ROOT / "src" / "thalweg", ROOT / "tests"


def modules():
    """All but the labs: a table, `test_labs`, holds them to what they claim, broken and whole."""
    return sorted(
        path.relative_to(SOURCE)
        for path in SOURCE.rglob("*.py")
        if path.name != "__init__.py" and path.parent.name != "labs"
    )


def test_every_source_file_has_its_test_file():
    missing = [
        str(path) for path in modules() if not (TESTS / path.parent / f"test_{path.name}").exists()
    ]
    assert missing == []


def test_every_test_file_has_its_source_file():
    stray = [
        str(path.relative_to(TESTS))
        for path in TESTS.rglob("test_*.py")
        if path.parent != TESTS / "contracts"
        and not (SOURCE / path.relative_to(TESTS).parent / path.name.removeprefix("test_")).exists()
    ]
    assert stray == []


def test_every_public_name_resolves_and_is_documented():
    for name in tw.__all__:
        thing = getattr(tw, name)
        assert name == "METHODS" or (thing.__doc__ or "").strip(), name
    assert set(tw.__all__) <= set(dir(tw))
    assert tw.__version__.count(".") == 2


def test_lazy_names_and_the_type_checkers_names_are_the_same():
    tree = ast.parse((SOURCE / "__init__.pyi").read_text())
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    homes = {alias.asname: node.module for node in imports for alias in node.names}
    assert homes == tw._HOMES
    assert all(alias.asname == alias.name for node in imports for alias in node.names)
    assert tw.__all__ == sorted(homes)


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(AttributeError, match="did you mean 'minimize'"):
        tw.minimise  # noqa: B018


def fresh_process(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def test_importing_thalweg_imports_nothing_heavy():
    loaded = fresh_process("import json, sys, thalweg; print(json.dumps(sorted(sys.modules)))")
    heavy = {"numpy", "numba", "scipy", "sklearn", "torch", "matplotlib", "dask", "rich", "click"}
    assert heavy.isdisjoint(loaded)


def test_minimizing_imports_no_torch_and_no_scikit_learn():
    loaded = fresh_process(
        "import json, sys, thalweg as tw;"
        "tw.minimize(tw.surfaces.Rosenbrock(), 'adam', max_iter=3);"
        "print(json.dumps(sorted(sys.modules)))"
    )
    assert {"sklearn", "torch", "matplotlib", "dask"}.isdisjoint(loaded)


def test_importing_thalweg_takes_a_moment():
    # The best of five: what the machine does besides is not ours.
    seconds = min(
        fresh_process(
            "import time; t = time.perf_counter(); import thalweg; print(time.perf_counter() - t)"
        )
        for _ in range(5)
    )
    assert seconds < 0.3


@pytest.mark.parametrize("name", sorted(tw.METHODS))
def test_every_method_has_its_page(name):
    page = ROOT / "docs" / "methods" / f"{name}.md"
    assert page.exists()
    text = page.read_text()
    for option in tw.METHODS[name]().options:
        assert f"`{option}`" in text, option


def test_no_module_hides_a_public_function():
    """A package's attribute becomes its submodule once that is imported by anyone."""
    pytest.importorskip("torch")
    hidden = fresh_process(
        "import importlib, json, pkgutil, types, thalweg\n"
        "for each in pkgutil.walk_packages(thalweg.__path__, 'thalweg.'):\n"
        "    if '__main__' not in each.name: importlib.import_module(each.name)\n"
        "print(json.dumps([f'{part.__name__}.{name}'\n"
        "    for part in (thalweg, thalweg.doctor, thalweg.nets, thalweg.scaling)\n"
        "    for name in part.__all__\n"
        "    if isinstance(getattr(part, name), types.ModuleType)]))"
    )
    assert hidden == [
        f"thalweg.{name}" for name in ("doctor", "nets", "scaling", "surfaces", "theory")
    ]

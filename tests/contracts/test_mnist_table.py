"""The table in docs/mnist-table.md is what the trainings kept beside it say."""

from pathlib import Path

import pytest

from thalweg.labbook.ruling import judge
from thalweg.labbook.setting import Setting
from thalweg.labs import mnist_table

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def pieces():
    return mnist_table.finished(Setting("full", folder=DOCS / "mnist-table"))


def test_every_row_has_its_seeds(pieces):
    assert {slug: len(row) for slug, row in pieces.items()} == dict.fromkeys(
        (recipe.slug for recipe in mnist_table.RECIPES), mnist_table.SEEDS
    )


def test_the_page_has_the_measured_rows(pieces):
    page = (DOCS / "mnist-table.md").read_text("utf-8")
    for row in mnist_table.table_of(pieces).rows:
        assert f"| {' | '.join(map(str, row))} |" in page
    for row in mnist_table.recipes_table().rows:
        assert f"| {' | '.join(map(str, row))} |" in page


def test_the_verdict_follows_from_them(pieces):
    assert judge(mnist_table.judged(pieces)) is mnist_table.LAB.expected

"""What the lab book looks like in a browser: pages of labs, and the index of all."""

import pytest

import browsing
from browsing import looked_at, opened
from laboratory import result
from thalweg.labbook.book import bind
from thalweg.labbook.catalogue import NAMES, lab

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = pytest.mark.skipif(browsing.FOUND is None, reason="no Chromium is here")

RUN = ("gd-rate", "sgd-lemma", "ridge")


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """A book of all labs, of which a few have been run."""
    folder = tmp_path_factory.mktemp("labs")
    for name in NAMES:
        known = {"name": name, "title": lab(name).title, "claim": lab(name).claim}
        made = lab(name).run("glance") if name in RUN else result(**known)
        made.save(folder)
    return bind(folder)


@pytest.fixture(scope="module")
def browser():
    with browsing.browser() as found:
        yield found


@pytest.mark.parametrize("name", ["index", *RUN])
def test_nothing_is_fetched_clipped_overlapping_or_faint(browser, book, name):
    wrong, texts = looked_at(browser, book.with_name(f"{name}.html"))
    assert wrong == []
    assert texts > 20


def test_from_the_index_to_a_lab_and_on(browser, book):
    tab = opened(browser, book)
    assert tab.locator("#glance a").count() == len(NAMES)
    tab.locator("#glance a", has_text="gd-rate").click()
    assert "gd-rate" in tab.locator(".eyebrow").inner_text().lower()
    tab.locator("nav a", has_text="→").click()
    assert tab.url.endswith("/gd-least-squares.html")
    tab.locator("nav a", has_text="All labs").click()
    assert tab.url.endswith("/index.html")
    assert tab.errors == []
    tab.close()

import base64
import hashlib

from thalweg.reports.script import SCRIPT, script_hash


def test_the_hash_is_that_of_the_script():
    digest = base64.b64decode(script_hash().removeprefix("'sha256-").removesuffix("'"))
    assert digest == hashlib.sha256(SCRIPT.encode()).digest()


def test_it_is_small_and_asks_for_nothing():
    assert len(SCRIPT) < 3000
    for word in ("http", "fetch(", "eval(", "innerHTML", "import("):
        assert word not in SCRIPT, word
    assert not {"<", "&"} & set(SCRIPT)  # as it stands in the page as it is

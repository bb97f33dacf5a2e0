"""The page of all claims: what it finds in the notebooks, and how much it asks of a reader."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tests.book import NOTEBOOKS, ROOT
from tests.book.small_book import shown

from claims_index import NoSuchClaimError, claims, the_one  # isort: skip


def test_claims_are_found_in_their_order_and_those_of_a_starred_cell_are_starred(tmp_path):
    plain = new_code_cell("", outputs=[shown(1, "Water is wet")], metadata={"tags": ["proof"]})
    starred = new_code_cell("", outputs=[shown(2, "Ice swims")], metadata={"tags": ["proof", "starred"]})
    path = tmp_path / "small.ipynb"
    nbformat.write(new_notebook(cells=[plain, starred]), path)
    assert claims(path) == [("claim-1", "1", "Water is wet", False), ("claim-2", "2", "Ice swims", True)]


def test_a_sample_is_one_claim_of_its_page_or_refused():
    found = claims(ROOT / "book/02_word_vectors.ipynb")
    assert the_one(found, "king - man + woman").starred  # the sample of the landing page
    for words, times in (("plums", 0), ("GloVe", sum("GloVe" in claim.text for claim in found))):
        with pytest.raises(
            NoSuchClaimError, match=f"'{words}' must stand in one claim of that page, but does in {times}"
        ):
            the_one(found, words)


def test_the_page_of_claims_grows_with_the_chapters_only_and_the_starred_ones_fit_on_one_screen():
    on_pages = [found for path in NOTEBOOKS if (found := claims(path))]
    found = [claim for page in on_pages for claim in page]
    starred = [claim for claim in found if claim.starred]
    assert len(found) + len(starred) <= 22 * len(on_pages)
    assert 10 <= len(starred) <= 20

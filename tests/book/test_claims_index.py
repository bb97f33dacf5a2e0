"""The page of all claims: what it finds in the notebooks, and how much it asks of a reader."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from paying_attention.links.claims_index import NoSuchClaimError, claims, is_solution, notebooks, the_one
from tests.book import ROOT
from tests.book.small_book import shown


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


def test_the_page_of_claims_has_200_lines_at_most_and_the_starred_ones_fit_on_one_screen():
    listed = [name for name in notebooks(ROOT) if not is_solution(name)]
    found = [claim for name in listed for claim in claims(ROOT / f"{name}.ipynb")]
    starred = [claim for claim in found if claim.starred]
    assert len(found) + len(starred) <= 200
    assert 10 <= len(starred) <= 20


def test_answers_are_not_given_away_by_the_list():
    hidden = [name for name in notebooks(ROOT) if is_solution(name)]
    assert len(hidden) == len(list((ROOT / "book/solutions").glob("*.ipynb")))

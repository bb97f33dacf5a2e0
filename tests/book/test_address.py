"""While the project has no address, pages offer the notebook and no link that leads to an error."""

import re
from types import SimpleNamespace

import pytest

from paying_attention.page.practice import launch_links
from paying_attention.site.address import PLACEHOLDER, leave_out_placeholder
from tests.book import CONFIG


def options(address):
    """The theme's options of a book with this address, once the address was looked at."""
    given = {"repository_url": address, "launch_buttons": {"colab_url": "x"}, "use_issues_button": True}
    config = SimpleNamespace(html_theme_options=given | {"logo": {}})
    leave_out_placeholder(None, config)
    return config.html_theme_options


def test_what_leads_to_the_placeholder_is_left_out_and_all_else_kept():
    kept = options(f"{PLACEHOLDER}paying-attention")
    assert not {"repository_url", "launch_buttons"} & set(kept)
    assert kept["logo"] == {}
    assert kept["use_issues_button"] is False


def test_a_real_address_keeps_its_buttons():
    kept = options("https://github.com/authors/paying-attention")
    assert kept["launch_buttons"] == {"colab_url": "x"}
    assert kept["use_issues_button"] is True


@pytest.mark.parametrize(("source", "offered"), [("a.ipynb", True), ("a.md", False)])
def test_without_launch_buttons_the_notebook_is_offered_as_a_file(source, offered):
    app = SimpleNamespace(env=SimpleNamespace(found_docs=set()))
    context = {"sourcename": source, "pathto": lambda path, resource: f"../{path}"}
    links = launch_links(app, "book/a", context)
    assert ('<a href="../_sources/a.ipynb" download>Download the notebook</a>' in links) == offered


def test_no_page_of_the_site_leads_to_the_placeholder(site):
    if not CONFIG["repository"]["url"].startswith(PLACEHOLDER):
        pytest.skip("the project has an address")
    found = {
        page.name
        for page in site.rglob("*.html")
        if re.search(f'href="{PLACEHOLDER}', page.read_text("utf8"))
    }
    assert not found
    page = site / "book/exercises/03_queries_keys_values.html"
    file = re.search(r'<a href="([^"]+)" download>Download the notebook</a>', page.read_text("utf8"))[1]
    assert (page.parent / file).resolve().exists()

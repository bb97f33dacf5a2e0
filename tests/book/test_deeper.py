"""What stands beside the title of a fold: how many claims are inside."""

import pytest
from docutils import nodes

from paying_attention.page.deeper import claims_inside


@pytest.mark.parametrize(
    ("numbers", "said"), [((), []), ((7,), ["✓ 1 claim"]), ((10, 11, 12), ["✓ 3 claims"])]
)
def test_a_fold_counts_the_claims_inside(numbers, said):
    lines = [f'<div class="pa-line pa-good" id="claim-{n}">✓</div>' for n in numbers]
    other = nodes.raw("", '<p>See <a href="#claim-3" id="claim-link">another</a>.</p>')
    section = nodes.section("", other, *(nodes.raw("", line) for line in lines))
    assert [line.astext() for line in claims_inside(section)] == said

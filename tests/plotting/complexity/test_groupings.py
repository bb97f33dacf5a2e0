import pytest

from attnlib import plotting
from attnlib.plotting.kit.style import OUTPUT, WEIGHT


def test_the_table_grows_with_the_square_of_the_tokens_and_the_sum_not_at_all():
    def cells(n):
        drawn = plotting.two_groupings(n, F=3, D=2)._repr_svg_()
        return [drawn.count(f'fill="{colour}" fill-opacity') for colour in (WEIGHT, OUTPUT)]

    assert [cells(n) for n in (5, 10)] == [[25, 6], [100, 6]]
    with pytest.raises(ValueError, match="px wide"):
        plotting.two_groupings(40, 4, 4)

import pytest

from attnlib.widgets import AverageLine


@pytest.mark.parametrize(
    ("weight", "told", "averages", "cuts"),
    [
        (0.7, 0, [3, 4.2, 5.8, 7], [5]),
        (0.7, 1, [3, 4.2, 5.8, 7], [3.6, 5, 6.4]),
        (0.3, 1, [3, 5.8, 4.2, 7], [5]),
        (0.5, 1, [3, 5, 5, 7], [4, 6]),
        (1.0, 1, [3, 3, 7, 7], []),
        (1.0, 0, [3, 3, 7, 7], [5]),
    ],
)
def test_an_average_is_cut_between_neighbours_of_different_ages(weight, told, averages, cuts):
    found = AverageLine(weight=weight, told=told).numbers()
    assert found["averages"] == pytest.approx(averages)
    assert found["cuts"] == pytest.approx(cuts)


def test_a_line_of_averages_says_whose_age_it_gives():
    assert repr(AverageLine(told=1)) == "AverageLine(weight=0.7, told='Ben')"

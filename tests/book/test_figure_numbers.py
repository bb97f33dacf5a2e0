from types import SimpleNamespace

from paying_attention.page.figure_numbers import number_by_chapter


def test_figures_of_a_chapter_count_from_one_behind_its_number_and_tables_are_left():
    numbers = {
        "book/07_complexity": {"figure": {"a": (12,), "folded": (13,), "b": (14,)}, "table": {"t": (3,)}},
        "book/solutions/07_complexity": {"figure": {"c": (15,)}},
        "book/beliefs": {"figure": {"d": (16,)}},
        "book/notation": {},
    }
    assert number_by_chapter(None, SimpleNamespace(toc_fignumbers=numbers)) == []
    assert numbers == {
        "book/07_complexity": {"figure": {"a": (7, 1), "folded": (7, 2), "b": (7, 3)}, "table": {"t": (3,)}},
        "book/solutions/07_complexity": {"figure": {"c": (7, 1)}},
        "book/beliefs": {"figure": {"d": (1,)}},
        "book/notation": {},
    }

"""Pairs of words in the same relation, to ask analogies about: Paris is to France as Rome is to what?"""

from __future__ import annotations

from itertools import permutations

_PAIRS = {
    "nationality": """france french, italy italian, germany german, spain spanish, england english,
        japan japanese, china chinese, russia russian, greece greek, egypt egyptian, austria austrian,
        poland polish, hungary hungarian, sweden swedish, norway norwegian, finland finnish,
        portugal portuguese, ireland irish, canada canadian, cuba cuban, iraq iraqi, iran iranian,
        afghanistan afghan, thailand thai, vietnam vietnamese, denmark danish, belgium belgian,
        netherlands dutch, australia australian, india indian""",
    "capital": """france paris, italy rome, germany berlin, spain madrid, england london, japan tokyo,
        china beijing, russia moscow, greece athens, egypt cairo, austria vienna, poland warsaw,
        hungary budapest, sweden stockholm, norway oslo, finland helsinki, portugal lisbon,
        ireland dublin, canada ottawa, cuba havana, iraq baghdad, iran tehran, afghanistan kabul,
        thailand bangkok, vietnam hanoi, denmark copenhagen, belgium brussels, australia canberra,
        india delhi""",
    "gender": """king queen, man woman, boy girl, brother sister, father mother, son daughter,
        husband wife, prince princess, uncle aunt, nephew niece, actor actress, he she, his her,
        grandfather grandmother, waiter waitress, hero heroine, boys girls, men women,
        sons daughters, brothers sisters, fathers mothers, himself herself, gentleman lady,
        groom bride""",
    "comparative": """big bigger, small smaller, large larger, fast faster, slow slower, high higher,
        low lower, long longer, short shorter, strong stronger, weak weaker, young younger, old older,
        good better, bad worse, great greater, cheap cheaper, easy easier, hard harder, cold colder,
        hot hotter, tall taller, deep deeper, wide wider, close closer, light lighter""",
    "plural": """cat cats, dog dogs, car cars, child children, man men, woman women, bird birds,
        book books, house houses, tree trees, city cities, country countries, hand hands, eye eyes,
        computer computers, horse horses, bottle bottles, building buildings, road roads,
        machine machines, animal animals, student students, teacher teachers, foot feet, mouse mice,
        word words, month months, week weeks""",
    "past": """walk walked, go went, see saw, take took, come came, say said, give gave, find found,
        tell told, think thought, make made, know knew, play played, begin began, write wrote,
        speak spoke, sing sang, run ran, fly flew, buy bought, sell sold, lose lost, win won,
        keep kept, feel felt, grow grew, fall fell, send sent, build built, teach taught""",
    "opposite": """hot cold, big small, good bad, rich poor, young old, strong weak, fast slow,
        high low, early late, long short, happy sad, light dark, hard soft, wide narrow, full empty,
        open closed, inside outside, true false, before after, up down, left right, north south,
        east west, win lose, buy sell, begin end, love hate, day night, war peace, black white""",
}

# written down before any of them was looked up anywhere: nothing was left out afterwards


def word_pairs() -> dict[str, list[tuple[str, str]]]:
    """Return pairs of English words by their relation, from ``nationality`` to ``opposite``.

    Returns:
        For each of seven relations, some thirty pairs such as ``("france", "paris")``. Every word has a
        vector in `attnlib.experiments.glove.WordVectors.glove`.

    Chapter 2 asks questions about them.
    """
    return {relation: [tuple(pair.split()) for pair in text.split(",")] for relation, text in _PAIRS.items()}


def analogy_questions() -> dict[str, list[tuple[str, str, str, str]]]:
    """Return analogies by their relation: every pair of `word_pairs` asked about every other.

    Returns:
        For each relation, questions ``(a, b, c, answer)`` in the order of ``a - b + c``: as b is to c, so
        is a to the answer. The answer to ``("king", "man", "woman")`` is ``"queen"``, and to ``("italy",
        "france", "paris")`` it is ``"rome"``.
    """
    return {
        relation: [(a, b, c, answer) for (b, c), (a, answer) in permutations(pairs, 2)]
        for relation, pairs in word_pairs().items()
    }

from attnlib import plotting
from attnlib.plotting.kit.style import GRID
from tests.plotting.drawn import filled, parts, texts


def _area(box):
    return float(box.get("width")) * float(box.get("height"))


def test_every_processor_has_fast_memory_and_all_share_one_bus_to_the_slow():
    drawing = plotting.two_memories("9 GB", "3 kB")
    said = texts(drawing)
    assert said.count("processor") == said.count("fast memory") == said.count("3 kB") == 5
    assert said.count("slow memory") == said.count("memory bus") == said.count("9 GB") == 1
    (slow,) = filled(drawing, GRID)
    boxes = [box for box in parts(drawing, "rect")[1:] if box.get("fill") == "none"]
    assert all(_area(slow) > 2 * _area(box) for box in boxes[1:])

import json

import numpy as np

from attnlib.experiments.putting_it_together.two_layers import stored, stored_arrays
from tools import train_two_layers as tool


def test_what_is_written_has_the_form_of_what_is_stored(tmp_path):
    tool.write(tmp_path, steps=2)
    made, kept = json.loads((tmp_path / "two-layers.json").read_text("utf8")), stored()
    assert made.keys() == kept.keys()
    assert made["what"] == kept["what"]
    assert list(made["snapshots"]) == ["0", "2"]
    assert made["training"] == kept["training"] | {"steps": 2}
    with (tmp_path / "two-layers.npz").open("rb") as file:
        arrays = dict(np.load(file))
    assert {k: (a.shape, a.dtype) for k, a in arrays.items()} == {
        k: (a.shape, a.dtype) for k, a in stored_arrays().items()
    }

from dataclasses import replace

import pytest

from attnlib import plotting
from attnlib.instruments.roofline import stored_roofline
from tests.plotting.axes import texts


def test_the_roof_bends_at_the_ridge_and_every_kernel_is_named():
    roof = stored_roofline()
    ax = plotting.roofline(roof, {"formula": "formula", "fused": "tiles", "decoding": "writing"})
    x, y = ax.lines[0].get_data()
    assert x[1] == roof.ridge
    assert y[1] == y[2] == roof.peak_flops
    assert y[0] == pytest.approx(x[0] * roof.peak_bytes)
    longest = roof.named("formula")[8192]
    assert ax.lines[2].get_xydata().tolist() == [[longest.intensity, longest.speed]]
    assert {"formula", "tiles", "writing", "limit of the memory"} <= set(texts(ax))
    assert plotting.roofline(roof, {"fused": "tiles"}, ax=ax) is ax


def test_kernels_under_a_roof_share_a_length():
    roof = stored_roofline()
    apart = replace(roof, kernels=(roof.named("formula")[256], roof.named("fused")[512]))
    with pytest.raises(ValueError, match="must share a length, got 'formula', 'fused'"):
        plotting.roofline(apart, {"formula": "formula", "fused": "tiles"})

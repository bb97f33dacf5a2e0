import matplotlib as mpl
import numpy as np
import pytest
import torch

from attnlib import causal_mask, plotting
from attnlib.plotting.kit.style import WEIGHT_FILL
from tests.plotting.axes import texts


def test_heatmap_has_queries_as_rows_and_keys_as_columns():
    ax = plotting.heatmap(torch.tensor([[0.25, 0.75, 0.0], [1.0, 0.0, 0.0]]), ["q1", "q2"], ["a", "b", "c"])
    assert [t.get_text() for t in ax.get_yticklabels()] == ["q1", "q2"]
    assert [t.get_text() for t in ax.get_xticklabels()] == ["a", "b", "c"]
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("query", "key")
    assert texts(ax) == ["0.25", "0.75", "0.00", "1.00", "0.00", "0.00"]
    assert ax.collections[0].get_clim() == (0, 1)
    assert ax.get_ylim() == (1.5, -0.5)


def test_heatmap_without_digits_and_with_long_labels_turned():
    ax = plotting.heatmap(np.eye(3), list("xyz"), ["a long label indeed"] * 3, digits=0)
    assert texts(ax) == []
    assert ax.get_xticklabels()[0].get_rotation() == 40


def test_labels_must_fit():
    with pytest.raises(ValueError, match=r"must be \(queries, keys\) = \(2, 2\), got \(3, 3\)"):
        plotting.heatmap(torch.eye(3), list("ab"), list("ab"))


def test_a_row_of_grids_has_its_names_above_and_its_labels_once():
    grids = {"seed 0": torch.eye(2), "seed 1": np.ones((2, 2)), "seed 2": np.ones((2, 2))}
    axes = plotting.grid_row(grids, ["1", "2"], ["a", "b"], colours={"seed 1": plotting.OUTPUT})
    assert [ax.get_subplotspec().colspan.start for ax in axes] == [0, 1, 0]  # two across at most
    axes = axes[:2]
    assert [texts(ax) for ax in axes] == [["1.0", "0.0", "0.0", "1.0"], ["1.0"] * 4]
    assert [ax.get_title() for ax in axes] == ["seed 0", "seed 1"]
    full = [mpl.colors.to_hex(ax.collections[0].get_cmap()(1.0)) for ax in axes]
    assert full == [WEIGHT_FILL, plotting.OUTPUT]
    assert [t.get_text() for t in axes[0].get_xticklabels()] == ["a", "b"]
    with pytest.raises(ValueError, match=r"must be \(queries, keys\) = \(2, 1\), got \(2, 2\)"):
        plotting.grid_row({"seed 0": torch.eye(2)}, ["1", "2"], ["a"])


def test_mask_row_draws_masks_beside_each_other_and_crosses_what_is_not_allowed():
    masks = {"causal": causal_mask(3), "full": torch.ones(3, 3), "one ahead": causal_mask(3, offset=1)}
    axes = plotting.mask_row(masks, allowed=causal_mask(3), columns=3, keys=list("abc"))
    assert [ax.get_subplotspec().colspan.start for ax in axes] == [0, 1, 0]  # two across at most
    assert [ax.texts[0].get_text() for ax in axes] == list(masks)
    assert [len(ax.patches) for ax in axes] == [0, 3, 2]
    assert [t.get_text() for t in axes[0].get_xticklabels()] == ["a", "b", "c"]
    assert [t.get_text() for t in axes[0].get_yticklabels()] == ["0", "1", "2"]
    assert axes[0].get_ylabel() == "query"
    assert sum(ax.get_visible() for ax in axes[0].figure.axes) == 3


def test_names_of_masks_stand_above_them_where_one_row_would_be_taken_for_the_title_of_the_next():
    masks = {"causal": causal_mask(3), "full": torch.ones(3, 3), "one ahead": causal_mask(3, offset=1)}
    axes = plotting.mask_row(masks, labels=("output", "input"), above=True)
    assert [ax.get_title(loc="left") for ax in axes] == list(masks)
    assert [len(ax.texts) for ax in axes] == [0, 0, 0]
    assert {(ax.get_ylabel(), ax.get_xlabel()) for ax in axes} == {("output", "input")}


def test_mask_row_checks_sizes():
    with pytest.raises(ValueError, match=r"wide must be \(queries, keys\) = \(3, 3\), got \(3, 5\)"):
        plotting.mask_row({"causal": causal_mask(3), "wide": causal_mask(3, 5)})
    with pytest.raises(ValueError, match=r"allowed must be \(3, 3\) like the masks, got \(2, 2\)"):
        plotting.mask_row({"causal": causal_mask(3)}, allowed=causal_mask(2))

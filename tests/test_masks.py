import pytest
import torch

from attnlib import (
    MultiHeadAttention,
    attention,
    causal_mask,
    document_mask,
    padding_mask,
    prefix_mask,
    sliding_window_mask,
)
from attnlib.masks import to_torch_mha
from tests import DEVICE


def drawn(picture):
    """Read a mask from a drawing: 1 may attend, . may not."""
    rows = [line.split() for line in picture.strip().splitlines()]
    return torch.tensor([[cell == "1" for cell in row] for row in rows])


SQUARE = """
1 . . . .
1 1 . . .
1 1 1 . .
1 1 1 1 .
1 1 1 1 1
"""
WIDE = """
1 1 1 . .
1 1 1 1 .
1 1 1 1 1
"""
TALL = """
. . .
. . .
1 . .
1 1 .
1 1 1
"""
WIDE_FROM_THE_LEFT = """
1 . . . .
1 1 . . .
1 1 1 . .
"""
WINDOW = """
1 . . . .
1 1 . . .
1 1 1 . .
. 1 1 1 .
. . 1 1 1
"""
WINDOW_WIDE = """
. 1 1 . .
. . 1 1 .
. . . 1 1
"""
PREFIX = """
1 1 1 . .
1 1 1 . .
1 1 1 . .
1 1 1 1 .
1 1 1 1 1
"""
BOTH_SIDES = """
1 1 . . .
1 1 1 . .
. 1 1 1 .
. . 1 1 1
. . . 1 1
"""
AHEAD = """
. 1 1 1 .
. . 1 1 1
. . . 1 1
"""
DOCUMENTS = """
1 1 . . .
1 1 . . .
. . 1 1 1
. . 1 1 1
. . 1 1 1
"""


@pytest.mark.parametrize(
    ("mask", "picture"),
    [
        (causal_mask(5), SQUARE),
        (causal_mask(3, 5), WIDE),
        (causal_mask(5, 3), TALL),
        (causal_mask(3, 5, offset=0), WIDE_FROM_THE_LEFT),
        (sliding_window_mask(5, window=3), WINDOW),
        (sliding_window_mask(3, 5, window=2), WINDOW_WIDE),
        (sliding_window_mask(3, 5, window=5, offset=0), WIDE_FROM_THE_LEFT),
        (sliding_window_mask(5, window=2, ahead=1), BOTH_SIDES),
        (sliding_window_mask(3, 5, window=1, ahead=2, offset=1), AHEAD),
        (prefix_mask(5, prefix=3), PREFIX),
        (prefix_mask(5, prefix=0), SQUARE),
        (prefix_mask(3, 5, prefix=1, offset=0), WIDE_FROM_THE_LEFT),
        (document_mask(torch.tensor([0, 0, 1, 1, 1])), DOCUMENTS),
    ],
)
def test_masks_look_as_drawn(mask, picture):
    assert mask.dtype == torch.bool
    assert torch.equal(mask, drawn(picture))


def test_true_means_may_attend():
    values = torch.eye(5)
    out = attention(torch.zeros(5, 2), torch.zeros(5, 2), values, causal_mask(5))
    assert torch.equal(out != 0, drawn(SQUARE))


@pytest.mark.parametrize("window", [1, 2, 3, 5, 7])
def test_window_counts_keys_itself_included(window):
    counts = sliding_window_mask(11, window=window).sum(-1)
    assert counts.tolist() == [min(i + 1, window) for i in range(11)]


def test_padding_mask_hides_what_lies_behind_the_length():
    mask = padding_mask([2, 3, 0], 3)
    assert mask.shape == (3, 1, 1, 3)
    assert mask[:, 0, 0].tolist() == [[True, True, False], [True] * 3, [False] * 3]
    assert torch.equal(padding_mask(torch.tensor([2, 3, 0]), 3), mask)
    assert padding_mask(torch.zeros(0, dtype=torch.int64), 3).shape == (0, 1, 1, 3)


def test_document_mask_of_a_batch_has_a_head_axis():
    documents = torch.tensor([[0, 0, 1, 1, 1], [7, 7, 7, 7, 7]])
    mask = document_mask(documents)
    assert mask.shape == (2, 1, 5, 5)
    assert torch.equal(mask[0, 0], drawn(DOCUMENTS))
    assert mask[1].all()


def test_masks_combine_and_broadcast():
    mask = padding_mask([3, 5], 5) & causal_mask(5) & sliding_window_mask(5, window=2)
    assert mask.shape == (2, 1, 5, 5)
    assert mask[0, 0, 4].tolist() == [False] * 5
    assert mask[1, 0, 4].tolist() == [False, False, False, True, True]


@pytest.mark.parametrize(
    ("make", "shape"),
    [
        (lambda: causal_mask(3, 5), (3, 5)),
        (lambda: padding_mask([2, 3], 5), (2, 5)),
        (lambda: causal_mask(3, 5).expand(2, 7, 3, 5), (14, 3, 5)),
    ],
)
def test_to_torch_mha_turns_the_meaning_and_fits_the_module(make, shape):
    mask = make()
    turned = to_torch_mha(mask)
    assert turned.shape == shape
    assert torch.equal(turned.flatten(), ~mask.flatten())


def test_to_torch_mha_gives_the_module_the_same_result():
    torch.manual_seed(0)
    mha = torch.nn.MultiheadAttention(6, 2, batch_first=True)
    x = torch.randn(3, 5, 6)
    flag, _ = mha(x, x, x, attn_mask=torch.nn.Transformer.generate_square_subsequent_mask(5), is_causal=True)
    ours, _ = mha(x, x, x, attn_mask=to_torch_mha(causal_mask(5)))
    torch.testing.assert_close(ours, flag)
    short, _ = mha(x[:1, :3], x[:1, :3], x[:1, :3])
    padded, _ = mha(x, x, x, key_padding_mask=to_torch_mha(padding_mask([3, 5, 5], 5)))
    torch.testing.assert_close(padded[:1, :3], short)


def test_empty_masks_and_a_prefix_of_everything():
    assert causal_mask(2, 0).shape == (2, 0)
    assert causal_mask(0, 2).shape == (0, 2)
    assert padding_mask([0, 0], 0).shape == (2, 1, 1, 0)
    assert prefix_mask(3, prefix=3).all()


def test_masks_are_made_where_they_are_asked_for():
    assert padding_mask(torch.tensor([2], device=DEVICE), 3).device.type == DEVICE.type
    assert causal_mask(3, device="meta").device.type == "meta"
    assert sliding_window_mask(3, window=2, device="meta").device.type == "meta"
    assert prefix_mask(3, prefix=2, device="meta").device.type == "meta"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: causal_mask(-1), ValueError, "T must be at least 0, got -1"),
        (lambda: causal_mask(2.0), TypeError, "T must be an int, got float (2.0)"),
        (lambda: causal_mask(2, True), TypeError, "S must be an int, got bool (True)"),
        (lambda: causal_mask(2, offset=0.5), TypeError, "offset must be an int, got float (0.5)"),
        (
            lambda: sliding_window_mask(2, window=1, ahead=-1),
            ValueError,
            "ahead must be at least 0, got -1",
        ),
        (
            lambda: sliding_window_mask(2, window=0),
            ValueError,
            "window must be at least 1, got 0",
        ),
        (lambda: prefix_mask(2, prefix=-1), ValueError, "prefix must be at least 0, got -1"),
        (
            lambda: prefix_mask(2, prefix=3),
            ValueError,
            "prefix must be at most the number of keys S = 2, got 3",
        ),
        (lambda: padding_mask([0], -1), ValueError, "S must be at least 0, got -1"),
        (
            lambda: to_torch_mha([[True]]),
            TypeError,
            "mask must be a torch.Tensor, got list; wrap it in torch.as_tensor",
        ),
        (
            lambda: padding_mask([1.5], 3),
            TypeError,
            "lengths must be whole numbers, got torch.float32",
        ),
        (
            lambda: padding_mask(torch.tensor([[1]]), 3),
            ValueError,
            "lengths must have one axis (B,), got shape (1, 1)",
        ),
        (
            lambda: padding_mask([1, 4], 3),
            ValueError,
            "lengths must lie between 0 and S = 3, got [1, 4]",
        ),
        (
            lambda: padding_mask([-1], 3),
            ValueError,
            "lengths must lie between 0 and S = 3, got [-1]",
        ),
        (
            lambda: document_mask([0, 1]),
            TypeError,
            "documents must be a torch.Tensor, got list; wrap it in torch.as_tensor",
        ),
        (
            lambda: document_mask(torch.zeros(3)),
            TypeError,
            "documents must be whole numbers, got torch.float32",
        ),
        (
            lambda: document_mask(torch.zeros(2, 3, 5, dtype=torch.int64)),
            ValueError,
            "documents must be (T,) or (B, T), got shape (2, 3, 5)",
        ),
        (
            lambda: to_torch_mha(torch.zeros(2, 2)),
            TypeError,
            "mask must be boolean, True = may attend, got torch.float32",
        ),
        (
            lambda: to_torch_mha(torch.zeros(2, 3, 5).bool()),
            ValueError,
            "mask must have two axes (T, S) or four (B, H, T, S), got (2, 3, 5)",
        ),
    ],
)
def test_bad_input_gets_this_message(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.parametrize("kind", ["causal and padding", "documents", "every head its own"])
def test_combined_masks_work_in_pytorchs_own_module(kind):
    B, H, T = 2, 3, 5
    mask = {
        "causal and padding": causal_mask(T) & padding_mask([5, 3], T),
        "documents": document_mask(torch.tensor([[0, 0, 1, 1, 1], [0, 1, 1, 2, 2]])) & causal_mask(T),
        "every head its own": torch.rand(B, H, T, T, generator=torch.Generator().manual_seed(0)) > 0.3,
    }[kind] | torch.eye(T).bool()  # its module answers a query that sees nothing with NaN
    module = torch.nn.MultiheadAttention(12, H, batch_first=True)
    x = torch.randn(B, T, 12, generator=torch.Generator().manual_seed(1))
    theirs = module(x, x, x, attn_mask=to_torch_mha(mask, H), need_weights=False)[0]
    torch.testing.assert_close(theirs, MultiHeadAttention.from_torch(module)(x, mask=mask))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: to_torch_mha(torch.ones(2, 1, 5, 7).bool()),
            ValueError,
            "a mask for every head, got (2, 1, 5, 7), must be told num_heads, got None",
        ),
        (
            lambda: to_torch_mha(torch.ones(2, 3, 5, 7).bool(), 6),
            ValueError,
            "mask must have 1 or num_heads = 6 heads, got (2, 3, 5, 7)",
        ),
        (
            lambda: to_torch_mha(torch.ones(2, 1, 5, 7).bool(), 3.0),
            TypeError,
            "num_heads must be an int, got float (3.0)",
        ),
    ],
)
def test_the_number_of_heads_must_be_told_and_fit(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value) == message


def test_no_sequence_has_no_lengths():
    assert padding_mask([], 5).shape == (0, 1, 1, 5)
    assert padding_mask(torch.tensor([], dtype=torch.int64), 5).shape == (0, 1, 1, 5)

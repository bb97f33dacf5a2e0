import pytest
import torch
import torch.nn.functional as F

from attnlib import attention, attention_weights, tiled_attention
from attnlib.instruments.counters import count_flops, count_kept_bytes, count_peak_bytes
from tests import DEVICE


def test_a_product_of_matrices_by_hand():
    a, b = torch.zeros(2, 3, device=DEVICE), torch.zeros(3, 5, device=DEVICE)
    assert count_flops(lambda: a @ b) == 2 * 2 * 3 * 5
    assert count_flops(lambda: a + 1) == 0


def test_kept_bytes_count_each_piece_once_and_not_what_is_there_anyway():
    x = torch.ones(5, device=DEVICE, requires_grad=True)
    assert count_kept_bytes(lambda: x.exp()) == 20
    assert count_kept_bytes(lambda: x.sin()) == 20
    assert count_kept_bytes(lambda: x.sin(), beside=[x]) == 0
    y = (x * 1).detach().requires_grad_()
    assert count_kept_bytes(lambda: (y.exp() * y.exp(), y), beside=[y]) == 40
    assert count_kept_bytes(lambda: y.exp().exp(), beside=[y]) == 40
    assert count_kept_bytes(lambda: y.sum()) == 0


def test_kept_bytes_of_work_that_needs_no_gradient():
    assert count_kept_bytes(lambda: torch.ones(3).exp()) == 0


def test_peak_counts_what_is_held_at_once():
    x = torch.ones(1024, device=DEVICE)
    one = x.nbytes
    assert count_peak_bytes(lambda: x + 1) == one
    assert count_peak_bytes(lambda: (x + 1) + 1) == 2 * one
    assert count_peak_bytes(lambda: [(x + i).sum().item() for i in range(9)]) <= 1.5 * one
    assert count_peak_bytes(lambda: [x + i for i in range(9)]) == 9 * one
    assert count_peak_bytes(lambda: x.view(2, -1)) == 0
    assert count_peak_bytes(lambda: x.clone().add_(1)) == one


def test_peak_sees_backward_too():
    x = torch.ones(1024, device=DEVICE, requires_grad=True)
    forward = count_peak_bytes(lambda: x.exp().exp().sum())
    assert count_peak_bytes(lambda: torch.autograd.grad(x.exp().exp().sum(), x)) > forward


@pytest.mark.slow
def test_tiles_hold_little_and_no_more_with_twice_the_keys():
    q = torch.randn(1, 2, 64, 8).to(DEVICE)

    def peak(S):
        k = torch.randn(1, 2, S, 8).to(DEVICE)
        return count_peak_bytes(lambda: tiled_attention(q, k, k, block_size=16))

    assert peak(2048) <= 1.05 * peak(1024)
    k = torch.randn(1, 2, 2048, 8).to(DEVICE)
    assert peak(2048) < 0.2 * count_peak_bytes(lambda: attention(q, k, k, softcap=9.0))


def test_the_backward_pass_of_the_cpus_fused_kernel_counts_five_products():
    q, k, v = (torch.randn(2, 3, n, 7, requires_grad=True) for n in (5, 11, 11))  # on the CPU
    whole = count_flops(lambda: F.scaled_dot_product_attention(q, k, v).sum().backward())
    assert whole == (2 + 5) * 2 * 2 * 3 * 5 * 11 * 7
    tiled = count_flops(lambda: tiled_attention(q, k, v).sum().backward())
    assert tiled == whole  # it computes the scores again too
    formula = count_flops(lambda: (attention_weights(q, k) @ v).sum().backward())
    assert formula == (2 + 4) * 2 * 2 * 3 * 5 * 11 * 7

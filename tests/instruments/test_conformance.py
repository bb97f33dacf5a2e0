import pytest
import torch

from attnlib.instruments import conformance
from attnlib.instruments.conformance import ALLOWED, CASES, QUICK, Case, find_faults
from tests import DEVICE


def test_this_device_computes_attention_rightly():
    assert [str(fault) for fault in find_faults(DEVICE)] == []


def test_there_are_thirty_and_each_has_a_name_of_its_own():
    assert len(CASES) == len({str(case) for case in CASES}) == 30
    assert set(QUICK) < set(CASES)
    assert len(QUICK) >= 8
    assert {case.dtype for case in CASES} == set(ALLOWED)


def test_no_random_number_of_the_caller_is_used():
    before = torch.random.get_rng_state()
    find_faults("cpu")
    assert torch.equal(torch.random.get_rng_state(), before)


def faulty(change):
    """The library's attention, as a device would compute it that is wrong in one way."""
    right = conformance.attention

    def attention(q, k, v, mask=None, **options):
        return change(right, q, k, v, mask, **options)

    return attention


FAULTS = {
    "strided heads are read as if they were not": (
        lambda right, q, k, v, mask, **o: right(
            q.as_strided(q.shape, torch.empty(q.shape).stride()) if not q.is_contiguous() else q,
            k,
            v,
            mask,
            **o,
        ),
        {"heads strided in memory", "heads strided in memory, causal", "gradients, causal"},
    ),
    "causal is aligned with the first key": (
        lambda right, q, k, v, mask, **o: (
            right(q, k, v, torch.ones(q.shape[2], k.shape[2]).tril().bool())
            if o["causal"] and q.shape[2] != k.shape[2]
            else right(q, k, v, mask, **o)
        ),
        {"fewer queries than keys, causal", "more queries than keys, causal"},
    ),
    "a row that sees nothing is a mean": (
        lambda right, q, k, v, mask, **o: right(
            q, k, v, mask if mask is None else mask | ~mask.any(-1, keepdim=True), **o
        ),
        {"a mask that hides all from one query", "a bias and a mask", "gradients, a mask"},
    ),
    "half precision is NaN": (
        lambda right, q, k, v, mask, **o: (
            right(q, k, v, mask, **o) * (float("nan") if q.dtype == torch.float16 else 1)
        ),
        {case.name for case in CASES if case.dtype == torch.float16},
    ),
    "the gradient of keys is lost": (
        lambda right, q, k, v, mask, **o: right(q, 0 * k + k.detach(), v, mask, **o),
        {"gradients, causal", "gradients, a mask"},
    ),
    "it comes back in another dtype": (
        lambda right, q, k, v, mask, **o: right(q, k, v, mask, **o).float(),
        {case.name for case in CASES if case.dtype != torch.float32},
    ),
}


@pytest.mark.parametrize(("change", "named"), FAULTS.values(), ids=FAULTS)
def test_a_device_that_is_wrong_in_one_way_is_named_by_its_cases(monkeypatch, change, named):
    monkeypatch.setattr(conformance, "attention", faulty(change))
    faults = find_faults("cpu")
    assert {fault.case.name for fault in faults} == named
    assert all("off by" in str(fault) for fault in faults)


def test_an_error_is_a_fault_and_its_first_line_is_the_reason(monkeypatch):
    def attention(*inputs, **options):
        raise NotImplementedError("not on this device\nand a trace")

    monkeypatch.setattr(conformance, "attention", attention)
    (fault,) = find_faults("cpu", (Case("one"),))
    assert str(fault) == "one, float32: NotImplementedError: not on this device"

"""Calling a learner's function: what it may not do is told, and does no harm."""

import math
import subprocess
import sys
import time
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import torch

from attnlib.learn import bank, calling
from attnlib.learn.calling import AnswerError, NotWrittenError, call, changed_arguments, tell_error
from attnlib.learn.exercises import _grade
from attnlib.learn.grading import numbers


def grade(id, answer):
    return _grade(bank.exercises()[id], answer)


def counting(weight, share):
    """What the first hint of 1.4 suggests, and what never ends where nothing is lost."""
    left, steps = 1.0, 0
    while left >= share:
        left, steps = left * weight, steps + 1
    return steps


def stubborn(*_):
    while True:
        try:
            while True:
                pass
        except Exception:
            continue


def test_a_loop_that_nothing_stops_is_stopped_and_its_call_is_named(monkeypatch):
    monkeypatch.setattr(calling, "SECONDS", 0.2)
    assert "`counting(1.0, 0.5)` did not finish in 0.2 s" in grade("1.2", counting)
    with pytest.raises(AnswerError, match=r"`stubborn\(tensor of \(2, 3\), \[1, 2\]\)` did not finish"):
        call(stubborn, torch.ones(2, 3), [1, 2])


def waits(seconds):
    time.sleep(seconds)
    return seconds


@pytest.mark.skipif(
    not hasattr(time, "pthread_getcpuclockid"), reason="no clock of a thread's computing here"
)
def test_only_computing_counts_until_patience_ends(monkeypatch):
    monkeypatch.setattr(calling, "SECONDS", 0.2)
    assert call(waits, 0.5) == 0.5  # as on a machine that is busy with something else
    with pytest.raises(AnswerError, match=r"did not finish in 0\.2 s"):
        call(lambda: [waits(0.1) for _ in range(100)])


def test_what_ends_in_time_is_never_interrupted_later(monkeypatch):
    monkeypatch.setattr(calling, "SECONDS", 1.0)
    for _ in range(50):
        assert call(lambda n: sum(range(n)), 1000) == 499500
    ends = time.monotonic() + 1.3
    while time.monotonic() < ends:  # what a forgotten watch would raise, it would raise here
        pass


@pytest.mark.starts_process
def test_what_is_raised_while_a_call_is_left_is_told_and_nothing_follows():
    program = """
import itertools, time
from attnlib.learn import calling

calling.SECONDS = 0.01
told = 0
for wait in itertools.islice(itertools.cycle((0.0096, 0.0098, 0.00995, 0.01, 0.0101)), 200):
    def ends_just_then(wait):
        end = time.thread_time() + wait
        while time.thread_time() < end:
            pass
        return 1
    try:
        calling.call(ends_just_then, wait)
    except calling.AnswerError:
        told += 1
end = time.perf_counter() + 2.2
while time.perf_counter() < end:  # a watch that goes on speaks once a second
    pass
print(told)
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr
    assert int(ended.stdout) > 0


@pytest.mark.starts_process
def test_a_limit_ends_under_a_tracer_as_a_debugger_and_coverage_are():
    program = """
import sys
from attnlib.learn import calling

def tracer(*_):
    return tracer

sys.settrace(tracer)
for _ in range(20):
    calling.SECONDS = 0.05
    try:
        calling.call(lambda: max(n for n in iter(int, 1)))
    except calling.AnswerError:
        calling.SECONDS = 5.0
        calling.call(lambda: sum(range(100)))
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)


@pytest.mark.starts_process
def test_what_pytorch_loads_at_its_first_use_is_not_the_learners_time():
    program = """
import sys
import torch
from attnlib import attention
from attnlib.learn.calling import call

def answer(x):
    before = set(sys.modules)
    attention(x, x, x)
    return len(set(sys.modules) - before)

assert call(answer, torch.ones(3, 4)) == 0
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)


def clears_weights(layer, x):
    layer.weight.data.zero_()
    return layer(x)


def appends(items):
    items.append(1)
    return items


@pytest.mark.parametrize(
    ("function", "arguments", "changed"),
    [
        (lambda q, k: q.mul_(2) + k, (torch.ones(2), torch.ones(2)), ["q"]),
        (lambda k: k[0].add_(1), (torch.ones(2, 3),), ["k"]),
        (clears_weights, (torch.nn.Linear(3, 2), torch.ones(3)), ["layer"]),
        (appends, ([3],), ["items"]),
        (lambda d: d.setdefault("a", 1), ({},), ["d"]),
        (lambda x: x + 1, (torch.tensor([math.nan, 1.0]),), []),
        (lambda *x: x[1].zero_(), (torch.ones(2), torch.ones(2)), ["argument 2"]),
    ],
)
def test_arguments_that_were_changed_are_named(function, arguments, changed):
    def grade(answer):
        call(answer, *arguments)

    assert changed_arguments(grade, function) == (None, changed)


def test_a_right_answer_that_changes_what_it_was_given_does_not_pass():
    def gate(old, new, keep):
        old *= keep
        old += (1 - keep) * new
        return old

    assert "the numbers are right, but it changes `old`" in grade("1.4", gate)
    assert grade("1.4", lambda old, new, keep: keep * old + (1 - keep) * new) is None


def test_an_error_comes_with_its_line_and_is_cut():
    def divides(x):
        return x / 0

    def talks(x):
        raise ValueError("word " * 400)

    def told(function):
        try:
            call(function, 1)
        except Exception as error:
            return tell_error(error, function)

    assert told(divides).endswith(", `return x / 0`, with `ZeroDivisionError: division by zero`.")
    assert "line " in told(divides)
    assert len(told(talks)) < 300


@pytest.mark.filterwarnings("ignore:The use of `x.T`")
@pytest.mark.parametrize(
    ("function", "advice"),
    [
        (lambda x: x / x.sum(-1), "drops that axis"),
        (lambda x: x + x.mT, "look at their `.shape`"),
        (lambda x: x.softmax(-1) + x.mT, "look at their `.shape`"),
        (lambda x: x + x.T, "look at their `.shape`"),
        (lambda x: torch.stack([x] * 4) + torch.stack([x] * 4).T, "`.mT` turns the last two"),
        (lambda x: x @ x, "the last but one of `b`: transpose `b`?"),
        (lambda x: x.mT @ x.mT, "the last but one of `b`: transpose `b`?"),
        (lambda x: x @ torch.ones(2, 5), "transpose `a`?"),
        (lambda x: x @ torch.ones(4, 5), "3 and 4 here. Transposing one does not make them alike"),
        (
            lambda x: torch.bmm(x[None], torch.ones(1, 4, 5)),
            "the last but one of `b`: look at their `.shape`",
        ),
        (lambda x: x.long() @ x.T, "`x.float()` turns it"),
    ],
)
def test_words_of_pytorch_about_sizes_are_translated(function, advice):
    with pytest.raises(RuntimeError) as caught:
        call(function, torch.ones(2, 3))
    assert advice in tell_error(caught.value, function)


def test_nothing_returned_and_several_results_are_told():
    with pytest.raises(AnswerError, match="the return is missing"):
        call(lambda: None)
    with pytest.raises(AnswerError, match="a tuple of 2: return the result alone"):
        call(lambda: (torch.ones(2, 3), torch.ones(2, 2)))
    with pytest.raises(AnswerError, match="must be a function, got int"):
        call(3)
    with pytest.raises(NotWrittenError):
        call(lambda: ...)


@pytest.mark.parametrize(
    "answer",
    [
        [[1, 2], [3, 4]],
        ((1, 2), (3, 4)),
        [torch.tensor([1, 2]), torch.tensor([3, 4])],
        [[torch.tensor(1.0), np.float16(2)], [np.int64(3), Fraction(4)]],
        [[Decimal("1"), True + 1], (Fraction(6, 2), np.array(4))],
        np.array([[1, 2], [3, 4]], dtype=np.uint8),
        torch.tensor([[1, 2], [3, 4]], dtype=torch.bfloat16, requires_grad=True),
        {"a": (1, 2), "b": [3, 4]},
    ],
)
def test_numbers_are_read_from_whatever_holds_them(answer):
    assert numbers(answer).equal(torch.tensor([[1.0, 2], [3, 4]], dtype=torch.float64))


@pytest.mark.parametrize("answer", [True, np.bool_(True), torch.tensor(True), [1][0], np.array(1)])
def test_a_truth_value_is_read_as_one(answer):
    assert numbers(answer).item() == 1


@pytest.mark.parametrize("answer", ["1", [1, "2"], [[1], [1, 2]], {1, 2}, object(), 1j, [torch.tensor(1j)]])
def test_what_holds_no_numbers_is_refused(answer):
    with pytest.raises(AnswerError, match="must hold numbers, got"):
        numbers(answer)

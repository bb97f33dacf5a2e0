import time
from types import SimpleNamespace

import pytest
import torch

from attnlib.instruments import timing
from attnlib.instruments.timing import seconds, timed

CPU = torch.device("cpu")


def test_timed_is_the_time_of_one_call():
    assert timed(lambda: time.sleep(0.01), CPU, calls=3) >= 0.01


@pytest.mark.parametrize("kind", ["cuda", "mps", "xpu"])
def test_an_accelerator_is_waited_for_before_the_clock_starts_and_before_it_stops(monkeypatch, kind):
    events, device = [], torch.device(kind)
    monkeypatch.setattr(torch.accelerator, "synchronize", lambda where: events.append(where))
    monkeypatch.setattr(time, "perf_counter", lambda: events.append("clock") or 0.0)
    timed(lambda: events.append("work"), device, calls=2)
    assert events == [device, "clock", "work", "work", device, "clock"]


@pytest.mark.parametrize("kind", ["cpu", "meta"])
def test_where_nothing_is_queued_nothing_is_waited_for(monkeypatch, kind):
    monkeypatch.setattr(torch.accelerator, "synchronize", lambda where: pytest.fail("waited"))
    assert timed(lambda: None, torch.device(kind)) >= 0


@pytest.fixture
def takes(monkeypatch):
    """Make work that takes so many seconds by a clock of its own: a busy machine has no say. It counts its calls."""
    now, calls = [0.0], []
    monkeypatch.setattr(timing, "time", SimpleNamespace(perf_counter=lambda: now[0]))

    def work_of(long):
        def work():
            calls.append(1)
            now[0] += long

        return work, calls

    return work_of


def test_seconds_runs_once_uncounted_then_once_to_size_the_runs(takes):
    work, calls = takes(0.025)
    assert seconds(work, CPU, runs=3) == pytest.approx(0.025)
    assert len(calls) == 1 + 1 + 3


def test_short_work_is_repeated_within_a_run(takes):
    work, calls = takes(0.003)
    assert seconds(work, CPU, runs=2) == pytest.approx(0.003)
    assert len(calls) == 1 + 1 + 2 * 7  # seven take twenty milliseconds


@pytest.mark.parametrize(("runs", "error", "message"), [
    (0, ValueError, "runs must be at least 1, got 0"),
    (2.0, TypeError, "runs must be an int, got float (2.0)"),
])  # fmt: skip
def test_runs_must_be_a_whole_number(runs, error, message):
    with pytest.raises(error) as caught:
        seconds(lambda: None, CPU, runs=runs)
    assert str(caught.value) == message

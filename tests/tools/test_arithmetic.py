import os
import subprocess
import sys

import pytest
import torch

from tools.arithmetic import arithmetic, kernel_arithmetic


def test_the_same_machine_has_the_same_number_every_time_and_leaves_random_numbers_alone():
    torch.manual_seed(3)
    before = torch.rand(1)
    torch.manual_seed(3)
    assert arithmetic() == arithmetic()
    assert torch.equal(torch.rand(1), before)


@pytest.mark.starts_process
def test_a_kernel_has_the_number_of_a_process_with_its_threads():
    script = "from tools.arithmetic import arithmetic; print(arithmetic())"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=os.environ
    )
    assert kernel_arithmetic() == done.stdout.strip()


@pytest.mark.starts_process
@pytest.mark.skipif(torch.cuda.is_available(), reason="the other library is one for the CPU")
def test_products_of_another_library_have_another_number():
    script = """
import torch
from tools.arithmetic import arithmetic
print(arithmetic())
with torch.backends.mkldnn.flags(enabled=False):
    print(arithmetic())
"""
    # a process of its own: what other tests have done to this one must not decide which library is asked
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    ours, theirs = done.stdout.split()
    assert (ours != theirs) == torch.backends.mkldnn.is_available()

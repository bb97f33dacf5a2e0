"""Attention by a backend that would not be chosen at the sizes of a case."""

import contextlib

from attnlib import attention
from attnlib._plan import Plan, check
from attnlib.backends import blocks, choose
from attnlib.backends.dense import dense_attention


def attention_by_formula(q, k, v, mask=None, *, causal=False, **options):
    """Hold the whole table, whatever a kernel could do."""
    return dense_attention(check(Plan.of(q, k, v, mask, causal=causal, **options)))[0]


def attention_in_blocks(q, k, v, mask=None, *, rows=2, align=1, **options):
    """Compute rules block by block, and sinks in tiles, however short the sequences are."""
    small = {(blocks, "SMALL"): 1, (choose, "SMALL"): 1, (blocks, "WORTH"): 1.0, (choose, "TILE"): 3}
    small |= {(blocks, "ROWS"): rows, (blocks, "LEAST"): 1, (blocks, "ALIGN"): align}
    with contextlib.ExitStack() as stack:
        for (module, name), value in small.items():
            stack.callback(setattr, module, name, getattr(module, name))
            setattr(module, name, value)
        return attention(q, k, v, mask, **options)

"""Cases of the masks."""

import torch

from tests import DEVICE, reference
from tests.fuzz.draw import constant_case, words


def mask_case(draw, name):
    T, S, B = draw.size(0.1), draw.size(0.1), draw.size(0.1)
    offset = draw.pick(None, 0, 1, -1, 3, -4)
    lag = S - T if offset is None else offset
    sizes = {"offset": offset, "device": DEVICE}
    if name == "causal_mask":
        options, rule = sizes, lambda i, j: j <= i + lag
    elif name == "sliding_window_mask":
        window, ahead = draw.pick(1, 2, 3, 5), draw.pick(0, 1, 2)
        options, rule = (
            sizes | {"window": window, "ahead": ahead},
            lambda i, j: -ahead <= i + lag - j < window,
        )
    elif name == "prefix_mask":
        prefix = draw.whole(0, S)
        options, rule = sizes | {"prefix": prefix}, lambda i, j: j < prefix or j <= i + lag
    elif name == "padding_mask":
        lengths = [draw.whole(0, S) for _ in range(B)]
        given = draw.pick(lengths, torch.tensor(lengths, dtype=torch.long, device=DEVICE))
        rows = torch.stack(
            [reference.mask_from(1, S, lambda i, j, n=n: j < n) for n in lengths] or [torch.zeros(1, S)]
        )
        rows = rows[:B, None]
        text = words(lengths=lengths, S=S)
        return constant_case(name, torch.bool, text, lambda f: f(given, S), (rows, 0.0))
    else:
        documents = torch.randint(-1, 3, draw.pick((T,), (B, T)), generator=draw.generator)
        rows = [
            reference.mask_from(T, T, lambda i, j, d=d: d[i] == d[j])
            for d in ([documents.tolist()] if documents.ndim == 1 else documents.tolist())
        ]
        rows = torch.stack(rows) if rows else torch.zeros(0, T, T)
        rows = rows[0] if documents.ndim == 1 else rows[:, None]
        documents = documents.to(DEVICE)
        return constant_case(
            name, torch.bool, words(documents=documents), lambda f: f(documents), (rows, 0.0)
        )
    expected = reference.mask_from(T, S, rule)
    return constant_case(
        name, torch.bool, words(T=T, S=S, **options), lambda f: f(T, S, **options), (expected, 0.0)
    )

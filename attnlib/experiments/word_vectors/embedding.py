"""Word vectors from a text of one's own: predicted from neighbours, or counted. Chapter 2 has both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from attnlib._check import require_whole
from attnlib.device import pick_device
from attnlib.experiments.glove import WordVectors
from attnlib.experiments.training import track
from attnlib.instruments.settings import Setting, Values

Loss = Callable[[Tensor, Tensor, Tensor], Tensor]


def number_text(text: Sequence[str], least: int = 10) -> tuple[list[str], Tensor]:
    """Number the words of a text, the most frequent first, and drop the rare ones.

    Args:
        text: The words, in order.
        least: How often a word must come to be kept.

    Returns:
        The vocabulary, and the text as a tensor of its row numbers.
    """
    require_whole("least", least, 1)
    vocabulary = [word for word, n in Counter(text).most_common() if n >= least]
    row = {word: i for i, word in enumerate(vocabulary)}
    return vocabulary, torch.tensor([row[word] for word in text if word in row], dtype=torch.long)


def count_near(ids: Tensor, size: int, window: int = 5) -> Tensor:
    """Count how often each word stands within ``window`` positions of each other word.

    Args:
        ids: ``(N,)``, a text as numbers below ``size``.
        size: How many words there are.
        window: The largest distance that counts.

    Returns:
        ``(size, size)`` in float64, symmetric: before and after count alike.
    """
    pairs = torch.cat([ids[:-k] * size + ids[k:] for k in range(1, window + 1)])
    n = pairs.bincount(minlength=size**2).view(size, size).double()
    return n + n.T


def truncated_svd(table: Tensor, width: int = 64) -> Tensor:
    """Reduce a table to a few columns that keep most of it, by a truncated singular value decomposition.

    Args:
        table: ``(V, V)``.
        width: How many columns to keep.

    Returns:
        ``(V, width)``: the left singular vectors, each times the root of its singular value.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)  # the decomposition starts from random directions
        u, s, _ = torch.svd_lowrank(table, width, niter=3)
    return u * s.sqrt()


def train_skip_gram(
    ids: Tensor,
    vocabulary: Sequence[str],
    loss: Loss,
    *,
    steps: int = 1000,
    width: int = 64,
    window: int = 5,
    lr: float = 0.03,
    seed: int = 0,
    device: torch.device | str | None = None,
    watch: Callable[[WordVectors], float] | None = None,
    every: int = 100,
) -> tuple[WordVectors, WordVectors, list[float]]:
    """Train two vectors for each word so that true neighbours have a large product and others a small one.

    Most occurrences of very frequent words are dropped, and negatives are drawn in proportion to frequency to
    the power 3/4 (Mikolov et al., 2013). The 1,024 examples of a batch share 64 negatives.

    Args:
        ids: ``(N,)``, a text as row numbers of the vocabulary.
        vocabulary: The words.
        loss: A function of the vectors of middle words ``(B, D)``, of a true neighbour each ``(B, D)``, and
            of the negatives ``(K, D)``.
        steps: How many batches.
        width: How many numbers a vector has.
        window: The largest distance of a neighbour.
        lr: Learning rate of Adam at the beginning; it falls to a twentieth.
        seed: Of the beginning and of the batches.
        device: Where to train; the fastest there is, if not given.
        watch: Something to measure, before the first step and after every few.
        every: After how many steps to measure it again.

    Returns:
        The vectors of the words in the middle, those of their neighbours, and what was measured.
    """
    require_whole("steps", steps, 1)
    require_whole("every", every, 1)
    device = pick_device() if device is None else device
    generator = torch.Generator().manual_seed(seed)
    totals = ids.bincount(minlength=len(vocabulary)).float()
    keep = (1e-3 * totals.sum() / totals).sqrt().clamp(max=1)
    thinned = ids[torch.rand(len(ids), generator=generator) < keep[ids]]
    start = 0.1 * torch.randn(2, len(vocabulary), width, generator=generator)
    middle, context = (x.to(device).requires_grad_() for x in start)
    optimizer = torch.optim.Adam([middle, context], lr=lr, fused=middle.device.type in ("cpu", "cuda"))
    slower = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, steps)
    measured = []

    def measure() -> None:
        if watch is not None:
            measured.append(watch(WordVectors(vocabulary, middle.detach().clone())))

    measure()
    for step in track(range(1, steps + 1)):
        words, near, negatives = (
            x.to(device) for x in _batch(thinned, totals**0.75, window, generator=generator)
        )
        x, y, n = F.embedding(words, middle), F.embedding(near, context), F.embedding(negatives, context)
        optimizer.zero_grad()
        loss(x, y, n).backward()
        optimizer.step()
        slower.step()
        if step % every == 0:
            measure()
    found = WordVectors(vocabulary, middle.detach()), WordVectors(vocabulary, context.detach())
    setting = Setting(
        model="skip-gram",
        width=width,
        weights=f"{2 * width} weights for each word",  # how many words the manual has, each Python decides
        window=window,
        optimizer="Adam",
        rate=lr,
        schedule="falling to a twentieth",
        batch=1024,
        steps=steps,
        seeds=(seed,),
    )
    for vectors in found:
        vectors.setting = setting
    return *found, Values(measured, setting)


def _batch(
    text: Tensor, noise: Tensor, window: int, *, generator: torch.Generator
) -> tuple[Tensor, Tensor, Tensor]:
    """Draw words, a true neighbour of each, and words at random."""
    size = (1024,)
    at = torch.randint(window, len(text) - window, size, generator=generator)
    side = 1 - 2 * torch.randint(2, size, generator=generator)  # before or after
    step = side * torch.randint(1, window + 1, size, generator=generator)
    return text[at], text[at + step], torch.multinomial(noise, 64, replacement=True, generator=generator)


def found_near(
    vectors: WordVectors, words: Sequence[str], pairs: Sequence[tuple[str, str]], n: int = 10
) -> float:
    """Return how often the other word of a pair is among the ``n`` nearest, tried from both sides.

    Args:
        vectors: Vectors of at least these words.
        words: The words to search.
        pairs: Pairs of them that belong together.
        n: How many of the nearest words count.

    Returns:
        A fraction from 0 to 1.
    """
    row = {word: i for i, word in enumerate(words)}
    x = F.normalize(vectors[words].double().cpu(), dim=-1)
    c = (x @ x.T).fill_diagonal_(-1)
    a, b = torch.tensor([[row[word] for word in pair] for pair in pairs]).T
    a, b = torch.cat([a, b]), torch.cat([b, a])
    return ((c[a] > c[a, b, None]).sum(1) < n).double().mean().item()

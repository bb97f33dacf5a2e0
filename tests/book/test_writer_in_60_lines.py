"""The file that readers take home is the model of chapter 9, and as short as it says."""

import ast
import sys

import pytest
import torch
from torch.nn.functional import cross_entropy

from attnlib.experiments.writer import load_writer
from tests.book import ROOT

FILE = ROOT / "book/writer_in_60_lines.py"


@pytest.fixture(scope="module")
def alone():
    """The file as a module."""
    sys.path.insert(0, str(FILE.parent))
    import writer_in_60_lines

    sys.path.remove(str(FILE.parent))
    return writer_in_60_lines


def test_it_has_sixty_lines_and_needs_pytorch_alone():
    text = FILE.read_text("utf8")
    first, *rest = ast.parse(text).body
    imports = [node for node in rest if isinstance(node, (ast.Import, ast.ImportFrom))]
    assert {name.split(".")[0] for node in imports for name in _modules(node)} == {"torch"}
    told = [line for line in text.splitlines() if line.strip()]
    assert len(told) - (first.end_lineno - first.lineno + 1) - len(imports) <= 60


def _modules(node):
    return [node.module] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]


def test_with_the_weights_of_the_writer_it_gives_the_same_logits(alone):
    writer = load_writer("cpu").model
    model = alone.Decoder(1024)
    model.load_state_dict(writer.state_dict())
    tokens = torch.randint(1024, (3, 100), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        torch.testing.assert_close(model(tokens), writer(tokens), atol=2e-4, rtol=1e-4)


def test_it_learns_and_writes(alone):
    torch.manual_seed(0)
    model = alone.Decoder(8, C=32, H=2, L=1, hidden=64)
    text = torch.arange(8).repeat(4)[None]  # each token follows the one before it
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(60):
        loss = cross_entropy(model(text[:, :-1])[0], text[0, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss < 0.1
    assert alone.write(model, [0, 1, 2], 5, temperature=0.1) == list(range(8))

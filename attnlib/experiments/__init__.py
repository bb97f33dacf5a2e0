"""What the chapters train, and on what: tasks, word vectors, recurrent networks, a training loop.

Each module is imported by name, as in ``from attnlib.experiments.training import fit``.
"""

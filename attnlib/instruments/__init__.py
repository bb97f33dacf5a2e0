"""What one holds against a model: leaks, scores, statistics, costs, counts, times.

Each module is imported by name, as in ``from attnlib.instruments.probe import ScoreProbe``.
"""

"""Who computes a plan: `choose` decides once, and each of the others is one straight line.

Nothing in here checks its arguments; `attnlib.functional` did.
"""

"""What the chapters train, and on what: tasks, word vectors, recurrent networks, a training loop.

A module here serves several pages; what one page trains is in the folder with the name of the page. Each
module is imported by name, as in ``from attnlib.experiments.training import fit``.
"""

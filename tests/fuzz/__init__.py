"""Random cases of every function that computes, against float64, values and gradients.

``python -m tests.fuzz --seed 7 --cases 10000`` looks for disagreements; ``--case 123`` repeats one of them.
A case is drawn from its seed and number alone. What must come out is computed in `bounded`, which also says
how far a computation in the case's dtype may be off; `tests.reference` has the same as loops.
"""

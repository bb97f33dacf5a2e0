"""What the chapters teach with: claims that are checked, exercises that grade themselves, quizzes.

Nothing else in `attnlib` imports this package.
"""

from attnlib.learn.claims import ClaimError, claim
from attnlib.learn.exercises import check, hint
from attnlib.learn.overview import progress
from attnlib.learn.quizzes import quiz

__all__ = ["ClaimError", "check", "claim", "hint", "progress", "quiz"]

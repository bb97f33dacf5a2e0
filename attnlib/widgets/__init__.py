"""Explorables and quizzes: ipywidgets in Jupyter, and live on the published page without a kernel.

Each front end (``static/*.js``) does its own arithmetic; here is the state it shares with Python, and
the same numbers by `attnlib`, for comparison and for tests.
"""

from attnlib.widgets.analogy import EQUATIONS, AnalogyMap
from attnlib.widgets.averages import AverageLine
from attnlib.widgets.bugs import BugFinder
from attnlib.widgets.clock import PositionClock
from attnlib.widgets.cost import CostCalculator
from attnlib.widgets.decay import GradientDecay
from attnlib.widgets.fixed import FixedState
from attnlib.widgets.heads import HeadViewer
from attnlib.widgets.layer import WholeLayer
from attnlib.widgets.learned import LearnedLayers
from attnlib.widgets.learning import LearningSteps
from attnlib.widgets.masks import MaskPainter
from attnlib.widgets.plane import SENTENCES, AttentionPlane
from attnlib.widgets.quiz import Quiz
from attnlib.widgets.scaling import ScalingLab
from attnlib.widgets.tiles import TileStepper
from attnlib.widgets.writer import Writer

__all__ = [
    "EQUATIONS",
    "SENTENCES",
    "AnalogyMap",
    "AttentionPlane",
    "AverageLine",
    "BugFinder",
    "CostCalculator",
    "FixedState",
    "GradientDecay",
    "HeadViewer",
    "LearnedLayers",
    "LearningSteps",
    "MaskPainter",
    "PositionClock",
    "Quiz",
    "ScalingLab",
    "TileStepper",
    "WholeLayer",
    "Writer",
]

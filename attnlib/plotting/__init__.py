"""Figures and drawings of the book, in one language of colours and sizes.

A figure is drawn on ``ax``, or on a new one, and its axes are returned; `book_style` gives it the look of
the book. A schematic drawing is returned and shows itself as the last expression of a cell. Queries are
rows, keys are columns.
"""

from attnlib.plotting._style import (
    GRID,
    INK,
    KEY,
    MASK,
    MUTED,
    OUTPUT,
    PAPER,
    QUERY,
    SERIES,
    VALUE,
    WEIGHT,
    WEIGHTS,
    book_style,
)
from attnlib.plotting.averages import cut_averages, head_cuts, pointing
from attnlib.plotting.bars import dot_rows, strips
from attnlib.plotting.bills import fetch_bill, scaled_bars, score_squares, token_bill
from attnlib.plotting.blocks import block, shared_heads
from attnlib.plotting.caching import kv_cache
from attnlib.plotting.chance import against_chance
from attnlib.plotting.checks import blind_rows, five_tests, found_by, head_rows
from attnlib.plotting.clocks import clock_rows, swept_dials, turned_arrows
from attnlib.plotting.copying import copy_steps
from attnlib.plotting.drawing import Drawing
from attnlib.plotting.forks import forked
from attnlib.plotting.gates import gate, lstm_cell
from attnlib.plotting.grids import grid_row, heatmap, mask_row
from attnlib.plotting.groupings import two_groupings
from attnlib.plotting.hearing import hearing
from attnlib.plotting.lines import curves, lines
from attnlib.plotting.looks import two_looks
from attnlib.plotting.maps import two_steps, word_map
from attnlib.plotting.memories import two_memories
from attnlib.plotting.orders import two_orders
from attnlib.plotting.pages import pages
from attnlib.plotting.pieces import pieces
from attnlib.plotting.points import scatter
from attnlib.plotting.projections import project
from attnlib.plotting.questions import questions
from attnlib.plotting.readers import readers_and_writers
from attnlib.plotting.recurrent import encoder_decoder, unrolled_network
from attnlib.plotting.running import online_softmax
from attnlib.plotting.scales import roofline
from attnlib.plotting.sentences import sentences
from attnlib.plotting.shapes import split_and_merge
from attnlib.plotting.shared import shared_weights
from attnlib.plotting.showing import show, spell
from attnlib.plotting.small_masks import small_masks
from attnlib.plotting.spreads import product_tables, scores_over_weights
from attnlib.plotting.states import written_state
from attnlib.plotting.stream import stream
from attnlib.plotting.swaps import swapped_answer
from attnlib.plotting.table import attention_table
from attnlib.plotting.tiling import table_in_strips, tiles
from attnlib.plotting.traffic import traffic
from attnlib.plotting.waits import waits
from attnlib.plotting.ways import paths
from attnlib.plotting.whole import whole_model
from attnlib.plotting.windows import window_reach
from attnlib.plotting.worked import under_words
from attnlib.plotting.writing import writing_model

__all__ = [
    "GRID",
    "INK",
    "KEY",
    "MASK",
    "MUTED",
    "OUTPUT",
    "PAPER",
    "QUERY",
    "SERIES",
    "VALUE",
    "WEIGHT",
    "WEIGHTS",
    "Drawing",
    "against_chance",
    "attention_table",
    "blind_rows",
    "block",
    "book_style",
    "clock_rows",
    "copy_steps",
    "curves",
    "cut_averages",
    "dot_rows",
    "encoder_decoder",
    "fetch_bill",
    "five_tests",
    "forked",
    "found_by",
    "gate",
    "grid_row",
    "head_cuts",
    "head_rows",
    "hearing",
    "heatmap",
    "kv_cache",
    "lines",
    "lstm_cell",
    "mask_row",
    "online_softmax",
    "pages",
    "paths",
    "pieces",
    "pointing",
    "product_tables",
    "project",
    "questions",
    "readers_and_writers",
    "roofline",
    "scaled_bars",
    "scatter",
    "score_squares",
    "scores_over_weights",
    "sentences",
    "shared_heads",
    "shared_weights",
    "show",
    "small_masks",
    "spell",
    "split_and_merge",
    "stream",
    "strips",
    "swapped_answer",
    "swept_dials",
    "table_in_strips",
    "tiles",
    "token_bill",
    "traffic",
    "turned_arrows",
    "two_groupings",
    "two_looks",
    "two_memories",
    "two_orders",
    "two_steps",
    "under_words",
    "unrolled_network",
    "waits",
    "whole_model",
    "window_reach",
    "word_map",
    "writing_model",
    "written_state",
]

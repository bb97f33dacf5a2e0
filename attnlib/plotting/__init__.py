"""Figures and drawings of the book, in one language of colours and sizes.

A figure is drawn on ``ax``, or on a new one, and its axes are returned; `book_style` gives it the look of
the book. A schematic drawing is returned and shows itself as the last expression of a cell. Queries are
rows, keys are columns.

``kit`` is what every drawing is made of; a module beside it is for several pages; what one page draws is in
the folder with the name of the page. All of it is used as ``plotting.X``.
"""

from attnlib.plotting.bars import dot_rows, strips
from attnlib.plotting.causal_masks.kv_cache import kv_cache
from attnlib.plotting.causal_masks.questions import questions
from attnlib.plotting.causal_masks.shared_weights import shared_weights
from attnlib.plotting.causal_masks.swaps import swapped_answer
from attnlib.plotting.common_mistakes.checks import five_tests, found_by, fully_masked_rows, head_rows
from attnlib.plotting.complexity.costs import fetch_bill, scaled_bars, score_squares, token_bill
from attnlib.plotting.complexity.groupings import two_groupings
from attnlib.plotting.complexity.memories import two_memories
from attnlib.plotting.complexity.online_softmax import online_softmax
from attnlib.plotting.complexity.parallel import sequential_steps
from attnlib.plotting.complexity.roofline import roofline
from attnlib.plotting.complexity.tiles import table_in_strips, tiles
from attnlib.plotting.complexity.traffic import traffic
from attnlib.plotting.complexity.windows import receptive_field
from attnlib.plotting.complexity.written_state import written_state
from attnlib.plotting.copying import copy_steps
from attnlib.plotting.grids import grid_row, heatmap, mask_row
from attnlib.plotting.kit.drawing import Drawing
from attnlib.plotting.kit.showing import show, spell
from attnlib.plotting.kit.style import (
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
from attnlib.plotting.lines import curves, lines
from attnlib.plotting.multi_head.averages import cut_averages, head_cuts, pointing
from attnlib.plotting.multi_head.blocks import block, shared_heads
from attnlib.plotting.multi_head.scatter import scatter
from attnlib.plotting.multi_head.shapes import split_and_merge
from attnlib.plotting.pages import pages
from attnlib.plotting.positions.clocks import clock_rows, swept_dials, turned_arrows
from attnlib.plotting.positions.orders import two_orders
from attnlib.plotting.putting_it_together.attention_rows import two_attention_rows
from attnlib.plotting.putting_it_together.forks import forked
from attnlib.plotting.putting_it_together.under_words import under_words
from attnlib.plotting.putting_it_together.whole_model import whole_model
from attnlib.plotting.queries_keys_values.projections import project
from attnlib.plotting.rnn_bottleneck.gates import gate, lstm_cell
from attnlib.plotting.rnn_bottleneck.paths import paths
from attnlib.plotting.rnn_bottleneck.recurrent import encoder_decoder, unrolled_network
from attnlib.plotting.sentences import sentences
from attnlib.plotting.small_masks import small_masks
from attnlib.plotting.sqrt_dk.spreads import product_tables, scores_over_weights
from attnlib.plotting.table import attention_table
from attnlib.plotting.transformer.architectures import encoders_and_decoders
from attnlib.plotting.transformer.residual_stream import stream
from attnlib.plotting.transformer.tokens import pieces
from attnlib.plotting.transformer.writing import writing_model
from attnlib.plotting.word_vectors.bands import attention_bands
from attnlib.plotting.word_vectors.chance import against_chance
from attnlib.plotting.word_vectors.maps import two_steps, word_map

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
    "attention_bands",
    "attention_table",
    "block",
    "book_style",
    "clock_rows",
    "copy_steps",
    "curves",
    "cut_averages",
    "dot_rows",
    "encoder_decoder",
    "encoders_and_decoders",
    "fetch_bill",
    "five_tests",
    "forked",
    "found_by",
    "fully_masked_rows",
    "gate",
    "grid_row",
    "head_cuts",
    "head_rows",
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
    "receptive_field",
    "roofline",
    "scaled_bars",
    "scatter",
    "score_squares",
    "scores_over_weights",
    "sentences",
    "sequential_steps",
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
    "two_attention_rows",
    "two_groupings",
    "two_memories",
    "two_orders",
    "two_steps",
    "under_words",
    "unrolled_network",
    "whole_model",
    "word_map",
    "writing_model",
    "written_state",
]

"""Whether a test run was asked for everything: what must be complete is demanded of such a run alone."""

import pytest

# names of pytest's options that leave tests out, or run none
NARROWING = ("keyword", "markexpr", "deselect", "lf", "stepwise", "collectonly", "setuponly", "setupplan")
IGNORING = ("ignore", "ignore_glob")


def narrowed(config: pytest.Config) -> bool:
    """Tell whether an option such as -k or --collect-only left tests out of the paths that were asked for."""
    return _given(config, NARROWING)


def everything_was_asked_for(config: pytest.Config) -> bool:
    """Tell whether this run takes its paths from the settings, and leaves nothing out of them."""
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    return whole and not _given(config, NARROWING + IGNORING)


def _given(config: pytest.Config, options: tuple[str, ...]) -> bool:
    return any(getattr(config.option, name, None) for name in options)

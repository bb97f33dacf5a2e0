"""The old name of `_check`, until every module of the experiments imports the new one."""

from attnlib._check import require_whole  # noqa: F401

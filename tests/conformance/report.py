"""The table of conformance in the library reference: counted by the test run itself, and compared with the stored one."""

from importlib.metadata import version
from pathlib import Path

from tests.whole_run import narrowed

TABLE = Path(__file__).parents[2] / "book" / "_conformance.md"


def pytest_addoption(parser):
    parser.addoption(
        "--store-conformance", action="store_true", help=f"write {TABLE.name} instead of comparing it"
    )


def counts(reporter):
    """Return how many tests agreed and ran, for each suite and what of ours it checked."""
    found = {}
    for outcome, reports in reporter.stats.items():
        for report in reports:
            if getattr(report, "when", None) == "call":
                for name, value in report.user_properties:
                    if name == "conformance":
                        agreed, ran = found.get(tuple(value), (0, 0))
                        found[tuple(value)] = agreed + (outcome == "passed"), ran + 1
    return dict(sorted(found.items()))


def table(found):
    """Write the counts as the book shows them."""
    rows = [f"| {suite} | {ours} | {agreed} of {ran} |" for (suite, ours), (agreed, ran) in found.items()]
    head = ["| outside suite | what runs through it | agree |", "|---|---|---|"]
    return "\n".join([*head, *rows, "", f"Cases of ONNX are those of onnx {version('onnx')}.", ""])


def ran_in_full(config):
    """Tell whether every conformance test was asked for."""
    folder = Path(__file__).parent
    asked, ignored = (
        [(config.invocation_params.dir / path).resolve() for path in paths]
        for paths in (config.args, getattr(config.option, "ignore", None) or [])
    )
    if narrowed(config) or any(
        path in (folder, *folder.parents) or folder in path.parents for path in ignored
    ):
        return False
    return any(path in (folder, *folder.parents) for path in asked)


def pytest_sessionfinish(session, exitstatus):
    """Compare the table of this run with the stored one, or store it."""
    config = session.config
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or hasattr(config, "workerinput") or exitstatus != 0 or not ran_in_full(config):
        return
    made = table(counts(reporter))
    if config.option.store_conformance:
        TABLE.write_text(made, "utf8")
    stored = TABLE.read_text("utf8") if TABLE.exists() else ""
    same_cases = made.splitlines()[-1] == (stored.splitlines() or [""])[-1]  # else onnx is another version
    if made != stored and (same_cases or not stored):
        reporter.write_line("")
        reporter.write_line(f"FAILED: {TABLE.name} is not what this run counted; run: make conformance")
        session.exitstatus = 1

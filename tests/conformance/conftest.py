import pytest


@pytest.fixture
def conformance(record_property):
    """Count this test in the table of the library reference: which suite, and what of ours it checks."""
    return lambda suite, ours: record_property("conformance", (suite, ours))

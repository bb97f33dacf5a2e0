"""Settings that hold from whichever folder pytest is started."""


def pytest_configure(config):
    if not config.option.nbval_sanitize_with:
        config.option.nbval_sanitize_with = str(config.rootpath / "tests" / "book" / "nbval_sanitize.cfg")

import pytest

from tools.spread_address import places, spread

OLD = "https://github.com/example/old"


@pytest.fixture
def project(tmp_path):
    (tmp_path / "book/solutions").mkdir(parents=True)
    (tmp_path / "_config.yml").write_text("repository: {url: https://github.com/readers/new}\n")
    (tmp_path / "CITATION.cff").write_text(f"repository-code: {OLD}\n")
    (tmp_path / "pyproject.toml").write_text(f'Issues = "{OLD}/issues"\nOther = "{OLD}-fork"\n')
    for name in ("how_to_use", "teaching"):
        (tmp_path / f"book/{name}.md").write_text(f"git clone {OLD}\n")
    for name in ("book/1.ipynb", "book/solutions/1.ipynb"):
        (tmp_path / name).write_text(f'"%pip install git+{OLD}\\n"')
    return tmp_path


def test_the_address_is_moved_everywhere_and_nothing_else_is(project):
    assert spread(project) == places(project)
    assert (project / "pyproject.toml").read_text() == (
        f'Issues = "https://github.com/readers/new/issues"\nOther = "{OLD}-fork"\n'
    )
    assert "git+https://github.com/readers/new\\n" in (project / "book/solutions/1.ipynb").read_text()


def test_a_second_time_changes_nothing(project):
    spread(project)
    assert spread(project) == []

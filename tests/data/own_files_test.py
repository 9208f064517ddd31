#!/usr/bin/python3
"""The examples on files that users bring: pictures that other programs stored, tables."""

import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

import numpy

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from verdict import fail  # noqa: E402

MTF = str(pathlib.Path(sys.argv[1]).resolve())
EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


def run(folder, example, *words, layout="", ranks=0, status=0):
    """What the example prints on standard output, or as its error."""
    launch = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks else []
    options = ["--layout", *layout.split()] if layout else []
    command = [*launch, MTF, "run", str(EXAMPLES / example), *options, "--", *map(str, words)]
    environment = dict(os.environ, XDG_CACHE_HOME=str(folder / "cache"))
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    if done.returncode != status:
        fail(f"{command} ended with {done.returncode}", done.stdout, done.stderr)
    return done.stderr if status else done.stdout


def pictures(folder):
    """Of any number, size and dtype, they are what the same ones in u8 are."""
    chance = numpy.random.default_rng(5)

    def put(name, images, labels, learned=230):
        (folder / name).mkdir()
        for part, rows in (("train", slice(0, learned)), ("test", slice(230, 270))):
            numpy.save(folder / name / f"mnist_{part}_images.npy", images[rows])
            numpy.save(folder / name / f"mnist_{part}_labels.npy", labels[rows])

    images = chance.integers(0, 256, (270, 9, 7)).astype("u1")
    labels = chance.integers(0, 10, 270)
    put("plain", images, labels.astype("i4"))
    put("wide", images.astype(">i2"), labels.astype("u1"))
    put("floats", numpy.asfortranarray(images.astype("f4") / numpy.float32(255)), labels)
    put("wrong", images, labels + 1)
    put("few", images, labels, learned=90)
    found = {run(folder, "mnist.mtf", "--epochs", 2, "--data", name, layout=layout, ranks=ranks)
             for name in ("plain", "wide", "floats")
             for layout, ranks in (("", 0), ("both --mesh rows=2,cols=1", 2))}
    if len(found) != 1 or "accuracy" not in str(found):
        fail("pictures of other dtypes", found)
    for name, wanted in (("wrong", "wrong/mnist_train_labels.npy: a label is from 0 to 9"),
                         ("few", "90 pictures are fewer than a batch takes, 100")):
        error = run(folder, "mnist.mtf", "--data", name, status=1)
        if wanted not in error:
            fail(f"pictures that are {name}", error)
    drawn = run(folder, "mnist.mtf", "--epochs", 1, "--data", "plian", "--sample", 200, "--tested", 40)
    if not drawn.startswith("plian has no mnist_train_images.npy: digits are drawn\n"):
        fail("a folder that is not there", drawn)


def tables(folder):
    """With a mark of the encoding, quotes, numbers that are missing, and the classes in the first column."""
    chance = random.Random(6)
    rows = [(i // 23, chance.gauss(i // 23, 0.2), chance.choice(["nan", chance.gauss(i % 2, 0.2)])) for i in range(92)]
    text = '"the class; 0 to 3";x;y\r\n' + "".join(f'{c};"{x:.3f}";{y}\r\n' for c, x, y in rows)
    (folder / "table.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    words = ["--table", "table.csv", "--separator", ";", "--label", 0]
    one = run(folder, "table.mtf", *words, "--class_count", 4)
    right = re.search(r"right: (\S+) of 18 rows", one)
    if not right or float(right.group(1)) < 0.9:
        fail("classes that are far apart", one)
    if run(folder, "table.mtf", *words, "--class_count", 4, layout="both", ranks=4) != one:
        fail("a table on four ranks")
    error = run(folder, "table.mtf", *words, status=1)
    if "--label 0: a class there is none of 0 to 2" not in error:
        fail("a class that there is not", error)


def main():
    with tempfile.TemporaryDirectory() as name:
        for case in (pictures, tables):
            folder = pathlib.Path(name, case.__name__)
            folder.mkdir()
            case(folder)


main()

#!/usr/bin/python3
"""The first losses of examples/transformer_lm.mtf have the same bits under its three layouts, and a run
that is resumed under another one goes on with them."""

import pathlib
import subprocess
import sys
import tempfile

MTF = str(pathlib.Path(sys.argv[1]).resolve())
EXAMPLE = pathlib.Path("examples/transformer_lm.mtf")
CORPUS = pathlib.Path("../shared/data/tinyshakespeare.txt").resolve()
STEPS = 50
SIZES = ["--steps", str(STEPS), "--every", "1", "--tested", "1", "--examples", "8",
         "--window", "16", "--width", "32", "--inner", "64", "--head_size", "8"]


def fail(*words):
    print(*words)
    sys.exit(1)


def losses(folder, command, *options):
    """What each step says, in full."""
    text = ["--text", str(CORPUS)] if CORPUS.exists() else []
    done = subprocess.run([*command, "--", *SIZES, *text, *options], cwd=folder, capture_output=True,
                          text=True, timeout=900, check=False)
    if done.returncode != 0:
        fail(command, done.stdout, done.stderr)
    return [line for line in done.stdout.splitlines() if line.startswith("step ")]


def under(layout, mesh, ranks=0):
    start = ["mpirun", "-q", "--oversubscribe", "-n", str(ranks)] if ranks else []
    return [*start, MTF, "run", "lm.mtf", "--layout", layout, "--mesh", mesh]


with tempfile.TemporaryDirectory() as scratch:
    exact = EXAMPLE.read_text(encoding="utf-8").replace("loss:.4f", "loss:.9g").replace(":.4f", ":.9g")
    pathlib.Path(scratch, "lm.mtf").write_text(exact, encoding="utf-8")
    whole = losses(scratch, [MTF, "run", "lm.mtf"])
    if len(whole) != STEPS or not float(whole[-1].split()[3]) < 0.9 * float(whole[0].split()[3]):
        fail("does not learn:", *whole)
    for layout in ("data_parallel", "model_parallel", "both"):
        if losses(scratch, under(layout, "rows=2,cols=2")) != whole:
            fail(layout, "is not exact")
    if losses(scratch, under("both", "rows=1,cols=2", ranks=2), "--save_every", "30") != whole:
        fail("under mpirun it is not exact")
    if losses(scratch, under("data_parallel", "rows=2,cols=2"), "--resume", "true") != whole[30:]:
        fail("resumed it is not exact")

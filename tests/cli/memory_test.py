#!/usr/bin/python3
"""Under whatever `ulimit -v` leaves, mtf ends: with what was asked for, or with an error that has its place.

    memory_test.py MTF
"""

import os
import re
import resource
import subprocess
import sys
import tempfile

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import verdict

MTF = os.path.abspath(sys.argv[1])
STEP = 4 << 20
PLACED = re.compile(r"^[a-z]+\.mtf:\d+:\d+: error: .*\[memory\]$")

# Convolutions take memory beside what is planned, and threads some of their own.
TRAIN = """import optim
dim n = 16, c = 64, k = 64, h = 32, w = 32, th = 3, tw = 3
model net(x: f32[n, c, h, w]) {
  param f : f32[k, c, th, tw] = normal(stddev = 0.05)
  return conv(x, f -> [n, k, h, w], window = [h, w], taps = [th, tw], padding = 1)
}
fn step(x: f32[n, c, h, w]) {
  let loss = mean(square(net(x)))
  minimize loss with optim.sgd(lr = 0.1)
  return loss
}
let x = normal([n, c, h, w], seed = 3)
print step(x)
"""
SEARCH = """import optim
dim batch = 8, io = 4, hidden = 8
mesh grid = [rows: 2, cols: 2]
layout both on grid { batch -> rows, hidden -> cols }
model net(x: f32[batch, io]) {
  param w : f32[io, hidden] = normal(stddev = 0.1)
  return einsum(x, w -> [batch, hidden])
}
fn step(x: f32[batch, io]) {
  let loss = mean(square(net(x)))
  minimize loss with optim.sgd(lr = 0.5)
  return loss
}
"""


def under(limit, *words, threads=3):
    return subprocess.run([MTF, *words], capture_output=True, text=True, timeout=120,
                          env=os.environ | {"MTF_THREADS": str(threads)},
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))


def least_limit():
    """In which a program that does nothing runs: the libraries alone have some size."""
    limit = 16 << 20
    while under(limit, "run", "nothing.mtf", threads=1).returncode != 0:
        limit += STEP
    return limit


def sweep(least, steps, *words):
    """The results, all of which are to end by themselves."""
    for i in range(steps):
        limit = least + i * STEP
        done = under(limit, *words)
        verdict.check(done.returncode in (0, 1), f"{words} with {limit >> 20} MiB:", done.returncode, done.stderr)
        yield done


def main():
    for name, text in (("nothing", "print 1\n"), ("train", TRAIN), ("search", SEARCH)):
        with open(f"{name}.mtf", "w") as file:
            file.write(text)
    least = least_limit()
    failed = 0
    for done in sweep(least, 16, "run", "train.mtf"):
        if done.returncode == 1:
            failed += 1
            verdict.check(PLACED.match(done.stderr.splitlines()[0]), "a place:", done.stderr)
    verdict.check(failed > 0, "some limit leaves too little")
    # The solver of the search brings a BLAS, whose threads would ask for what is not to be had.
    for done in sweep(least + 8 * STEP, 6, "search", "search.mtf"):
        verdict.check(done.returncode == 1 or "proven" in done.stdout, "an answer:", done.stdout, done.stderr)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()

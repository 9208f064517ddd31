#!/usr/bin/python3
"""Every example prints the same bytes under every layout, mesh, instruction set and launcher, and so
it does in bf16.

Called with the path of mtf; run from the root of the project. With MTF_EXACT_LONG set, all
combinations up to 16 ranks, and 100 repeats of one of them; otherwise a sample of them.
"""

import glob
import itertools
import random
import sys

import runs

MTF = sys.argv[1]
RANKS = (1, 2, 4, 8, 16)
MPI_RANKS = (2, 4, 8)
SAMPLE = 10  # runs of one example in the short form
NARROW = ("--precision", "bf16,gradients=bf16")
SLOW = {"examples/mnist.mtf": ("--set", "epochs=1,data=nowhere"),
        "examples/moe_lm.mtf": ("--set", "steps=20,every=1"),
        "examples/resnet.mtf": ("--set", "steps=4,every=1,tested=16"),
        "examples/transformer_lm.mtf": ("--set", "steps=10,every=5"),
        "examples/translate.mtf": ("--set", "steps=10,every=5,tested=16")}
failures = []


def all_runs(path):
    """Simulated under every mesh and instruction set; under mpirun on some numbers of ranks."""
    for layout, axes in runs.meshes_and_layouts(path).items():
        for count, isa in itertools.product(RANKS, runs.ISAS):
            for sizes in runs.sizes_of(axes, count):
                mesh = runs.mesh_text(sizes)
                yield runs.Run(layout, mesh, isa, 0)
                if count in MPI_RANKS:
                    yield runs.Run(layout, mesh, isa, count)


def compare(path, chosen, words=()):
    """How many of the runs were legal; stops at the first that prints something else."""
    options = (*words, *SLOW.get(path, ()))
    wanted = runs.execute(MTF, path, None, options).stdout
    if not wanted:
        failures.append(f"{path} {words}: prints nothing")
    legal = 0
    for run in chosen:
        done = runs.execute(MTF, path, run, options)
        if done.returncode != 0 and runs.REFUSED.search(done.stderr.decode()):
            continue
        legal += 1
        if done.stdout != wanted or done.returncode != 0:
            failures.append(f"{path} {run} {words}: {done.stdout.decode()}{done.stderr.decode()}")
            break
    return legal


for path in sorted(glob.glob("examples/**/*.mtf", recursive=True)):
    chosen = list(all_runs(path))
    if not chosen or path == "examples/illegal.mtf" or "/published/" in path:
        continue
    if not runs.LONG:
        chosen = random.Random(7).sample(chosen, min(len(chosen), 4 if path in SLOW else SAMPLE))
    legal = compare(path, chosen)
    narrow = compare(path, chosen if runs.LONG else chosen[:4], NARROW)
    print(f"{path}: {legal} runs, {len(chosen) - legal} refused, {narrow} in bf16")
    if legal == 0:
        failures.append(f"{path}: fits no layout")
    if runs.LONG and path not in SLOW:
        compare(path, [run for run in chosen if run.ranks == 4][:1] * 100)

for failure in failures:
    print(failure)
sys.exit(1 if failures else 0)

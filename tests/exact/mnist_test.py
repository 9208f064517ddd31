#!/usr/bin/python3
"""Training examples/mnist.mtf writes byte-identical parameters whatever the layout and the ranks.

The example's own text, in which the network writes its parameters when it is called for the last
time. With MTF_EXACT_LONG set: 100 steps at full size, on MPI ranks as well under each layout;
otherwise a smaller network, 4 steps. MTF_EXACT_DATA names a folder with the real digits.
Called with the path of mtf; run from the root of the project.
"""

import itertools
import os
import re
import sys

import runs

MTF = os.path.abspath(sys.argv[1])
SIZES = {"sample": 10000} if runs.LONG else {"sample": 256, "tested": 64, "batch": 64, "hidden": 64}
DATA = os.environ.get("MTF_EXACT_DATA", "")
RANKS = (2, 4, 8, 16)
PARAMS = ("w1", "b1", "w2", "b2")
failures = []


def program():
    text = open("examples/mnist.mtf").read()
    if not DATA:  # the real digits are 8,000
        for dim, size in SIZES.items():
            text, found = re.subn(rf"\b{dim} = \d+", f"{dim} = {size}", text, count=1)
            assert found, dim
    head, tail = text.split("  let rest = shape(images)", 1)
    writes = "".join(f'  write("{param}.npy", {param})\n' for param in PARAMS)
    return head + writes + "  let rest = shape(images)" + tail


def trained(folder, run):
    """What was printed and the bytes of each parameter; None where the layout does not fit."""
    for param in PARAMS:
        path = os.path.join(folder, f"{param}.npy")
        if os.path.exists(path):
            os.remove(path)
    settings = ("--set", f"epochs=1,data={DATA or 'nowhere'}")
    done = runs.execute(MTF, "mnist.mtf", run, settings, cwd=folder)
    if done.returncode != 0:
        if run and runs.REFUSED.search(done.stderr.decode()):
            return None
        raise SystemExit(f"{run}: {done.stderr.decode()}")
    return [done.stdout] + [open(os.path.join(folder, f"{p}.npy"), "rb").read() for p in PARAMS]


def all_runs():
    for (layout, axes), ranks in itertools.product(
            runs.meshes_and_layouts("examples/mnist.mtf").items(), RANKS):
        for sizes in runs.sizes_of(axes, ranks):
            mesh = runs.mesh_text(sizes)
            yield runs.Run(layout, mesh, "avx2" if ranks == 2 else "avx512", 0)
            if ranks <= 4 and (runs.LONG or layout == "both"):
                yield runs.Run(layout, mesh, "avx512", ranks)


with runs.temporary_folder() as folder:
    with open(os.path.join(folder, "mnist.mtf"), "w") as file:
        file.write(program())
    wanted = trained(folder, None)
    legal = 0
    for run in all_runs():
        found = trained(folder, run)
        legal += found is not None
        if found not in (None, wanted):
            failures.append(f"{run}: other bytes in " + ", ".join(
                name for name, a, b in zip(("output",) + PARAMS, found, wanted) if a != b))
print(f"{legal} runs of {wanted[0].decode().strip()}")
for failure in failures:
    print(failure)
sys.exit(1 if failures or legal < 8 else 0)

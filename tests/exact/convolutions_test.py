#!/usr/bin/python3
"""Convolutions and their gradients have the same bits under every instruction set, and in threads.

Of f32 and of bf16, which are read in different ways: few channels and many, odd ones, lines of any length,
with and without padding, channels first and last.
Called with the path of mtf; run from the root of the project.
"""

import os
import sys

import runs

MTF = sys.argv[1]

# Images, channels, kernels, places of a line, taps, stride.
SIZES = [(2, 8, 5, 13, 3, 1), (3, 16, 12, 9, 3, 2), (2, 3, 20, 16, 5, 1), (2, 33, 8, 7, 3, 1), (1, 64, 40, 8, 3, 2),
         (5, 1, 6, 11, 2, 3), (2, 24, 70, 6, 1, 1), (4, 16, 18, 37, 3, 1)]


def program():
    lines = []
    for dtype in ("f32", "bf16"):
        for i, (n, c, k, side, taps, stride) in enumerate(SIZES):
            for last in (True, False):
                for padding in ("same", "valid"):
                    name = f"{dtype}_{i}_{'last' if last else 'first'}_{padding}"
                    sizes = [f"n: {n}", f"r: {side}", f"s: {side}", f"c: {c}"]
                    kernel = [f"a: {taps}", f"b: {taps}", f"c: {c}", f"k: {k}"]
                    if not last:
                        sizes = [sizes[0], sizes[3], *sizes[1:3]]
                        kernel = [*kernel[:1:-1], *kernel[:2]]
                    lines.append(f"""
fn loss_{name}(x, f) {{
  let y = conv(x, f, window = [r, s], taps = [a, b], stride = {stride}, padding = "{padding}")
  return sum(square(cast(y, f32)))
}}
let x_{name} = cast(normal([{", ".join(sizes)}], seed = {i}), {dtype})
let f_{name} = cast(normal([{", ".join(kernel)}], seed = {i + 100}), {dtype})
let dx_{name}, df_{name} = grad(loss_{name}(x_{name}, f_{name}), [x_{name}, f_{name}])
write("{name}_x.npy", dx_{name})
write("{name}_f.npy", df_{name})""")
    return "\n".join(lines)


def results(folder):
    return {path: open(f"{folder}/{path}", "rb").read() for path in sorted(os.listdir(folder)) if path.endswith(".npy")}


failures = []
with runs.temporary_folder() as folder:
    path = f"{folder}/convolutions.mtf"
    with open(path, "w") as file:
        file.write(program())
    expected = None
    for isa in runs.ISAS:
        for threads in ("1", "2"):
            os.environ["MTF_THREADS"] = threads
            done = runs.execute(os.path.abspath(MTF), path, runs.Run(None, None, isa, 0), cwd=folder)
            if done.returncode != 0:
                failures.append(f"{isa}: {done.stderr.decode()}")
                continue
            found = results(folder)
            expected = expected or found
            failures += [f"{isa}, {threads} threads: {path} has other bits than {runs.ISAS[0]}'s, in one"
                         for path in expected if found.get(path) != expected[path]]

for failure in failures:
    print(failure)
sys.exit(1 if failures else 0)

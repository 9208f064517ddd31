#!/usr/bin/python3
"""--fast stays within 1e-5 relative of --exact in every example.

`mtf verify --fast` compares what a simulated mesh computes, params included; here its verdict is
taken, and under mpirun the numbers that are printed are compared.
Called with the path of mtf; run from the root of the project.
"""

import glob
import re
import subprocess
import sys

import runs

MTF = sys.argv[1]
TOLERANCE = 1e-5
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
failures = []


def close(a, b):
    """Whether two texts of one line agree but for numbers near each other."""
    if NUMBER.sub("#", a) != NUMBER.sub("#", b):
        return False
    pairs = [(float(x), float(y)) for x, y in zip(NUMBER.findall(a), NUMBER.findall(b))]
    # Six digits are printed: half of the last one on both sides is as large as the tolerance.
    return all(abs(x - y) <= 2 * TOLERANCE * max(abs(x), abs(y)) for x, y in pairs)


for path in sorted(glob.glob("examples/**/*.mtf", recursive=True)):
    if subprocess.run([MTF, "check", path], capture_output=True).returncode != 0:
        continue
    settings = runs.ONE_STEP.get(path, ())
    verdict = subprocess.run([MTF, "verify", "--fast", *settings, path],
                             capture_output=True, text=True, timeout=1200)
    if verdict.returncode != 0 or "does not fit" in verdict.stdout:
        failures.append(f"verify --fast {path}: {verdict.stdout}{verdict.stderr}")
    exact = runs.execute(MTF, path, None, settings).stdout.decode().splitlines()
    for layout, axes in runs.meshes_and_layouts(path).items():
        meshes = runs.sizes_of(axes, 4)
        middle = len(meshes) // 2
        for sizes in meshes[middle:] + meshes[:middle]:  # not every one has a diagonal
            run = runs.Run(layout, runs.mesh_text(sizes), "avx512", 4)
            fast = runs.execute(MTF, path, run, ("--fast", *settings))
            if not runs.REFUSED.search(fast.stderr.decode()):
                break
        lines = fast.stdout.decode().splitlines()
        if len(lines) != len(exact) or not all(map(close, lines, exact)):
            failures.append(f"{path} {run}: {fast.stdout.decode()}{fast.stderr.decode()}")

for failure in failures:
    print(failure)
sys.exit(1 if failures else 0)

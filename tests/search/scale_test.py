"""`--scale` promises what `mtf cost` says of each row; `--fit` finds the fewest ranks that hold a program."""

import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

from programs import mtf

PROGRAM = """import optim
dim batch = {batch}, io = 30, hidden = 4 * io
mesh grid = [r: 2, s: 3]
let slow = hardware_profile(flops = 1e12, memory_bandwidth = 1e11, latency = 1e-6, bandwidth = 1e9, memory = {memory})
fn step(x: f32[batch, io]) {{
  param w : f32[io, hidden] = normal(stddev = 0.1)
  param v : f32[hidden, io] = normal(stddev = 0.1)
  let loss = mean(square(einsum(relu(einsum(x, w -> [batch, hidden])), v -> shape(x))))
  minimize loss with optim.sgd(lr = 0.1)
  return loss
}}
"""
COUNTS = "1,2,3,5,12,60"

# Layers that are priced by samples of them.
LAYERS = """import optim
import moe
dim group = 8, token = 8, d = 8, expert = 4, e_ff = 16
mesh pod = [a: 2] of a100
model net(x: f32[group, token, d]) {
  var h = x
  for i in 0..6 {
    let y, extra = moe.experts(h, group, token, d, expert, e_ff) as "moe_{i}"
    h = h + y + extra
  }
  return h
}
fn step(x: f32[group, token, d]) {
  let loss = mean(square(net(x)))
  minimize loss with optim.adam(lr = 0.001)
  return loss
}
"""


def check_one_rank(binary):
    """Nothing else is possible there, and the search says so."""
    for text in (LAYERS, PROGRAM.format(batch=48, memory=0x100000)):
        status, found, errors = mtf(binary, "search", "-", "step", "--ranks", "1", "--json", text=text)
        assert status == 0, (found, errors)
        assert found["gap"] == 0, found


def check_questions(binary):
    """What is asked beside the answer stands in the object, which has the same keys without it."""
    text = PROGRAM.format(batch=48, memory=0x100000)
    ways = {(): None, ("--explain", "batch->r"): "explained", ("--fit", "--ranks", "1,4", "--memory", "1MiB"): "fit",
            ("--sensitivity", "latency"): "sensitivity"}
    keys = None
    for words, asked in ways.items():
        status, found, errors = mtf(binary, "search", "-", "step", "--budget", "1", "--json", *words, text=text)
        assert status == 0, (words, found, errors)
        keys = keys or set(found)
        assert set(found) == keys, (words, keys ^ set(found))
        for key in ("explained", "fit", "sensitivity"):
            assert bool(found[key]) == (key == asked), (words, key, found[key])
        if asked == "sensitivity":
            same = [row for row in found["sensitivity"] if row["factor"] == 1]
            assert same[0]["seconds"] <= found["best"]["seconds"] * (1 + 1e-9), (same, found["best"])
        if asked == "fit":
            assert found["fit"][-1]["peak_bytes"] == found["best"]["peak_bytes"], (found["fit"], found["best"])
        if asked == "explained":
            rules = found["explained"]["rules"]
            assert {"dim": "batch", "axes": ["r"], "rest": False} in rules, found["explained"]


def check_scale(binary, folder):
    svg = os.path.join(folder, "scale.svg")
    text = PROGRAM.format(batch=48, memory=0x100000)
    words = ["search", "-", "--scale", "batch", "--hardware", "slow", "--ranks", COUNTS, "--json", "--budget",
             "2"]
    status, found, errors = mtf(binary, *words, "--svg", svg, text=text)
    assert status == 0, (found, errors)
    assert found["dim"] == "batch" and not found["follow"], found
    assert [row["size"] for row in found["scale"]] == [8 * int(n) for n in COUNTS.split(",")], found
    for row in found["scale"]:
        # The same program, with the size, the mesh and the layout written into it.
        source = PROGRAM.format(batch=row["size"], memory=0x100000)
        source = source.replace("mesh grid = [r: 2, s: 3]", row["mesh_source"]) + row["source"] + "\n"
        _, costs, _ = mtf(binary, "cost", "-", "step", "--hardware", "slow", "--json", text=source)
        cost = costs["layouts"][0]
        assert cost["legal"], (row, cost)
        assert abs(cost["seconds"] - row["seconds"]) <= 1e-9 * row["seconds"], (row, cost)
        assert abs(cost["utilization"] - row["utilization"]) <= 1e-6, (row, cost)
        assert cost["totals"]["peak_bytes"] == row["peak_bytes"], (row, cost)
    points = xml.parse(svg).getroot().findall("{http://www.w3.org/2000/svg}circle")
    assert len(points) == 2 * len(found["scale"]), len(points)
    # Another dim follows, and `io = 5` for each rank is another question.
    _, other, _ = mtf(binary, "search", "-", "--scale", "io=6", "--ranks", "1,3", "--json", "--budget", "1",
                      text=text)
    assert other["follow"] == ["hidden"], other
    assert [row["size"] for row in other["scale"]] == [6, 18], other


ODD = """dim batch = 7, io = 13, hidden = 91
fn f(x: f32[batch, io], w: f32[io, hidden], v: f32[hidden, batch]) {{
  return einsum(einsum(x, w -> [batch, hidden]), v -> [batch])
}}
"""


def check_odd(binary):
    """No power of two splits anything; and where nothing fits, no more ranks are tried than split something."""
    words = ["search", "-", "--fit", "--budget", "1", "--memory"]
    for memory, fewest in (("8KiB", 7), ("1KiB", 49), ("500", 91)):
        done = subprocess.run([binary, *words, memory], input=ODD.format(), capture_output=True, text=True, check=False)
        assert f"the least time on {fewest} rank" in done.stdout, (memory, done.stdout, done.stderr)
    done = subprocess.run([binary, *words, "1"], input=ODD.format(), capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "on up to 8,281 ranks, the most that split dims; " in done.stderr, done.stderr


def check_fit(binary, memory, sizes):
    """Of every number of ranks up to the answer, the least memory that a search finds."""
    text = PROGRAM.format(batch=48, memory=memory)
    words = ["--hardware", "slow", "--budget", "2"]
    done = subprocess.run([binary, "search", "-", "--fit", *words], input=text, capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr
    fewest = int(re.search(r"the least time on (\d+) rank", done.stdout).group(1))
    for ranks in range(1, fewest + 1):
        _, found, _ = mtf(binary, "search", "-", "--ranks", str(ranks), "--objective", "memory", "--json",
                          *words, text=text)
        assert (found["best"]["peak_bytes"] <= memory) == (ranks == fewest), (memory, ranks, fewest)
    sizes.add(fewest)


def main():
    binary = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        check_one_rank(binary)
        check_questions(binary)
        check_scale(binary, folder)
    check_odd(binary)
    sizes = set()
    for memory in (150_000, 36_000, 30_000, 26_000):
        check_fit(binary, memory, sizes)
    assert any(ranks & (ranks - 1) for ranks in sizes), sizes  # not powers of two alone
    print("rows as `mtf cost` has them; fewest ranks:", sorted(sizes))


if __name__ == "__main__":
    main()

"""Whether a search finds the layout that is fastest when it is run: all legal layouts of three small
programs on this machine, each measured under mpirun, beside the one that is found after `mtf calibrate`.

Rules of dims by names on one axis, and on four ranks on two axes; the layouts of equal plans are measured once.
"""

import itertools
import json
import os
import statistics
import subprocess
import time

MLP = ("""\
import optim
dim batch = 512, io = 512, hidden = 2048
fn step(x: f32[batch, io]) {
  param w : f32[io, hidden] = normal(stddev = 0.03)
  param v : f32[hidden, io] = normal(stddev = 0.03)
  let loss = mean(square(einsum(relu(einsum(x, w -> [batch, hidden])), v -> shape(x)) - x))
  minimize loss with optim.sgd(lr = 0.1)
  return loss
}
let x = normal([batch, io], seed = 1)
for i in 0..STEPS { let loss = step(x) }
""", ["batch", "io", "hidden"])

GPT = ("""\
import nn
import optim
import transformer
dim batch = 8, length = 64, width = 256, inner = 1024, heads = 4, head = 64, vocab = 512
fn layer(x) {
  return transformer.layer(x, length, width, inner, heads, head, causal = true)
}
fn step(tokens: i32[batch, length]) {
  let h = transformer.stack_of(nn.embedding(tokens, vocab, width), layer, 2)
  let logits = nn.dense(h, width, vocab, bias = false) as "classes"
  let loss = mean(nn.softmax_cross_entropy(logits, tokens, vocab))
  minimize loss with optim.sgd(lr = 0.1)
  return loss
}
let tokens = cast(range(batch), i32) + cast(range(length), i32)
for i in 0..STEPS { let loss = step(tokens) }
""", ["batch", "length", "width", "inner", "heads", "vocab"])

CONVOLUTION = ("""\
import nn
import optim
dim batch = 16, rows = 32, cols = 32, colors = 3, first = 32, second = 32, classes = 10
fn step(x: f32[batch, rows, cols, colors]) {
  param k : f32[taps_rows: 3, taps_cols: 3, colors, first] = normal(stddev = 0.1)
  param l : f32[taps_rows: 3, taps_cols: 3, first, second] = normal(stddev = 0.1)
  let h = relu(conv(x, k -> [batch, rows, cols, first], window = [rows, cols],
                    taps = [taps_rows, taps_cols], padding = "same"))
  let y = relu(conv(h, l -> [batch, rows, cols, second], window = [rows, cols],
                    taps = [taps_rows, taps_cols], padding = "same"))
  let loss = mean(square(y))
  minimize loss with optim.sgd(lr = 0.1)
  return loss
}
let x = normal([batch, rows, cols, colors], seed = 1)
for i in 0..STEPS { let loss = step(x) }
""", ["batch", "rows", "cols", "first", "second"])

PROGRAMS = {"MLP": MLP, "GPT": GPT, "convolution": CONVOLUTION}
MESHES = {2: ("mesh m = [x: 2]\n", ["", "x"]),
          4: ("mesh m = [x: 2, y: 2]\n", ["", "x", "y", "(x, y)"])}
HARDWARE = ["--hardware", "this_machine"]
CHUNK = 200
# Rounds: the least of several medians is luck as well, so the fastest is measured anew to be compared.
CHOOSING, CONFIRMING = 5, 13
LONG = 0.6  # seconds of a run: ranks that share cores make short ones differ by a fifth
MPI = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def mtf(binary, *words, text):
    done = subprocess.run([binary, *words], input=text, capture_output=True, text=True, check=False)
    if not done.stdout:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout)


def with_layouts(mesh, layouts, body, steps):
    return mesh + layouts + body.replace("STEPS", str(steps))


def legal(binary, mesh, body, dims, axes):
    """{what a plan does: the rules of a layout that makes it}, each with its predicted seconds."""
    all_rules = ["; ".join(f"{dim} -> {axis}" for dim, axis in zip(dims, picked) if axis)
                 for picked in itertools.product(axes, repeat=len(dims))]
    plans = {}
    for first in range(0, len(all_rules), CHUNK):
        chunk = all_rules[first:first + CHUNK]
        declared = "".join(f"layout l{i} on m {{ {rules} }}\n" for i, rules in enumerate(chunk))
        for row in mtf(binary, "cost", "-", "step", *HARDWARE, "--json", text=with_layouts(mesh, declared, body, 1))["layouts"]:
            if row["legal"]:
                key = json.dumps([row["seconds"], row["totals"]])
                plans.setdefault(key, (row["seconds"], chunk[int(row["layout"][1:])]))
    return sorted(plans.values())


def step_seconds(binary, folder, mesh, source, body, ranks, steps):
    """Of a long run less a short one."""
    pair = []
    for count in (2, 2 + steps):
        path = os.path.join(folder, "found.mtf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(with_layouts(mesh, source + "\n", body, count))
        words = ["mpirun", "--oversubscribe", "-n", str(ranks), binary, "run", path,
                 "--layout", "found"]
        before = time.perf_counter()
        subprocess.run(words, check=True, capture_output=True, env=MPI)
        pair.append(time.perf_counter() - before)
    return (pair[1] - pair[0]) / steps


def bench(binary, folder, fastest=12, steps=20):
    """Measures the layouts that are predicted to be fastest, and so that predictions may be wrong,
    as many spread over the others."""
    calibrated = subprocess.run([binary, "calibrate"], capture_output=True, text=True)
    if calibrated.returncode != 0:
        print("with an earlier calibration:", calibrated.stderr.strip().splitlines()[-1])
    print("program       ranks  layouts  measured    fastest      found   found / fastest")
    for (name, (body, dims)), ranks in itertools.product(PROGRAMS.items(), MESHES):
        mesh, axes = MESHES[ranks]
        plans = legal(binary, mesh, body, dims, axes)
        spread = plans[:fastest] + plans[fastest::max(1, len(plans) // fastest)]
        result = mtf(binary, "search", "-", "step", *HARDWARE, "--json",
                     text=with_layouts(mesh, "", body, 1))
        found = result["best"]["source"]

        def measured(sources, rounds, steps):
            """Each in turn, round by round, so that what disturbs a while disturbs all; medians."""
            times = {source: [] for source in sources}
            for _, source in itertools.product(range(rounds), sources):
                times[source].append(step_seconds(binary, folder, mesh, source, body, ranks, steps))
            return {source: statistics.median(seconds) for source, seconds in times.items()}

        first = measured([f"layout found on m {{ {rules} }}" for _, rules in spread], 1, steps)
        near = [source for source in sorted(first, key=first.get)
                if first[source] <= 1.3 * min(first.values())][:5]
        many = max(steps, round(LONG / min(first.values())))
        chosen = measured(near, CHOOSING, many)
        best = min(near, key=chosen.get)
        times = measured([best, found], CONFIRMING, many)
        print(f"{name:12}  {ranks:5}  {len(plans):7}  {len(spread):8}  {times[best] * 1e3:6.1f} ms"
              f"  {times[found] * 1e3:6.1f} ms  {times[found] / times[best]:8.2f}      "
              f"{' '.join(found.split())}", flush=True)

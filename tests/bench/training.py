"""Whole training steps beside PyTorch's, one thread against one rank and two against two; and in bf16
beside the same in f32.

Both train in processes of their own, in turn; a time is the median of a process' steps, a ratio the
median over rounds. Memory is the largest that a process ever held, libraries and all. Debian's
PyTorch has the BLAS that is installed, which may be the slow reference: MTF_TORCH_BLAS names the
folder of another libblas.so.3. OpenBLAS is told what the processor can do: it may be newer than
that, or the environment may name an older one, for which it multiplies at a half of the speed.
"""

import concurrent.futures
import json
import os
import statistics
import subprocess
import sys
from typing import NamedTuple

HERE = os.path.dirname(os.path.abspath(__file__))
ROUNDS = 3


class Model(NamedTuple):
    name: str  # in torch_training.py
    text: str
    program: str  # with the layouts `one` and `split`
    steps: int


MLP = """\
import optim
dim batch = 512, io = 1024, hidden = 4096
mesh line = [ranks: 2]
layout one on line { }
layout split on line { hidden -> ranks }
model mlp(x: f32[batch, io]) -> f32[batch, io] {
  param w    : f32[io, hidden] = normal(stddev = 0.03)
  param bias : f32[hidden]     = zeros
  param v    : f32[hidden, io] = normal(stddev = 0.03)
  let h = relu(einsum(x, w -> [batch, hidden]) + bias)
  return einsum(h, v -> [batch, io])
}
fn step(x: f32[batch, io]) {
  let loss = mean(square(mlp(x) - x))
  minimize loss with optim.sgd(lr = 0.1)
  return loss
}
let x = normal([batch, io], seed = 1)
for i in 0..STEPS { let loss = step(x) }
"""

RESNET = """\
import nn
import optim
dim batch = 32, row = 32, col = 32, rgb = 3, classes = 10, down = 3, across = 3, tall = 1, wide = 1
dim stem = 64, first = 64, second = 128, third = 256, fourth = 512
mesh line = [ranks: 2]
layout one on line { }
layout split on line { batch -> ranks }
fn block(x, from, to, stride) {
  dim between = size(to)
  let window = [row, col]
  let h = nn.conv_block(x, batch, window, [down, across], from, between, stride)
  let y = nn.conv_block(h, batch, window, [down, across], between, to, activation = identity)
  if stride == 1 { return relu(y + rename(x, from -> to)) }
  let short = nn.conv_block(x, batch, window, [tall, wide], from, to, stride, activation = identity)
  return relu(y + short)
}
model network(x: f32[batch, row, col, rgb]) {
  var h = nn.conv_block(x, batch, [row, col], [down, across], rgb, stem) as "stem"
  var from = stem
  var stride = 1
  for to in [first, second, third, fourth] {
    dim inner = size(to)
    h = block(h, from, inner, stride) as "first_{size(to)}_{size(from)}"
    h = block(h, inner, to, 1) as "second_{size(to)}_{size(from)}"
    from = to
    stride = 2
  }
  return nn.dense(mean(h -> [batch, fourth]), fourth, classes)
}
fn step(x: f32[batch, row, col, rgb], labels: i32[batch]) {
  let loss = mean(nn.softmax_cross_entropy(network(x), labels, over = classes))
  minimize loss with optim.momentum(lr = 0.1)
  return loss
}
let x = normal([batch, row, col, rgb], seed = 1)
let labels = integers([batch], low = 0, high = 10, seed = 2)
for i in 0..STEPS { let loss = step(x, labels) }
"""

LANGUAGE_MODEL = """
fn step(ids: i32[batch, length], labels: i32[batch, length]) {
  let loss = loss_of(ids, labels)
  minimize loss with optim.adamw(lr = 0.0003)
  return loss
}
let ids = integers([batch, length], low = 0, high = words, seed = 1)
let labels = integers([batch, length], low = 0, high = words, seed = 2)
for i in 0..STEPS { let loss = step(ids, labels) }
"""


def measured(command, environment=None):
    """What it prints, and the most memory that it or a process it waited for held."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                          env={**os.environ, **(environment or {})}) as process:
        out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{command}: status {process.returncode}")
    return out, 1024 * usage.ru_maxrss


def mtf_step(mtf, path, ranks, environment, *precision):
    options = ["--layout", "one" if ranks == 1 else "split", "--mesh", f"ranks={ranks}", *precision,
               "--profile", "--json"]
    launcher = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []
    out, peak = measured([*launcher, mtf, "run", path, *options], environment)
    units = json.loads(out)["profile"]["units"]
    return next(unit["median"] for unit in units if unit["name"] == "step"), peak


def copies(mtf, path, environment):
    """A step's time while two of one rank run that have nothing to do with each other: half of it is
    what the machine leaves to two ranks."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        both = [pool.submit(mtf_step, mtf, path, 1, environment) for _ in range(2)]
        return statistics.mean(run.result()[0] for run in both)


# OpenBLAS's kernels for what a processor has, the widest first.
CORES = [("avx512_bf16", "COOPERLAKE"), ("avx512f", "SKYLAKEX"), ("avx2", "HASWELL")]


def openblas_core():
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        has = set(file.read().split())
    return next((core for flag, core in CORES if flag in has), None)


def torch_step(model, threads, *precision):
    blas = os.environ.get("MTF_TORCH_BLAS")
    environment = {"OPENBLAS_NUM_THREADS": str(threads), "OMP_NUM_THREADS": str(threads)}
    if blas:
        environment["LD_LIBRARY_PATH"] = blas
    core = openblas_core()
    if core:
        environment["OPENBLAS_CORETYPE"] = core
    out, _ = measured([sys.executable, "-B", os.path.join(HERE, "torch_training.py"), model.name,
                       str(threads), str(model.steps), *precision], environment)
    found = json.loads(out)
    return statistics.median(found["seconds"]), found["peak"], found["gflops"]


def models():
    sys.path.insert(0, os.path.join(HERE, "..", "oracle"))
    import gpt2
    return [Model("language_model", "GPT-2's shape, AdamW", gpt2.MODEL + LANGUAGE_MODEL, 5),
            Model("mlp", "MLP 512 x 1024 x 4096, SGD", MLP, 9),
            Model("resnet", "ResNet-18 on 32 x 32 x 32, momentum", RESNET, 5)]


def bench(mtf, folder, environment):
    try:
        import torch  # noqa: F401  only whether it is there
    except ImportError:
        print("PyTorch is not installed")
        return
    for model in models():
        path = os.path.join(folder, model.name + ".mtf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(model.program.replace("STEPS", str(model.steps)))
        compare(mtf, path, model, environment)


def compare(mtf, path, model, environment):
    rounds, beside = [], []
    for _ in range(ROUNDS):
        rounds.append([(mtf_step(mtf, path, ranks, environment), torch_step(model, ranks))
                       for ranks in (1, 2)])
        beside.append(copies(mtf, path, environment) / rounds[-1][0][0][0] / 2)
    print(f"{model.text}; PyTorch's product of 512 cubed: "
          f"{max(row[0][1][2] for row in rounds):.0f} GFLOP/s")
    for index, ranks in enumerate((1, 2)):
        mine, other = zip(*(row[index] for row in rounds))
        seconds = [statistics.median(entry[0] for entry in side) for side in (mine, other)]
        ratio = statistics.median(a[0] / b[0] for a, b in zip(mine, other))
        peaks = [max(entry[1] for entry in side) / 2 ** 20 for side in (mine, other)]
        print(f"  {ranks} rank{'s' if ranks > 1 else ' '}  {seconds[0] * 1e3:8.1f} ms  PyTorch "
              f"{seconds[1] * 1e3:8.1f} ms  ratio {ratio:5.2f} (goal 0.90)   a rank at most "
              f"{peaks[0]:6.0f} MiB, PyTorch {peaks[1]:6.0f} MiB")
    scaling = statistics.median(two[0][0] / one[0][0] for one, two in rounds)
    theirs = statistics.median(two[1][0] / one[1][0] for one, two in rounds)
    print(f"  two / one  {scaling:5.2f} (goal 0.55)   PyTorch {theirs:5.2f}   two copies at once, a "
          f"half of their time: {statistics.median(beside):5.2f}", flush=True)
    compare_narrow(mtf, path, model, environment)


def compare_narrow(mtf, path, model, environment):
    """In turn, so that what else the machine does is in both; PyTorch, which takes twenty times as
    long in bf16 where the processor has no arithmetic for it, once."""
    for ranks in (1, 2):
        rounds = []
        for _ in range(ROUNDS):
            mine = [mtf_step(mtf, path, ranks, environment, "--precision", dtype)[0]
                    for dtype in ("f32", "bf16")]
            rounds.append((mine[1] / mine[0], mine[1]))
        ratio, seconds = (statistics.median(column) for column in zip(*rounds))
        theirs = [torch_step(model, ranks, dtype)[0] for dtype in ("f32", "bf16")]
        other = theirs[1] / theirs[0]
        print(f"  {ranks} rank{'s' if ranks > 1 else ' '}  bf16 {seconds * 1e3:8.1f} ms  of f32 "
              f"{ratio:5.2f} (goal 0.60)   PyTorch {other:5.2f}", flush=True)

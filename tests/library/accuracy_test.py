#!/usr/bin/python3
"""The library in f32 and bf16, on numbers that lose digits in the obvious formulas, against NumPy in f64.

  accuracy_test.py MTF
"""

import os
import sys

import numpy as np

from library import run

PROGRAM = """\
import attention
import decode
import moe
import nn
import optim
dim n = 64, classes = 8, io = 48, length = 640, head = 4, expert = 2, slot = 640, four = 4
mesh grid = [x: 2, y: 2]
layout whole on grid { }
layout both on grid { n, length, block -> x, classes, io, head -> y }
let logits = load("logits.npy", [n, classes])
let labels = load("labels.npy", [n])
let shares = load("shares.npy", [n, classes])
let scores = load("scores.npy", [n])
let truth = load("truth.npy", [n])
let x = load("x.npy", [n, io])
let narrow = cast(x, bf16)
let q = load("q.npy", [length, head])
let p = load("p.npy", [io])
"""


def bf16(x):
    """The nearest numbers of 8 digits, ties to even."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).view(np.float32)


def log_softmax(x):
    away = x - x.max(-1, keepdims=True)
    return away - np.log1p((np.exp(away).sum(-1, keepdims=True) - 1))


def standardized(x, axes):
    centred = x - x.mean(axes, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(axes, keepdims=True) + 1e-5)


def sigmoid(x):
    return np.exp(-np.logaddexp(0, -x))


def given():
    random = np.random.default_rng(3)
    labels = random.integers(0, 8, 64).astype(np.int32)
    # Far from 0 all of them, and the right one far ahead in half of them.
    logits = 1e4 + random.normal(size=(64, 8))
    logits[np.arange(32), labels[:32]] += 12
    soft = random.random((64, 8))
    scores = np.linspace(-30, 30, 64)
    scores[20] = 0
    return {"logits": logits.astype(np.float32), "labels": labels,
            "shares": (soft / soft.sum(1, keepdims=True)).astype(np.float32),
            "scores": scores.astype(np.float32),
            "truth": (np.arange(64) >= 24).astype(np.float32),
            "x": (10 + random.normal(size=(64, 48))).astype(np.float32),
            "q": bf16(random.normal(size=(640, 4))),
            "p": bf16(10.0 ** random.uniform(-6, 2, 48))}


class Wanted:
    """What NumPy finds for each value that a program writes, and how far the program may be off."""

    def __init__(self):
        self.program = PROGRAM
        self.arrays = {}

    def add(self, name, call, array, off):
        self.program += f'write("{name}.npy", cast({call}, f64))\n'
        self.arrays[name] = (array, off)

    def failures(self, found):
        bad = 0
        for name, (array, off) in self.arrays.items():
            error = np.max(np.abs(found[name] - array) / off(array))
            if not error <= 1:
                print(f"{name}: {error:.3g} times as far off as it may be")
                bad += 1
        return bad


def of_each(share, beside=0.0):
    return lambda array: share * np.abs(array) + beside


ROUNDED = of_each(2.0**-8, 1e-5)  # once, to bf16


def losses(wanted, n):
    logs = log_softmax(n["logits"])
    at = (np.arange(64), n["labels"])
    call = "nn.softmax_cross_entropy(logits, {}, classes{})"
    wanted.add("hard", call.format("labels", ""), -logs[at], of_each(1e-6, 2.0**-23))
    wanted.add("soft", call.format("shares", ""), -(n["shares"] * logs).sum(1), of_each(1e-6))
    wanted.add("smooth", call.format("labels", ", label_smoothing = 0.1"),
               -0.9 * logs[at] - 0.1 * logs.mean(1), of_each(1e-6))
    x, t = n["scores"], n["truth"]
    wanted.program += "fn loss(x) { return nn.sigmoid_cross_entropy(x, truth) }\n"
    wanted.add("sigmoid", "loss(scores)", np.where(t == 1, np.logaddexp(0, -x), np.logaddexp(0, x)),
               of_each(1e-6))
    wanted.program += "fn slope(x) { return grad(sum(loss(x)), x) }\n"
    wanted.add("slope", "slope(scores)", np.where(t == 1, -sigmoid(-x), sigmoid(x)), of_each(1e-6))


def norms(wanted, n):
    x = bf16(n["x"]).astype(np.float64)
    parts = np.split(x, 2, 1)
    wanted.program += """\
fn net(x: bf16[n, io]) {
  let layer = nn.layer_norm(x, io)
  let root = nn.rms_norm(x, io)
  let group = nn.group_norm(x, io, [], groups = 2)
  let batch = nn.batch_norm(x, io, n)
  return layer, root, group, batch
}
let layer, root, group, batch = net(narrow)
"""
    wanted.add("layer", "layer", standardized(x, 1), ROUNDED)
    wanted.add("root", "root", x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-6), ROUNDED)
    wanted.add("group", "group", np.concatenate([standardized(part, 1) for part in parts], 1), ROUNDED)
    wanted.add("batch", "batch", standardized(x, 0), ROUNDED)


# bf16 has no numbers between 256 and 258: neither places nor what is counted may be of it.
def places(wanted, n):
    q = n["q"]
    angle = np.arange(640)[:, None] * 10000.0 ** (-(np.arange(4) % 2) / 2)
    across = np.concatenate([-q[:, 2:], q[:, :2]], 1)
    wanted.program += "let narrow_q = cast(q, bf16)\n"
    wanted.add("turned", "attention.rotary(narrow_q, range(length), head)",
               q * np.cos(angle) + across * np.sin(angle), ROUNDED)
    wanted.program += """\
fn block(x: f32[length, head]) {
  with precision bf16 { return attention.rotary(cast(x, bf16), range(length), head) }
}
let ones_of = ones([length, expert], bf16)
let to, weights, first = moe.top_gates(ones_of, length, expert, slot, 1, [])
"""
    wanted.add("in_block", "block(q)", q * np.cos(angle) + across * np.sin(angle), ROUNDED)
    each = np.zeros((640, 2, 640))
    each[np.arange(640), 0, np.arange(640)] = 1
    wanted.add("slots", "to", each, of_each(0, 1e-3))


# Of bf16, too: 0.5 and 0.25 are 0.7 together, and the others get nothing.
def nucleus(wanted):
    wanted.program += "let shares_of = const([four], [0.5, 0.25, 0.125, 0.125])\n"
    wanted.add("nucleus", "decode.nucleus(cast(log(shares_of), bf16), four, 0.7) > -100",
               np.array([1, 1, 0, 0]), of_each(0, 1e-3))


# What is added up block by block is rounded once.
def blocks(wanted, n):
    q = n["q"]
    scores = q @ q.T / 2
    scores[np.triu_indices(640, 1)] = -np.inf
    y = np.exp(log_softmax(scores)) @ q
    wanted.program += """\
fn blocks(q) { return attention.blockwise(q, q, q, length, head, blocks = 32, causal = true) }
"""
    wanted.add("blocks", "transpose(blocks(narrow_q) -> [length, head])", y, of_each(2.0**-7, 0.004))


# A step of Adam along a gradient that stays is as long as `lr`, the first one and the 300th.
def steps(wanted, n):
    wanted.program += """model wide_net(p: f32[io]) {
  param w : f32[io] = zeros
  return sum(p * w)
}
model narrow_net(p: bf16[io]) {
  param w : bf16[io] = zeros
  return sum(p * w)
}
fn step(p: f32[io]) { minimize wide_net(p) with optim.adam(lr = 1, beta2 = 0.9999, eps = 0) }
fn narrow_step(p: bf16[io]) { minimize narrow_net(p) with optim.adam(lr = 1) }
step(p)
let first_step = identity(wide_net.w)
for i in 0..299 {
  step(p)
  narrow_step(cast(p, bf16))
}
"""
    wanted.add("step", "first_step", -np.ones(48), of_each(1e-6))
    wanted.add("steps", "wide_net.w", -300 * np.ones(48), of_each(2e-6))
    wanted.add("counted", 'narrow_net."w/adam/t"', 299, of_each(0, 1e-3))
    share = 1 - (1 - 1e-4) ** np.array([1.0, 10, 1e3, 1e5, 1e7])
    wanted.program += "let counts = const([five: 5], [1, 10, 1e3, 1e5, 1e7])\n"
    wanted.add("known", "optim.known(0.9999, counts)", share, of_each(1e-6))
    end = 4e-6 + (1 - 4e-6) * np.sin(np.pi / 2 / 70_000) ** 2
    wanted.add("cycle", "optim.one_cycle(fill([], 99_998), lr = 1, steps = 100_000)", end,
               of_each(1e-6))


def main(mtf):
    arrays = given()
    wide = {name: array.astype(np.float64) if array.dtype == np.float32 else array
            for name, array in arrays.items()}
    wanted = Wanted()
    losses(wanted, wide)
    norms(wanted, wide)
    places(wanted, wide)
    nucleus(wanted)
    blocks(wanted, wide)
    steps(wanted, wide)
    return 1 if wanted.failures(run(mtf, wanted.program, arrays, ["whole", "both"])) else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))

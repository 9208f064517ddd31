#!/usr/bin/python3
"""The library in f32 and bf16, on numbers that lose digits in the obvious formulas, against NumPy in f64.

  accuracy_test.py MTF
"""

import os
import sys

import numpy as np

from library import run

PROGRAM = """\
import nn
dim n = 64, classes = 8, io = 48
mesh grid = [x: 2, y: 2]
layout whole on grid { }
layout both on grid { n -> x, classes, io -> y }
let logits = load("logits.npy", [n, classes])
let labels = load("labels.npy", [n])
let shares = load("shares.npy", [n, classes])
let scores = load("scores.npy", [n])
let truth = load("truth.npy", [n])
let x = load("x.npy", [n, io])
let narrow = cast(x, bf16)
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
            "x": (10 + random.normal(size=(64, 48))).astype(np.float32)}


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


def main(mtf):
    arrays = given()
    wide = {name: array.astype(np.float64) if array.dtype == np.float32 else array
            for name, array in arrays.items()}
    wanted = Wanted()
    losses(wanted, wide)
    norms(wanted, wide)
    return 1 if wanted.failures(run(mtf, wanted.program, arrays, ["whole", "both"])) else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))

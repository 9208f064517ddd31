#!/usr/bin/python3
"""Pipelines of the library, plain and circular, against stages one after the other in NumPy: values,
gradients, states; NaN in the bubbles; one permute a tick; the same bits under each layout.

  pipeline_test.py MTF
"""

import os
import sys

import numpy as np

import library

PROGRAM = """\
import pipeline
dim micro = 5, batch = 2, io = 8, stage = 4
mesh grid = [x: 2, y: 4]
layout none on grid { }
layout stages on grid { stage -> y; batch -> x }
layout both on grid { stage -> x; io -> y }
layout rounds on grid { stage -> (x, y); round -> y }
layout features on grid { io -> (x, y) }
layout others on grid { stage -> y; to -> x }
fn layer(x) {
  param w = normal([io, to: 8], stddev = 0.5, dtype = f64)
  param b : f64[to: 8] = zeros
  state seen : i32[] = zeros
  state sums : f64[to: 8] = zeros
  let y = tanh(sum(x * w, over = io) + b)
  seen <- seen + 1
  sums <- sums + sum(y, over = batch)
  return rename(y, to -> io)
}
let nan = log(const([], -1.0, dtype = f64))
model plain(x: f64[micro, batch, io]) {
  return pipeline.pipeline(layer, x, micro, stage, bubble = nan)
}
model again(x: f64[micro, batch, io]) {
  return pipeline.pipeline(layer, x, micro, stage, bubble = nan, recomputed = true)
}
model circular(x: f64[micro, batch, io]) {
  return pipeline.pipeline(layer, x, micro, stage, rounds = 3, bubble = nan)
}
let x = load("x.npy", [micro, batch, io])
"""

COSTS = """\
import pipeline
dim micro = 6, batch = 2, io = 8, stage = 4
mesh line = [s: 4, d: 2]
layout stages on line { stage -> s; batch -> d }
fn layer(x) {
  param w = normal([io, to: 8], stddev = 0.5)
  return rename(relu(sum(x * w, over = io)), to -> io)
}
model plain(x: f32[micro, batch, io]) {     # S + M - 1 ticks of one shift, and what leaves the last
  expect { halo_exchange(s) = 4 + 6 - 1 + 1, collectives = 10 }
  return pipeline.pipeline(layer, x, micro, stage)
}
model circular(x: f32[micro, batch, io]) {  # M R + S - 1
  expect { halo_exchange(s) = 6 * 2 + 4 - 1 + 1, collectives = 16 }
  return pipeline.pipeline(layer, x, micro, stage, rounds = 2)
}
fn backward(x: f32[micro, batch, io]) {      # the shifts once more but for the first, which brings nothing
  expect { halo_exchange(s) = 9 + 8, all_reduce(d) = 1, collectives = 18 }
  return grad(sum(plain(x)), plain)
}
"""


def program():
    lines = [PROGRAM]
    for name in ("plain", "again", "circular"):
        lines.append(f'write("{name}.npy", {name}(x))')
        for part in ("seen", "sums"):
            lines.append(f'write("{name}_{part}.npy", {name}."stages/{part}")')
        lines.append(f"fn d_{name}(x: f64[micro, batch, io]) {{")
        lines.append(f"  return grad(sum(square({name}(x))), params({name}) + [x])\n}}")
        lines.append(f"let {name}_by = d_{name}(x)")
        for i, part in enumerate("wbx"):
            lines.append(f'write("{name}_d{part}.npy", {name}_by[{i}])')
        lines.append(f'write("{name}_w.npy", {name}."stages/w")')
        lines.append(f'write("{name}_b.npy", {name}."stages/b")')
    return "\n".join(lines)


def one_after_the_other(x, w, b):
    """w[layer, io, to]: the result, gradients of its sum of squares, and what was summed."""
    steps = [x]
    for i in range(len(w)):
        steps.append(np.tanh(steps[-1] @ w[i] + b[i]))
    upstream = 2 * steps[-1]
    dw, db = np.zeros_like(w), np.zeros_like(b)
    for i in reversed(range(len(w))):
        inner = upstream * (1 - steps[i + 1] ** 2)
        dw[i] = np.einsum("mbi,mbo->io", steps[i], inner)
        db[i] = inner.sum((0, 1))
        upstream = inner @ w[i].T
    return steps[-1], dw, db, upstream, np.stack([step.sum((0, 1)) for step in steps[1:]])


def wanted(found, x):
    result = {}
    for name in ("plain", "again", "circular"):
        w, b = found[name + "_w"], found[name + "_b"]
        layers = (-1,) + w.shape[-2:]
        y, dw, db, dx, sums = one_after_the_other(x, w.reshape(layers), b.reshape(-1, 8))
        result |= {name: y, name + "_dw": dw.reshape(w.shape), name + "_db": db.reshape(b.shape),
                   name + "_dx": dx, name + "_sums": sums.reshape(b.shape),
                   name + "_seen": np.full(b.shape[:-1], 5)}
    return result


def main(mtf):
    x = np.random.default_rng(1).standard_normal((5, 2, 8))
    layouts = ["none", "stages", "both", "features", "others"]
    found = library.run(mtf, program(), {"x": x}, layouts)
    failed = library.differences(found, wanted(found, x))
    library.command(mtf, ["check", "-"], COSTS)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))

#!/usr/bin/python3
"""Optimizers of the library under a layout that splits params and states: 20 steps in f64 against
the formulas of their papers in NumPy, and against PyTorch where it is installed and has them.

  optim_test.py MTF
"""

import math
import os
import subprocess
import sys
import tempfile

import numpy as np

try:
    import torch
except ImportError:
    torch = None

STEPS = 20
LIMIT = 0.2  # of the gradients' norm, where it is clipped
PROGRAM = """\
import optim
dim row = 6, col = 4, batch = 8
mesh grid = [x: 2, y: 2]
layout both on grid { row -> x, col -> y }
use layout both
fn step(x: f64[batch, row], target: f64[batch, col], rate: f64[]) {
  param w : f64[row, col] = load("w.npy", [row, col])
  BIAS
  let loss = mean(square(einsum(x, w -> [batch, col]) PLUS - target))
  STEP
  return loss, w
}
let x = load("x.npy", [batch, row])
let target = load("target.npy", [batch, col])
let rate = const([], 0.01, dtype = f64)
for i in 0..STEPS {
  let loss, w = step(x, target, rate)
  if i == LAST { write("found.npy", w) }
}
"""


def sgd(p, g, s, t, lr=0.1):
    return p - lr * g


def momentum(p, g, s, t, lr=0.1, beta=0.9):
    s["v"] = beta * s.get("v", 0) + g
    return p - lr * s["v"]


def nesterov(p, g, s, t, lr=0.1, beta=0.9):
    s["v"] = beta * s.get("v", 0) + g
    return p - lr * (g + beta * s["v"])


def adagrad(p, g, s, t, lr=0.1):
    s["v"] = s.get("v", 0) + g * g
    return p - lr * g / (np.sqrt(s["v"]) + 1e-10)


def rmsprop(p, g, s, t, lr=0.01):
    s["v"] = 0.99 * s.get("v", 0) + 0.01 * g * g
    return p - lr * g / (np.sqrt(s["v"]) + 1e-8)


def moments(g, s, t, eps):
    s["m"] = 0.9 * s.get("m", 0) + 0.1 * g
    s["v"] = 0.999 * s.get("v", 0) + 0.001 * g * g
    return s["m"] / (1 - 0.9**t) / (np.sqrt(s["v"] / (1 - 0.999**t)) + eps)


def adam(p, g, s, t, lr=0.01):
    return p - lr * moments(g, s, t, 1e-8)


def adamw(p, g, s, t, lr=0.01, decay=0.1):
    return (1 - lr * decay) * p - lr * moments(g, s, t, 1e-8)


def decayed_matrices(p, g, s, t):
    return adamw(p, g, s, t, decay=0.1 if p.ndim > 1 else 0)


def lion(p, g, s, t, lr=0.01, decay=0.1):
    m = s.get("m", np.zeros_like(p))
    s["m"] = 0.99 * m + 0.01 * g
    return p - lr * (np.sign(0.9 * m + 0.1 * g) + decay * p)


def lamb(p, g, s, t, lr=0.01, decay=0.01):
    r = moments(g, s, t, 1e-6) + decay * p
    a, b = np.linalg.norm(p), np.linalg.norm(r)
    return p - lr * (a / b if a > 0 and b > 0 else 1) * r


def rms(x):
    return math.sqrt(np.mean(x * x))


def adafactor(p, g, s, t):
    beta = 1 - t**-0.8
    square = g * g + 1e-30
    if p.ndim > 1:
        s["r"] = beta * s.get("r", 0) + (1 - beta) * square.sum(1)
        s["c"] = beta * s.get("c", 0) + (1 - beta) * square.sum(0)
        v = np.outer(s["r"], s["c"]) / s["r"].sum()
    else:
        v = s["v"] = beta * s.get("v", 0) + (1 - beta) * square
    u = g / np.sqrt(v)
    u = u / max(1, rms(u))
    return p - max(1e-3, rms(p)) * min(1e-2, 1 / math.sqrt(t)) * u


def orthogonal(x):
    if x.shape[0] > x.shape[1]:
        return orthogonal(x.T).T
    x = x / (np.linalg.norm(x) + 1e-7)
    for _ in range(5):
        a = x @ x.T
        x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
    return x


def muon(p, g, s, t, lr=0.02):
    s["v"] = 0.95 * s.get("v", 0) + g
    scale = max(1, p.shape[0] / p.shape[1]) ** 0.5
    return p - lr * scale * orthogonal(g + 0.95 * s["v"])


RULES = {
    "sgd(lr = 0.1)": (sgd, lambda ps: torch.optim.SGD(ps, lr=0.1)),
    "momentum(lr = 0.1)": (momentum, lambda ps: torch.optim.SGD(ps, lr=0.1, momentum=0.9)),
    "nesterov(lr = 0.1)":
        (nesterov, lambda ps: torch.optim.SGD(ps, lr=0.1, momentum=0.9, nesterov=True)),
    "adagrad(lr = 0.1)": (adagrad, lambda ps: torch.optim.Adagrad(ps, lr=0.1)),
    "rmsprop(lr = 0.01)": (rmsprop, lambda ps: torch.optim.RMSprop(ps, lr=0.01)),
    "adam(lr = 0.01)": (adam, lambda ps: torch.optim.Adam(ps, lr=0.01)),
    "adam(lr = rate)": (adam, None),
    "adamw(lr = 0.01, weight_decay = 0.1)":
        (adamw, lambda ps: torch.optim.AdamW(ps, lr=0.01, weight_decay=0.1)),
    "adamw(lr = 0.01, weight_decay = 0.1, no_decay = [\"*/b\"])": (decayed_matrices, None),
    "adamw(lr = 0.01, weight_decay = 0.1, no_decay = \"*\")": (adam, None),
    "lion(lr = 0.01, weight_decay = 0.1)": (lion, None),
    "lamb(lr = 0.01)": (lamb, None),
    "adafactor()": (adafactor, None),
    "muon()": (muon, None),
}

# What stands in the program, what does the same, and where the norm of gradients is clipped.
WAYS = [(f"minimize loss with optim.{rule}", *same, math.inf) for rule, same in RULES.items()]
WAYS.append((f'optim.minimize_clipped(loss, params("*"), optim.sgd, {LIMIT})',
                 *RULES["sgd(lr = 0.1)"], LIMIT))


def gradients(params, x, target):
    y = x @ params[0] + (params[1] if len(params) > 1 else 0)
    dy = 2 * (y - target) / y.size
    return [x.T @ dy, dy.sum(0)][:len(params)]


def by_numpy(update, params, x, target, limit=math.inf):
    states = [{} for _ in params]
    for t in range(1, STEPS + 1):
        grads = gradients(params, x, target)
        norm = math.sqrt(sum(np.square(g).sum() for g in grads))
        grads = [g * min(1, limit / norm) for g in grads]
        params = [update(p, g, s, t) for p, g, s in zip(params, grads, states)]
    return params[0]


def by_torch(make, params, x, target, limit=math.inf):
    params = [torch.tensor(p, requires_grad=True) for p in params]
    optimizer = make(params)
    for _ in range(STEPS):
        grads = gradients([p.detach().numpy() for p in params], x, target)
        for p, g in zip(params, grads):
            p.grad = torch.tensor(g)
        torch.nn.utils.clip_grad_norm_(params, limit)
        optimizer.step()
    return params[0].detach().numpy()


def by_mtf(mtf, folder, step, bias):
    text = PROGRAM.replace("STEPS", str(STEPS)).replace("LAST", str(STEPS - 1))
    text = text.replace("STEP", step).replace("PLUS", "+ b" if bias else "")
    text = text.replace("BIAS", "param b : f64[col] = zeros" if bias else "")
    with open(os.path.join(folder, "step.mtf"), "w", encoding="utf-8") as file:
        file.write(text)
    subprocess.run([mtf, "run", "step.mtf"], check=True, cwd=folder)
    return np.load(os.path.join(folder, "found.npy"))


def main(mtf):
    random = np.random.default_rng(1)
    x, target, w = (random.standard_normal(shape) for shape in ((8, 6), (8, 4), (6, 4)))
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for name, array in (("x", x), ("target", target), ("w", w)):
            np.save(os.path.join(folder, name + ".npy"), array)
        for step, update, make, limit in WAYS:
            bias = update is not muon  # which is for matrices
            params = [w, np.zeros(4)] if bias else [w]
            found = by_mtf(mtf, folder, step, bias)
            wanted = [by_numpy(update, params, x, target, limit)]
            if torch is not None and make is not None:
                wanted.append(by_torch(make, params, x, target, limit))
            for other in wanted:
                error = np.abs(found - other).max()
                if not error < 1e-6:
                    print(f"{step}: {error} off")
                    failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))

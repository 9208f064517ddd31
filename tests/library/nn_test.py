#!/usr/bin/python3
"""Layers and losses of the library, under a layout that splits their dims, against NumPy.

  nn_test.py MTF
"""

import os
import subprocess
import sys
import tempfile

import numpy as np

PROGRAM = """\
import nn
dim batch = 4, length = 6, io = 8, hidden = 12, vocab = 10
mesh grid = [x: 2, y: 2]
layout both on grid { batch -> x, io, vocab -> y }
use layout both
let x = load("x.npy", [batch, length, io])
let logits = load("logits.npy", [batch, vocab])
let labels = load("labels.npy", [batch])
let soft = load("soft.npy", [batch, vocab])
model net(x: f64[batch, length, io]) {
  let dense = nn.dense(x, io, hidden)
  let swish = nn.glu(x, io, hidden)
  let layer = nn.layer_norm(x, io)
  let root = nn.rms_norm(x, io)
  let group = nn.group_norm(x, io, length, groups = 2)
  let moving = nn.batch_norm(x, io, [batch, length])
  return dense, swish, layer, root, group, moving
}
let dense, swish, layer, root, group, moving = net(x)
CALLS
"""

CALLS = {
    "layer": "layer", "root": "root", "group": "group", "moving": "moving",
    "hard": "nn.softmax_cross_entropy(logits, labels, vocab)",
    "zed": "nn.softmax_cross_entropy(logits, labels, vocab, z_loss = 0.01, label_smoothing = 0.1)",
    "by_soft": "nn.softmax_cross_entropy(logits, soft, vocab)",
    "large": "nn.softmax_cross_entropy(1e4 * logits, labels, vocab)",
    "beyond": "nn.softmax_cross_entropy(logits, labels + 5, vocab)",
    "left_out": "nn.masked_mean(nn.softmax_cross_entropy(logits, labels - 5, vocab), labels >= 5)",
    "sigmoid": "nn.sigmoid_cross_entropy(1e4 * logits, soft)",
    "mse": "nn.mse(logits, soft)",
    "huber": "nn.huber(logits, soft, delta = 0.5)",
    "masked": "nn.masked_mean(logits / cast(soft != 0, f64), soft != 0)",
    "masked_rows": "nn.masked_mean(logits, labels > 3)",
    "accuracy": "nn.accuracy(logits, labels, vocab)",
    "perplexity": "nn.perplexity(nn.softmax_cross_entropy(logits, labels, vocab))",
    "confusion": "nn.confusion(logits, labels, vocab, [found: 10])",
}


def logsumexp(x):
    top = x.max(-1, keepdims=True)
    return np.log(np.exp(x - top).sum(-1)) + top[..., 0]


def standardized(x, axes):
    centred = x - x.mean(axes, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(axes, keepdims=True) + 1e-5)


def wanted(x, logits, labels, soft):
    rows = np.arange(4)
    at = logits[rows, labels]
    z = logsumexp(logits)
    far = np.abs(logits - soft)
    confusion = np.zeros((10, 10))
    np.add.at(confusion, (labels, logits.argmax(1)), 1)
    with np.errstate(over="ignore"):
        sigmoid = np.logaddexp(0, 1e4 * logits) - 1e4 * logits * soft
    return {
        "layer": standardized(x, 2),
        "root": x / np.sqrt((x * x).mean(2, keepdims=True) + 1e-6),
        "group": np.concatenate([standardized(part, (1, 2)) for part in np.split(x, 2, 2)], 2),
        "moving": standardized(x, (0, 1)),
        "hard": z - at,
        "zed": 0.9 * (z - at) + 0.1 * (z - logits.mean(1)) + 0.01 * z * z,
        "by_soft": z - (logits * soft).sum(1),
        "large": logsumexp(1e4 * logits) - 1e4 * at,
        "beyond": np.where(labels < 5, z - logits[rows, (labels + 5) % 10], np.inf),
        "left_out": (z - logits[rows, (labels - 5) % 10])[labels >= 5].mean(),
        "sigmoid": sigmoid,
        "mse": (logits - soft) ** 2,
        "huber": np.where(far <= 0.5, far * far / 2, 0.5 * (far - 0.25)),
        "masked": logits[soft != 0].mean(),
        "masked_rows": logits[labels > 3].mean(),
        "accuracy": (logits.argmax(1) == labels).mean(),
        "perplexity": np.exp((z - at).mean()),
        "confusion": confusion,
    }


def main(mtf):
    random = np.random.default_rng(1)
    soft = random.random((4, 10)) * (random.random((4, 10)) < 0.6)
    soft /= soft.sum(1, keepdims=True)
    given = {"x": random.standard_normal((4, 6, 8)), "logits": random.standard_normal((4, 10)),
             "labels": random.integers(0, 10, 4).astype(np.int32), "soft": soft}
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for name, array in given.items():
            np.save(os.path.join(folder, name + ".npy"), array)
        writes = [f'write("{name}.npy", {call})' for name, call in CALLS.items()]
        with open(os.path.join(folder, "layers.mtf"), "w", encoding="utf-8") as file:
            file.write(PROGRAM.replace("CALLS", "\n".join(writes)))
        subprocess.run([mtf, "run", "layers.mtf"], check=True, cwd=folder)
        for name, array in wanted(**given).items():
            found = np.load(os.path.join(folder, name + ".npy"))
            if not np.allclose(found, array, rtol=1e-6, atol=1e-9):
                print(f"{name}: {found} for {array}")
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))

#!/usr/bin/python3
"""Mixtures of experts of the library against loops over tokens in NumPy: which slots they get, what
comes of them, the losses; two all-to-alls forward and two backward; NaN in tokens that are left out
reaches nothing; the same bits under each layout.

  moe_test.py MTF
"""

import os
import sys

import numpy as np

import library

PROGRAM = """\
import moe
dim group = 4, token = 8, d_model = 8, expert = 8, d_ff = 16
mesh grid = [x: 2, y: 4]
layout none on grid { }
layout experts on grid { group, expert -> y }
layout both on grid { group, expert -> y; d_ff -> x }
layout wide on grid { group -> x; d_ff -> y }
layout every on grid { group -> y; expert -> (y, x) }
layout tokens on grid { token -> y; d_model -> x }
model nets(x: TYPE[group, token, d_model], mask: bool[group, token]) {
  let first, first_loss = moe.experts(x, group, token, d_model, expert, d_ff, top = 1) as "first"
  let second, second_loss = moe.experts(x, group, token, d_model, expert, d_ff) as "second"
  let third, third_loss = moe.experts(x, group, token, d_model, expert, d_ff, top = 3, factor = 0.5,
                                      masks = [mask]) as "third"
  let by_choice = moe.expert_choice(x, group, token, d_model, expert, d_ff)
  let some = moe.expert_choice(x, group, token, d_model, expert, d_ff, masks = [mask])
  return [first, second, third, by_choice, some], [first_loss, second_loss, third_loss]
}
"""
RUN = """\
let x = load("x.npy", [group, token, d_model])
let mask = load("mask.npy", [group, token]) > 0
let ys, losses = nets(x, mask)
let nan = log(const([], -1.0, dtype = f64))
let holed = where(mask, x, nan)
let after, after_losses = nets(holed, mask)
fn slopes(x: f64[group, token, d_model], mask: bool[group, token]) {
  let ys, losses = nets(x, mask)
  let loss = sum(square(ys[2])) + sum(square(ys[4])) + losses[2]
  return grad(loss, params("nets/third") + params("nets/some") + [x])
}
let with_nan = slopes(holed, mask)
let without = slopes(where(mask, x, 0), mask)
for i in 0..len(without) { assert all(with_nan[i] == without[i]), "gradient {i}" }
assert all(after[2] == ys[2]) and all(after[4] == ys[4]), "values"
"""
COSTS = """\
model switch(x: f32[group, token, d_model]) {
  expect under experts { all_to_all(y) = 2, collectives = 2 }
  let y, loss = moe.experts(x, group, token, d_model, expert, d_ff)
  return y
}
model choice(x: f32[group, token, d_model]) {
  expect under experts { all_to_all(y) = 2, collectives = 2 }
  return moe.expert_choice(x, group, token, d_model, expert, d_ff)
}
fn backward(x: f32[group, token, d_model]) {        # and the router's gradient, which all groups have
  expect under experts { all_to_all(y) = 4, all_reduce(y) = 1, collectives = 5 }
  return grad(sum(square(switch(x))), params(switch) + [x])
}
"""
NAMES = ["first", "second", "third", "by_choice", "some"]
PARTS = {"router": "router/w", "w_in": "experts/w_in", "w_out": "experts/w_out"}


def program():
    lines = [PROGRAM.replace("TYPE", "f64"), RUN]
    for i, name in enumerate(NAMES):
        lines.append(f'write("{name}.npy", ys[{i}])')
        lines += [f'write("{name}_{w}.npy", nets."{name}/{path}")' for w, path in PARTS.items()]
    lines += [f'write("{name}_loss.npy", losses[{i}])' for i, name in enumerate(NAMES[:3])]
    return "\n".join(lines)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def expert_of(x, w_in, w_out, e):
    return np.maximum(x @ w_in[e], 0) @ w_out[e]


def tokens_choose(x, w, top, factor, mask):
    """The result and the loss."""
    groups, tokens, experts = x.shape[0], x.shape[1], w["router"].shape[1]
    slots = min(-(-int(tokens * top * factor * 1000) // (experts * 1000)), tokens)
    y, fractions = np.zeros_like(x), np.zeros((groups, experts))
    x = np.where(mask[..., None], x, 0)
    logits = x @ w["router"]
    p = softmax(logits)
    for g in range(groups):
        used = np.zeros(experts, int)
        order = np.argsort(-p[g], axis=-1, kind="stable")[:, :top]
        for k in range(top):
            for t in range(tokens):
                if not mask[g, t]:
                    continue
                e = order[t, k]
                fractions[g, e] += (k == 0) / tokens
                used[e] += 1
                if used[e] <= slots:
                    share = p[g, t, e] / (p[g, t, order[t]].sum() if top > 1 else 1)
                    y[g, t] += share * expert_of(x[g, t], w["w_in"], w["w_out"], e)
    z = np.log(np.exp(logits).sum(-1))
    uneven = (fractions * p.mean(1)).sum(-1).mean()
    return y, 0.01 * experts * uneven + 0.001 * (z * z).mean()


def experts_choose(x, w, factor, mask):
    y, experts = np.zeros_like(x), w["router"].shape[1]
    x = np.where(mask[..., None], x, 0)
    gates = np.where(mask[..., None], softmax(x @ w["router"]), 0)
    slots = int(x.shape[1] * factor / experts)
    for g in range(x.shape[0]):
        for e in range(experts):
            for t in np.argsort(-gates[g, :, e], kind="stable")[:slots]:
                y[g, t] += gates[g, t, e] * expert_of(x[g, t], w["w_in"], w["w_out"], e)
    return y


def wanted(found, x, mask):
    result, all_tokens = {}, np.ones(mask.shape, bool)
    options = {"first": (1, 1.25, all_tokens), "second": (2, 1.25, all_tokens),
               "third": (3, 0.5, mask > 0)}
    for name in NAMES:
        w = {part: found[f"{name}_{part}"] for part in PARTS}
        if name in options:
            result[name], result[name + "_loss"] = tokens_choose(x, w, *options[name])
        else:
            result[name] = experts_choose(x, w, 2.0, mask > 0 if name == "some" else all_tokens)
    return result


def main(mtf):
    random = np.random.default_rng(1)
    given = {"x": random.standard_normal((4, 8, 8)),
             "mask": (random.random((4, 8)) < 0.8).astype(np.int32)}
    found = library.run(mtf, program(), given, ["none", "experts", "both", "wide", "every", "tokens"])
    failed = library.differences(found, wanted(found, **given))
    costs = PROGRAM[:PROGRAM.index("model nets")] + COSTS
    library.command(mtf, ["check", "-"], costs)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))

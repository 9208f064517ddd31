#!/usr/bin/python3
"""Attention of the library against a dense masked one in NumPy: values and, for the forms that have
gradients of their own, gradients; the same bits under each layout, both axes of a 2x4 mesh in use.

  attention_test.py MTF
"""

import json
import os
import sys

import numpy as np

import library

PROGRAM = """\
import attention
dim batch = 4, length = 16, d_model = 8, groups = 4, each = 2, head = 6, source = 6, classes = 3
mesh grid = [x: 2, y: 4]
layout none on grid { }
layout batch_heads on grid { batch -> x; groups -> y }
layout length_heads on grid { length, block -> x; groups -> y }
layout length_batch on grid { length, block -> y; batch -> x }
layout keys on grid { memory -> x; d_model -> y }
layout many on grid { batch -> y; each -> x }
let heads = [groups, each]
let x = load("x.npy", [batch, length, d_model])
let y = load("y.npy", [batch, source, d_model])
let ids = load("ids.npy", [batch, length])
let valid = load("valid.npy", [batch, length]) > 0
fn plain(x, ids, valid) {
  dim memory = size(length)
  let bias = attention.relative_bias(length, memory, heads, buckets = 8, far = 16)
  let one_way = attention.relative_bias(length, memory, heads, causal = true, buckets = 4, far = 6)
  let full = attention.self_attention(x, length, d_model, heads, head)
  let causal = attention.self_attention(x, length, d_model, heads, head, causal = true)
  let grouped = attention.self_attention(x, length, d_model, heads, head, kv_heads = groups)
  let single = attention.self_attention(x, length, d_model, heads, head, kv_heads = [])
  let rotary = attention.self_attention(x, length, d_model, heads, head, rotate = true)
  let padded = attention.self_attention(x, length, d_model, heads, head,
                                        masks = [attention.padding_mask(valid, length, memory)])
  let packed = attention.self_attention(x, length, d_model, heads, head, causal = true,
                                        masks = [attention.segment_mask(ids, length, memory)])
  let biased = attention.self_attention(x, length, d_model, heads, head,
                                        biases = [cast(bias, f64), cast(one_way, f64)])
  return [full, causal, grouped, single, rotary, padded, packed, biased, bias, one_way]
}
fn others(x, y) {
  let cross = attention.cross_attention(x, y, source, d_model, heads, head, kv_heads = groups)
  let local = attention.self_attention(x, length, d_model, heads, head, kv_heads = groups,
                                       window = 2, causal = true)
  let around = attention.self_attention(x, length, d_model, heads, head, window = 4)
  let blocks = attention.self_attention(x, length, d_model, heads, head, blocks = 4)
  let ring = attention.self_attention(x, length, d_model, heads, head, kv_heads = groups,
                                      blocks = 4, causal = true, rotate = true)
  return [cross, local, around, blocks, ring]
}
model net(x: f64[batch, length, d_model], y: f64[batch, source, d_model], ids: i32[batch, length],
          valid: bool[batch, length]) {
  let plain = plain(x, ids, valid)
  let others = others(x, y)
  return plain + others
}
fn gradients(x: f64[batch, length, d_model], y: f64[batch, source, d_model],
             ids: i32[batch, length], valid: bool[batch, length]) {
  let ring = net(x, y, ids, valid)[14]
  return grad(sum(ring * ring), [net."others/ring/wq", net."others/ring/wk", net."others/ring/wv", x])
}
model step(x: f64[batch, d_model]) {
  return attention.cached_attention(x, size(length), d_model, heads, head, kv_heads = groups, rotate = true)
}
let found = net(x, y, ids, valid)
let grads = gradients(x, y, ids, valid)
var cached = []
for i in 0..size(length) { cached = cached + [step(x[length: i])] }
write("cached.npy", stack(cached, length))
WRITES
"""

NAMES = ["full", "causal", "grouped", "single", "rotary", "padded", "packed", "biased", "bias",
         "one_way", "cross", "local", "around", "blocks", "ring"]
LAYOUTS = ["none", "batch_heads", "length_heads", "length_batch", "keys", "many"]
L = 16


def program():
    writes = [f'write("{name}.npy", found[{i}])' for i, name in enumerate(NAMES)]
    writes += [f'write("d_{name}.npy", grads[{i}])' for i, name in enumerate("qkvx")]
    for owner, call in [("net", "plain/" + name) for name in NAMES[:8]] + \
            [("net", "others/" + name) for name in NAMES[10:]] + [("step", "")]:
        for w in ("wq", "wk", "wv", "wo"):
            path = f"{call}/{w}" if call else w
            name = (call.split("/")[-1] or "cached") + "_" + w
            writes.append(f'write("{name}.npy", {owner}."{path}")')
    writes += ['write("table.npy", net."plain/bias/table")',
               'write("one_way_table.npy", net."plain/one_way/table")']
    return PROGRAM.replace("WRITES", "\n".join(writes))


def rotary(x):
    """x[batch, length, .., head]"""
    half = x.shape[-1] // 2
    angle = np.arange(x.shape[1])[:, None] * 10000.0 ** (-np.arange(half) / half)
    angle = angle.reshape((1, x.shape[1]) + (1,) * (x.ndim - 3) + (half,))
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * np.cos(angle) - b * np.sin(angle),
                           b * np.cos(angle) + a * np.sin(angle)], -1)


def dense(x, y, w, mask, rotate=False, bias=0.0):
    """Every form at once: keys and values repeated for all heads, scores masked."""
    q = np.einsum("bld,dgeh->blgeh", x, w["wq"])
    k, v = (np.einsum("bmd,d...h->bm...h", y, w[name]) for name in ("wk", "wv"))
    if rotate:
        q, k = rotary(q), rotary(k)
    while k.ndim < 5:
        k, v = (np.repeat(t[..., None, :], 2 if t.ndim == 4 else 4, -2) for t in (k, v))
    scores = np.einsum("blgeh,bmgeh->bgelm", q, k) / np.sqrt(q.shape[-1]) + bias
    scores = np.where(mask, scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return np.einsum("bgelm,bmgeh,gehd->bld", weights, v, w["wo"])


def bucket(ahead, one_way, buckets, far):
    half = buckets if one_way else buckets // 2
    away = max(ahead, 0) if one_way else abs(ahead)
    exact = half // 2
    at = away
    if away >= exact:
        at = min(exact + int(np.log(away / exact) / np.log(far / exact) * (half - exact)), half - 1)
    return at + (half if not one_way and ahead < 0 else 0)


def bias_of(table, one_way, buckets, far):
    at = [[bucket(i - j, one_way, buckets, far) for j in range(L)] for i in range(L)]
    return table[np.array(at)]


def wanted(found, x, y, ids, valid):
    ahead = np.arange(L)[:, None] - np.arange(L)
    causal = ahead >= 0
    tables = (bias_of(found["table"], False, 8, 16), bias_of(found["one_way_table"], True, 4, 6))
    bias = (tables[0] + tables[1]).transpose(2, 3, 0, 1)
    masks = {
        "full": True, "causal": causal, "grouped": True, "single": True, "rotary": True,
        "padded": valid[:, None, None, None, :] > 0,
        "packed": causal & (ids[:, :, None] == ids[:, None, :])[:, None, None],
        "biased": True, "local": causal & (ahead < 2), "around": np.abs(ahead) < 4,
        "blocks": True, "ring": causal, "cached": causal, "cross": True}
    result = {"bias": tables[0], "one_way": tables[1]}
    for name, mask in masks.items():
        w = {part: found[f"{name}_{part}"] for part in ("wq", "wk", "wv", "wo")}
        other = y if name == "cross" else x
        result[name] = dense(x, other, w, mask, rotate=name in ("rotary", "ring", "cached"),
                             bias=bias if name == "biased" else 0.0)
    result["cached"] = result["cached"].transpose(1, 0, 2)
    return result


def slope(found, x, name, at):
    """The gradient of the sum of squares of `ring` by one element, by differences."""
    causal = np.arange(L)[:, None] >= np.arange(L)
    values = []
    for step in (1e-6, -1e-6):
        w = {part: found[f"ring_{part}"].copy() for part in ("wq", "wk", "wv", "wo")}
        moved = x.copy()
        target = moved if name == "x" else w["w" + name]
        target[at] += step
        values.append((dense(moved, moved, w, causal, rotate=True) ** 2).sum())
    return (values[0] - values[1]) / 2e-6


LONG = """\
import attention
dim length = 16384, heads = 4, head = 64, d_model = 256
mesh one = [x: 1]
layout alone on one { }
model net(x: f32[length, d_model]) {
  return attention.self_attention(x, length, d_model, heads, head, causal = true, blocks = BLOCKS)
}
fn step(x: f32[length, d_model]) { return grad(sum(square(net(x))), net) }
"""

RING = """\
import attention
dim batch = 4, length = 32, d_model = 8, heads = 4, head = 4
mesh grid = [x: 4, y: 2]
layout ring on grid { length, block -> x; heads -> y }
layout rows on grid { batch -> x; heads -> y }
model around(x: f32[batch, length, d_model]) {
  expect under ring { halo_exchange(x) = 6, all_reduce(y) = 1, collectives = 7 }
  return attention.self_attention(x, length, d_model, heads, head, causal = true, blocks = 4)
}
fn backward(x: f32[batch, length, d_model]) {       # keys, values and, once more, their gradients
  expect under ring { halo_exchange(x) = 6 + 6 + 8, all_gather = 0, all_to_all = 0 }
  return grad(sum(square(around(x))), around)
}
model window(x: f32[batch, length, d_model]) {
  expect under ring { halo_exchange(x) = 2, all_reduce(y) = 1, collectives = 3 }
  return attention.self_attention(x, length, d_model, heads, head, causal = true, window = 8)
}
"""


def peak(mtf, blocks):
    text = library.command(mtf, ["cost", "--json", "-", "step"], LONG.replace("BLOCKS", str(blocks)))
    return json.loads(text)["one_rank"]["totals"]["peak_bytes"]


def main(mtf):
    random = np.random.default_rng(1)
    given = {"x": random.standard_normal((4, L, 8)), "y": random.standard_normal((4, 6, 8)),
             "ids": np.array([[0] * 3 + [1] * 6 + [2] * 7] * 2 + [[0] * 16, [3] * 8 + [4] * 8],
                             np.int32),
             "valid": (np.arange(L) < np.array([16, 9, 3, 1])[:, None]).astype(np.int32)}
    found = library.run(mtf, program(), given, LAYOUTS)
    failed = library.differences(found, wanted(found, **given), atol=1e-8)  # the bias is f32
    for name, at in (("q", (1, 2, 1, 3)), ("k", (5, 1, 2)), ("v", (7, 0, 5)), ("x", (1, 3, 4))):
        gradient = found["d_" + name][at]
        difference = slope(found, given["x"], name, at)
        if not abs(gradient - difference) < 1e-6 * max(1, abs(difference)):
            print(f"gradient by {name}: {gradient} for {difference}")
            failed += 1
    library.command(mtf, ["check", "-"], RING)
    plain, linear = peak(mtf, 0), peak(mtf, 64)
    if not (linear < 2**30 and 4 * 2**30 < plain < 16 * 2**30):
        print(f"of length 16,384: {linear / 2**30} GiB by blocks, {plain / 2**30} GiB plain")
        failed += 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))

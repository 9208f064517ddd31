#!/usr/bin/python3
"""Transformer layers, recurrent layers and initial values of the library against NumPy, under layouts
that use both axes of a 2x4 mesh, to the same bits; two all-reduces a layer each way under Megatron's.

  layers_test.py MTF
"""

import os
import sys

import numpy as np

import library

PROGRAM = """\
import transformer
import recurrent
import init
import nn
dim batch = 4, length = 8, source = 6, d_model = 8, d_ff = 16, heads = 4, head = 4, hidden = 8
dim expert = 4, d_expert = 16, fan = 256, out = 64, vocab = 12, row = 6, col = 6, f_h = 3, f_w = 3
mesh grid = [x: 2, y: 4]
layout none on grid { }
layout megatron on grid { batch -> x; heads, d_ff, hidden, vocab, out, expert -> y }
layout wide on grid { batch -> y; d_model -> x }
layout both on grid { length -> x; heads, d_ff -> y }
layout rest on grid { batch -> x; heads, d_ff -> (y, *); d_model -> * }
let x = load("x.npy", [batch, length, d_model])
let y = load("y.npy", [batch, source, d_model])
let ids = load("ids.npy", [batch, length])
let image = load("image.npy", [batch, row, col, d_model])
model coder(x: f64[batch, length, d_model], y: f64[batch, source, d_model]) {
  fn encode(h) { return transformer.layer(h, source, d_model, d_ff, heads, head, feed = "swiglu", norm = "rms") }
  let encoded = transformer.stack_of(y, encode, 2)
  fn decode(h) { return transformer.cross_layer(h, encoded, length, source, d_model, d_ff, heads, head) }
  let decoded = transformer.stack_of(x, decode, 2, recomputed = true)
  let post = transformer.layer(x, length, d_model, d_ff, heads, head, post = true, causal = true)
  return [encoded, decoded, post]
}
model sparse(x: f64[batch, length, d_model]) {
  fn layer(h) { return transformer.switch_layer(h, batch, length, d_model, d_expert, expert, heads, head) }
  let y, loss = transformer.stack_with_losses(x, layer, 2, recomputed = true) as "stack"
  return y, loss
}
model recurrent_net(x: f64[batch, length, d_model]) {
  let lstm, a = recurrent.lstm(x, length, d_model, hidden) as "lstm"
  let gru, b = recurrent.gru(x, length, d_model, hidden) as "gru"
  let more, c = recurrent.gru(x, length, d_model, hidden, state = b) as "more"
  return [lstm, gru, more], a + b
}
model simple(x: f64[batch, length, d_model], ids: i32[batch, length],
             image: f64[batch, row, col, d_model]) {
  let dense = nn.dense(x, d_model, hidden)
  let glu = nn.glu(x, d_model, hidden, gate = "gelu", bias = true)
  let rows = nn.embedding(ids, vocab, d_model)
  let conv = nn.convolution(image, [row, col], [f_h, f_w], d_model, hidden)
  let block = nn.conv_block(image, batch, [row, col], [f_h, f_w], d_model, hidden)
  return [dense, glu, conv, block], rows
}
fn slopes(x: f64[batch, length, d_model]) {
  let y, loss = sparse(x)
  return grad(sum(square(y)) + loss, [x, sparse."stack/layer_0/attention/wq", sparse."stack/layer_1/moe/experts/w_in"])
}
let coded = coder(x, y)
let sparse_y, sparse_loss = sparse(x)
let outputs, states = recurrent_net(x)
let layers, rows = simple(x, ids, image)
let drawn = [init.lecun_normal([fan, out], fan), init.lecun_uniform([fan, out], fan),
             init.glorot_normal([fan, out], fan, out), init.glorot_uniform([fan, out], fan, out),
             init.he_normal([fan, out], fan), init.he_uniform([fan, out], fan)]
let by = slopes(x)
write("encoded.npy", coded[0])
write("decoded.npy", coded[1])
write("post.npy", coded[2])
write("sparse.npy", sparse_y)
write("sparse_loss.npy", sparse_loss)
write("dx.npy", by[0])
write("dwq.npy", by[1])
write("dw_in.npy", by[2])
write("lstm.npy", outputs[0])
write("gru.npy", outputs[1])
write("more.npy", outputs[2])
write("lstm_h.npy", states[0])
write("lstm_c.npy", states[1])
write("gru_h.npy", states[2])
write("dense.npy", layers[0])
write("glu.npy", layers[1])
write("conv.npy", layers[2])
write("block.npy", layers[3])
write("rows.npy", rows)
write("sines.npy", transformer.sinusoids(length, d_model))
"""
COSTS = """\
import transformer
dim batch = 4, length = 8, d_model = 8, d_ff = 16, heads = 4, head = 4
mesh grid = [x: 2, y: 4]
layout megatron on grid { heads, d_ff -> y }
model net(x: f32[batch, length, d_model]) {
  expect { all_reduce(y) = 2 * 3, collectives = 6 }
  fn layer(h) { return transformer.layer(h, length, d_model, d_ff, heads, head, causal = true) }
  return transformer.stack_of(x, layer, 3)
}
fn step(x: f32[batch, length, d_model]) {
  expect { all_reduce(y) = 4 * 3, collectives = 12 }
  return grad(sum(square(net(x))), params(net) + [x])
}
"""


def paths(prefix, names):
    return {f"{prefix}_{name.replace('/', '_')}": name for name in names}


PARAMS = {"coder": [], "recurrent_net": [], "simple": []}
ATTENTION = ["wq", "wk", "wv", "wo"]
for i in range(2):
    layer = f"encoded/layer_{i}/"
    PARAMS["coder"] += [layer + "attention/" + w for w in ATTENTION + ["norm/scale"]]
    PARAMS["coder"] += [layer + "feed_forward/" + w for w in ("w_in", "w_out", "w_gate", "norm/scale")]
    layer = f"decoded/layer_{i}/"
    for part in ("attention", "cross_attention"):
        PARAMS["coder"] += [layer + part + "/" + w for w in ATTENTION]
    PARAMS["coder"] += [layer + "feed_forward/" + w for w in ("w_in", "w_out")]
PARAMS["coder"] += ["post/attention/" + w for w in ATTENTION]
PARAMS["coder"] += ["post/feed_forward/" + w for w in ("w_in", "w_out")]
PARAMS["recurrent_net"] = [f"{kind}/{w}" for kind in ("lstm", "gru", "more") for w in ("w", "u")]
PARAMS["simple"] = ["dense/w", "glu/linear/w", "glu/gated/w", "rows/table", "conv/kernel",
                    "block/conv/kernel"]


def program():
    lines = [PROGRAM]
    for owner, names in PARAMS.items():
        lines += [f'write("{key}.npy", {owner}."{path}")' for key, path in paths(owner, names).items()]
    for i in range(6):
        lines.append(f'write("drawn_{i}.npy", drawn[{i}])')
    return "\n".join(lines)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attend(x, y, w, causal=False):
    q, k, v = (np.einsum("bld,dhe->blhe", t, w[n]) for t, n in ((x, "wq"), (y, "wk"), (y, "wv")))
    scores = np.einsum("blhe,bmhe->bhlm", q, k) / 2
    if causal:
        scores = np.where(np.tri(x.shape[1], dtype=bool), scores, -np.inf)
    return np.einsum("bhlm,bmhe,hed->bld", softmax(scores), v, w["wo"])


def layer_norm(x):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)


def rms_norm(x):
    return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gelu(x):
    return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def relu_layer(x, w):
    return np.maximum(x @ w["w_in"], 0) @ w["w_out"]


def swiglu_layer(x, w):
    gate = x @ w["w_gate"]
    return (x @ w["w_in"] * gate * sigmoid(gate)) @ w["w_out"]


def coders(found, x, y):
    def part(path):
        start = "coder_" + path.replace("/", "_") + "_"
        return {key[len(start):]: value for key, value in found.items() if key.startswith(start)}

    encoded, decoded = y, x
    for i in range(2):
        w = part(f"encoded/layer_{i}/attention")
        encoded = encoded + attend(rms_norm(encoded), rms_norm(encoded), w)
        encoded = encoded + swiglu_layer(rms_norm(encoded), part(f"encoded/layer_{i}/feed_forward"))
    for i in range(2):
        at = f"decoded/layer_{i}/"
        h = layer_norm(decoded)
        decoded = decoded + attend(h, h, part(at + "attention"), causal=True)
        decoded = decoded + attend(layer_norm(decoded), encoded, part(at + "cross_attention"))
        decoded = decoded + relu_layer(layer_norm(decoded), part(at + "feed_forward"))
    post = layer_norm(x + attend(x, x, part("post/attention"), causal=True))
    post = layer_norm(post + relu_layer(post, part("post/feed_forward")))
    return {"encoded": encoded, "decoded": decoded, "post": post}


def lstm(x, w, u):
    h = c = np.zeros((x.shape[0], u.shape[0]))
    outputs = []
    for t in range(x.shape[1]):
        i, f, g, o = (x[:, t] @ w[:, k] + h @ u[:, k] for k in range(4))
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        outputs.append(h)
    return np.stack(outputs, 1), h, c


def gru(x, w, u, h):
    outputs = []
    for t in range(x.shape[1]):
        a, b = ([v @ m[:, k] for k in range(3)] for v, m in ((x[:, t], w), (h, u)))
        r, z = sigmoid(a[0] + b[0]), sigmoid(a[1] + b[1])
        h = (1 - z) * np.tanh(a[2] + r * b[2]) + z * h
        outputs.append(h)
    return np.stack(outputs, 1), h


def convolution(image, kernel):
    padded = np.pad(image, ((0, 0), (1, 1), (1, 1), (0, 0)))
    return sum(padded[:, i:i + 6, j:j + 6] @ kernel[i, j] for i in range(3) for j in range(3))


def wanted(found, x, y, ids, image):
    result = coders(found, x, y)
    net = {key[len("recurrent_net_"):]: value for key, value in found.items() if "recurrent_net" in key}
    result["lstm"], result["lstm_h"], result["lstm_c"] = lstm(x, net["lstm_w"], net["lstm_u"])
    none = np.zeros((4, 8))
    result["gru"], result["gru_h"] = gru(x, net["gru_w"], net["gru_u"], none)
    result["more"], _ = gru(x, net["more_w"], net["more_u"], result["gru_h"])
    result["dense"] = x @ found["simple_dense_w"]
    result["glu"] = x @ found["simple_glu_linear_w"] * gelu(x @ found["simple_glu_gated_w"])
    result["rows"] = found["simple_rows_table"][ids]
    result["conv"] = convolution(image, found["simple_conv_kernel"])
    block = convolution(image, found["simple_block_conv_kernel"])
    centred = block - block.mean((0, 1, 2))
    result["block"] = np.maximum(centred / np.sqrt((centred**2).mean((0, 1, 2)) + 1e-5), 0)
    angle = np.arange(8)[:, None] * 10000.0 ** (-np.arange(4) / 4)
    result["sines"] = np.concatenate([np.sin(angle), np.cos(angle)], 1)
    return result


def drawn_as_said(found):
    failed = 0
    for i, variance in enumerate((1 / 256, 1 / 256, 2 / 320, 2 / 320, 2 / 256, 2 / 256)):
        array = found[f"drawn_{i}"]
        limit = np.sqrt(3 * variance)  # of a uniform distribution
        if abs(array.var() / variance - 1) > 0.05 or (i % 2 == 1) != (np.abs(array).max() <= limit):
            print(f"initial values {i}: a variance of {array.var()} for {variance}")
            failed += 1
    return failed


def main(mtf):
    random = np.random.default_rng(1)
    given = {"x": random.standard_normal((4, 8, 8)), "y": random.standard_normal((4, 6, 8)),
             "ids": random.integers(0, 12, (4, 8)).astype(np.int32),
             "image": random.standard_normal((4, 6, 6, 8))}
    found = library.run(mtf, program(), given, ["none", "megatron", "wide", "both", "rest"])
    failed = library.differences(found, wanted(found, **given), rtol=1e-6, atol=1e-6)
    failed += drawn_as_said(found)
    library.command(mtf, ["check", "-"], COSTS)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))

#!/usr/bin/python3
"""Every operation against NumPy: one program reads .npy files, computes, and writes .npy files.

    numpy_test.py MTF      exits with 77 (skipped) where NumPy is missing
"""

import math
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    sys.exit(77)

A, B, C, V = 7, 5, 3, 6
DIMS = (f"dim a = {A}, b = {B}, c = {C}, vocab = {V}, joined = {A * B}, twice = {2 * A}\n"
        f"dim row = {B}, col = {B}, best = 3\n")


def inputs():
    draw = np.random.default_rng(1)
    x = draw.normal(size=(A, B)).astype(np.float32)
    special = x.copy()
    special[0] = [np.inf, -np.inf, np.nan, 0.0, -0.0]
    return {
        "x": ("a, b", x),
        "y": ("a, b", draw.normal(size=(A, B)).astype(np.float32)),
        "z": ("b, c", draw.normal(size=(B, C)).astype(np.float32)),
        "v": ("b", draw.normal(size=B).astype(np.float32)),
        "w": ("c", draw.normal(size=C).astype(np.float32)),
        "p": ("a, b", draw.uniform(0.2, 3, size=(A, B)).astype(np.float32)),
        "d": ("a, b", draw.normal(size=(A, B))),
        "s": ("a, b", special),
        "i": ("a, b", draw.integers(-20, 20, size=(A, B), dtype=np.int32)),
        "j": ("a, b", draw.integers(1, 6, size=(A, B), dtype=np.int32)),
        "l": ("a", draw.integers(-(2**40), 2**40, size=A, dtype=np.int64)),
        "h": ("a, b", draw.normal(scale=100, size=(A, B)).astype(np.float16)),
        "u": ("a", draw.integers(0, 255, size=A, dtype=np.uint8)),
        "t": ("a, b", draw.integers(0, 2, size=(A, B)).astype(bool)),
        "q": ("b", draw.integers(0, 2, size=B).astype(bool)),
        "ties": ("a, b", draw.integers(0, 3, size=(A, B)).astype(np.float32)),
        "m": ("c, row, col", draw.normal(size=(C, B, B)) + 3 * np.eye(B)),
        "tall": ("c, a, col", draw.normal(size=(C, A, B))),
        "side": ("c, row", draw.normal(size=(C, B))),
        "ids": ("a", draw.integers(0, V, size=A, dtype=np.int32)),
        "table": ("vocab, c", draw.normal(size=(V, C)).astype(np.float32)),
    }


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def scatter(n):
    sums = np.zeros((V, B), np.float32)
    np.add.at(sums, n.ids, n.x)
    return sums


def elu(x, alpha=1.0, scale=1.0):
    return (scale * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))).astype(x.dtype)


def erfc(x):
    return np.vectorize(math.erfc)(x.astype(np.float64)).astype(x.dtype)


def one_hot(ids, size):
    return (ids[:, None] == np.arange(size)).astype(np.float32)


# An expression of mtf, and the same in NumPy.
CASES = [
    ("x + y", lambda n: n.x + n.y),
    ("x - v", lambda n: n.x - n.v),
    ("v * x", lambda n: n.v * n.x),
    ("v * w", lambda n: n.v[:, None] * n.w),
    ("x * z", lambda n: n.x[:, :, None] * n.z),
    ("x / p", lambda n: n.x / n.p),
    ("2 * x - 1", lambda n: 2 * n.x - 1),
    ("-x", lambda n: -n.x),
    ("d * d + 0.5", lambda n: n.d * n.d + 0.5),
    ("i + j", lambda n: n.i + n.j),
    ("i // j", lambda n: n.i // n.j),
    ("i % j", lambda n: n.i % n.j),
    ("-i // j", lambda n: -n.i // n.j),
    ("i * i - 3", lambda n: n.i * n.i - 3),
    ("l * 3 // 7", lambda n: n.l * 3 // 7),
    ("x // p", lambda n: n.x // n.p),
    ("x % p", lambda n: n.x % n.p),
    ("p ** 2.5", lambda n: n.p ** np.float32(2.5)),
    ("p ** x", lambda n: n.p ** n.x),
    ("x ** 3", lambda n: n.x ** 3),
    ("minimum(x, y)", lambda n: np.minimum(n.x, n.y)),
    ("maximum(s, y)", lambda n: np.maximum(n.s, n.y)),
    ("x < y", lambda n: n.x < n.y),
    ("i <= j", lambda n: n.i <= n.j),
    ("isfinite(s)", lambda n: np.isfinite(n.s)),
    ("s > v", lambda n: n.s > n.v),
    ("s >= 0", lambda n: n.s >= 0),
    ("i == 3", lambda n: n.i == 3),
    ("s != s", lambda n: n.s != n.s),
    ("t and not q or x > 1", lambda n: n.t & ~n.q | (n.x > 1)),
    ("u == u", lambda n: n.u == n.u),
    ("exp(x)", lambda n: np.exp(n.x)),
    ("exp(d)", lambda n: np.exp(n.d)),
    ("exp(s)", lambda n: np.exp(n.s)),
    ("expm1(x)", lambda n: np.expm1(n.x)),
    ("log(p)", lambda n: np.log(n.p)),
    ("log1p(p)", lambda n: np.log1p(n.p)),
    ("sqrt(p)", lambda n: np.sqrt(n.p)),
    ("sqrt(s)", lambda n: np.sqrt(n.s)),
    ("rsqrt(p)", lambda n: 1 / np.sqrt(n.p)),
    ("reciprocal(p)", lambda n: 1 / n.p),
    ("square(x)", lambda n: np.square(n.x)),
    ("abs(s)", lambda n: np.abs(n.s)),
    ("abs(i)", lambda n: np.abs(n.i)),
    ("sign(s)", lambda n: np.sign(n.s)),
    ("sin(x)", lambda n: np.sin(n.x)),
    ("cos(d)", lambda n: np.cos(n.d)),
    ("tanh(s)", lambda n: np.tanh(n.s)),
    ("sigmoid(x)", lambda n: sigmoid(n.x)),
    ("relu(s)", lambda n: np.where(n.s < 0, 0, n.s).astype(np.float32)),
    ("silu(x)", lambda n: n.x * sigmoid(n.x)),
    ("gelu(x)", lambda n: n.x / 2 * (1 + np.tanh(0.7978845608 * (n.x + 0.044715 * n.x**3)))),
    ("softplus(x)", lambda n: np.log1p(np.exp(n.x))),
    ("log_sigmoid(x)", lambda n: -np.log1p(np.exp(-n.x))),
    ("log_sigmoid(d * 4)", lambda n: -np.logaddexp(0, -4 * n.d)),
    ("grad(sum(log_sigmoid(d)), d)", lambda n: sigmoid(-n.d)),
    ("tan(x)", lambda n: np.tan(n.x)),
    ("tan(d)", lambda n: np.tan(n.d)),
    ("asin(x / 4)", lambda n: np.arcsin(n.x / 4)),
    ("acos(d / 4)", lambda n: np.arccos(n.d / 4)),
    ("acos(s)", lambda n: np.arccos(n.s)),
    ("atan(s)", lambda n: np.arctan(n.s)),
    ("atan(d)", lambda n: np.arctan(n.d)),
    ("atan2(s, v)", lambda n: np.arctan2(n.s, n.v)),
    ("atan2(d, v64)", lambda n: np.arctan2(n.d, n.v.astype(np.float64))),
    ("atan2(s, s)", lambda n: np.arctan2(n.s, n.s)),
    ("sinh(s)", lambda n: np.sinh(n.s)),
    ("sinh(d)", lambda n: np.sinh(n.d)),
    ("cosh(s)", lambda n: np.cosh(n.s)),
    ("cosh(d)", lambda n: np.cosh(n.d)),
    ("erfc(s)", lambda n: erfc(n.s)),
    ("erfc(d * 4)", lambda n: erfc(n.d * 4)),
    ("floor(s)", lambda n: np.floor(n.s)),
    ("ceil(d)", lambda n: np.ceil(n.d)),
    ("round(x * 2) / 2 + round(cast(i, f32) / 2)",
     lambda n: np.round(n.x * 2) / 2 + np.round(n.i.astype(np.float32) / 2)),
    ("round(i)", lambda n: n.i),
    ("trunc(s * 3)", lambda n: np.trunc(n.s * 3)),
    ("clip(s, -0.5, v)", lambda n: np.clip(n.s, np.float32(-0.5), n.v)),
    ("clip(i, -3, 4)", lambda n: np.clip(n.i, -3, 4)),
    ("logaddexp(x, v)", lambda n: np.logaddexp(n.x, n.v)),
    ("logaddexp(s, s)", lambda n: np.logaddexp(n.s, n.s)),
    ("logaddexp(s, y)", lambda n: np.logaddexp(n.s, n.y)),
    ("isnan(s)", lambda n: np.isnan(n.s)),
    ("isinf(s)", lambda n: np.isinf(n.s)),
    ("elu(s)", lambda n: elu(n.s)),
    ("elu(d, alpha = 0.5)", lambda n: elu(n.d, 0.5)),
    ("selu(x)", lambda n: elu(n.x, 1.6732632423543772, 1.0507009873554805)),
    ("leaky_relu(s)", lambda n: np.where(n.s > 0, n.s, n.s * np.float32(0.01))),
    ("leaky_relu(x, alpha = 0.2)", lambda n: np.where(n.x > 0, n.x, n.x * np.float32(0.2))),
    ("hard_tanh(s)", lambda n: np.clip(n.s, -1, 1)),
    ("hard_sigmoid(4 * s)", lambda n: np.clip(4 * n.s / 6 + np.float32(0.5), 0, 1)),
    ("hard_swish(4 * x)", lambda n: 4 * n.x * np.clip(4 * n.x / 6 + np.float32(0.5), 0, 1)),
    ("bitwise_and(i, j)", lambda n: n.i & n.j),
    ("bitwise_or(i, 5)", lambda n: n.i | 5),
    ("bitwise_xor(l, 12345)", lambda n: n.l ^ 12345),
    ("bitwise_not(i)", lambda n: ~n.i),
    ("bitwise_not(u)", lambda n: ~n.u),
    ("bitwise_and(u, u)", lambda n: n.u),
    ("left_shift(i, j)", lambda n: n.i << n.j),
    ("right_shift(i, j)", lambda n: n.i >> n.j),
    ("right_shift(l, 70) + left_shift(l, 64)", lambda n: (n.l >> 70) + (n.l << 64)),
    ("right_shift(u, u)", lambda n: n.u >> n.u),
    ("grad(sum(atan2(x, y) * v), y)", lambda n: -n.x / (n.x**2 + n.y**2) * n.v),
    ("where(t, x, y)", lambda n: np.where(n.t, n.x, n.y)),
    ("where(q, s, 0)", lambda n: np.where(n.q, n.s, np.float32(0))),
    ("cast(x * 10, i32)", lambda n: (n.x * 10).astype(np.int32)),
    ("cast(i, f64)", lambda n: n.i.astype(np.float64)),
    ("cast(t, f32)", lambda n: n.t.astype(np.float32)),
    ("cast(i, bool)", lambda n: n.i.astype(bool)),
    ("cast(u, f32) / 255", lambda n: n.u.astype(np.float32) / 255),
    ("sum(x)", lambda n: n.x.sum()),
    ("sum(x, over = a)", lambda n: n.x.sum(0)),
    ("sum(x * z -> [c, a])", lambda n: (n.x @ n.z).T),
    ("sum(i, over = b)", lambda n: n.i.sum(1, dtype=np.int32)),
    ("variance(x, over = a)", lambda n: n.x.var(0)),
    ("variance(d -> [b], correction = 1)", lambda n: n.d.var(0, ddof=1)),
    ("std(d)", lambda n: n.d.std()),
    ("mean(d, over = b)", lambda n: n.d.mean(1)),
    ("mean(x)", lambda n: n.x.mean()),
    ("max(s, over = b)", lambda n: n.s.max(1)),
    ("min(x -> [b])", lambda n: n.x.min(0)),
    ("max(i)", lambda n: n.i.max()),
    ("prod(p, over = a)", lambda n: n.p.prod(0)),
    ("any(t, over = b)", lambda n: n.t.any(1)),
    ("all(t)", lambda n: n.t.all()),
    ("logsumexp(x, over = b)", lambda n: np.log(np.exp(n.x).sum(1))),
    ("softmax(x, over = a)", lambda n: softmax(n.x, 0)),
    ("log_softmax(x, over = b)", lambda n: np.log(softmax(n.x, 1))),
    ("argmax(x, over = b)", lambda n: n.x.argmax(1).astype(np.int32)),
    ("argmax(s, over = b)", lambda n: n.s.argmax(1).astype(np.int32)),
    ("einsum(x, z -> [a, c])", lambda n: n.x @ n.z),
    ("einsum(x, z)", lambda n: n.x @ n.z),
    ("einsum(z, x -> [c, a])", lambda n: (n.x @ n.z).T),
    ("einsum(x, y -> [])", lambda n: (n.x * n.y).sum()),
    ("einsum(x, y -> [b])", lambda n: (n.x * n.y).sum(0)),
    ("einsum(x, z, w -> [a])", lambda n: n.x @ n.z @ n.w),
    ("einsum(x, z, v -> [c, b, a])", lambda n: np.einsum("ab,bc,b->cba", n.x, n.z, n.v)),
    ("einsum(i, j -> [a])", lambda n: (n.i * n.j).sum(1, dtype=np.int32)),
    ("einsum(x -> [b, a])", lambda n: n.x.T),
    ("broadcast(v -> [b, a])", lambda n: np.broadcast_to(n.v[:, None], (B, A))),
    ("transpose(x -> [b, a])", lambda n: n.x.T),
    ("reshape(x -> [joined])", lambda n: n.x.reshape(-1)),
    ("reshape(x -> [k: 5, m: 7])", lambda n: n.x.reshape(5, 7)),
    ("x[a: 3]", lambda n: n.x[3]),
    ("x[b: -1]", lambda n: n.x[:, -1]),
    ("u[a: 2..5]", lambda n: n.u[2:5]),
    ("x[a: 1..4 as c]", lambda n: n.x[1:4]),
    ("pad(x, a, begin = 2, size = 14)", lambda n: np.pad(n.x, ((2, 5), (0, 0)))),
    ("pad(x, a, begin = 2, size = 14, value = 1.5)",
     lambda n: np.pad(n.x, ((2, 5), (0, 0)), constant_values=1.5)),
    ("pad(x, a, begin = 9, size = 26, mode = \"edge\")",
     lambda n: np.pad(n.x, ((9, 10), (0, 0)), mode="edge")),
    ("pad(x, a, begin = 9, size = 26, mode = \"reflect\")",
     lambda n: np.pad(n.x, ((9, 10), (0, 0)), mode="reflect")),
    ("pad(x, a, begin = 9, size = 26, mode = \"wrap\")",
     lambda n: np.pad(n.x, ((9, 10), (0, 0)), mode="wrap")),
    ("concat([x, y], over = a)", lambda n: np.concatenate([n.x, n.y])),
    ("stack([x, y], pair)", lambda n: np.stack([n.x, n.y])),
    ("shift(x, over = a, by = 2, wrap = true)", lambda n: np.roll(n.x, 2, 0)),
    ("roll(x, a, 2)", lambda n: np.roll(n.x, 2, 0)),
    ("repeat(x, b, times = 3)", lambda n: np.repeat(n.x, 3, 1)),
    ("tile(x, a, times = 2)", lambda n: np.tile(n.x, (2, 1))),
    ("roll(i, b, -13)", lambda n: np.roll(n.i, -13, 1)),
    ("grad(sum(roll(x, dim = b, by = 3) * y), x)", lambda n: np.roll(n.y, -3, 1)),
    ("gather(table, ids, over = vocab)", lambda n: n.table[n.ids]),
    ("gather(table, j - 2, over = vocab, clip = true)",
     lambda n: n.table[np.clip(n.j - 2, 0, V - 1)]),
    ("gather(table, 3 * j - 2, over = vocab)",
     lambda n: np.concatenate([n.table, np.zeros((20, C), np.float32)])[3 * n.j - 2]),
    ("scatter_add(x, ids, over = vocab)", scatter),
    ("einsum(one_hot(ids, vocab), table -> [c, a])", lambda n: n.table[n.ids].T),
    ("one_hot(ids, vocab)", lambda n: one_hot(n.ids, V)),
    ("range(a)", lambda n: np.arange(A, dtype=np.int32)),
    ("fill([a], 0.5)", lambda n: np.full(A, 0.5, np.float32)),
    ("const([c], [1, 2, 3], dtype = i64)", lambda n: np.array([1, 2, 3])),
    ("einsum(x, z, over = b)", lambda n: n.x @ n.z),
    ("einsum(d, d, v64 -> [a])", lambda n: (n.d * n.d) @ n.v.astype(np.float64)),
    ("einsum(l, l -> [])", lambda n: (n.l * n.l).sum()),
    ("softmax(d, over = b)", lambda n: softmax(n.d, 1)),
    ("logsumexp(d)", lambda n: np.log(np.exp(n.d).sum())),
    ("sigmoid(d)", lambda n: sigmoid(n.d)),
    ("gelu(d)", lambda n: n.d / 2 * (1 + np.tanh((2 / np.pi) ** 0.5 * (n.d + 0.044715 * n.d**3)))),
    ("silu(d) + relu(d)", lambda n: n.d * sigmoid(n.d) + np.maximum(n.d, 0)),
    ("pow(abs(d), 1.5)", lambda n: np.abs(n.d) ** 1.5),
    ("log(abs(d)) + log1p(abs(d))", lambda n: np.log(np.abs(n.d)) + np.log1p(np.abs(n.d))),
    ("sum(l) + max(l) - min(l)", lambda n: n.l.sum() + n.l.max() - n.l.min()),
    ("prod(j, over = a)", lambda n: n.j.prod(0, dtype=np.int32)),
    ("argmax(i, over = a)", lambda n: n.i.argmax(0).astype(np.int32)),
    ("minimum(l, 5) // 3 % 4", lambda n: np.minimum(n.l, 5) // 3 % 4),
    ("where(t, i, -1)", lambda n: np.where(n.t, n.i, np.int32(-1))),
    ("cast(d, f32)", lambda n: n.d.astype(np.float32)),
    ("cast(l, f64) / 3", lambda n: n.l.astype(np.float64) / 3),
    ("cast(u, i64) * 1000", lambda n: n.u.astype(np.int64) * 1000),
    ("t == q", lambda n: n.t == n.q),
    ("cumsum(x, over = b)", lambda n: np.cumsum(n.x, 1)),
    ("cumsum(x, over = a, reverse = true)", lambda n: np.cumsum(n.x[::-1], 0)[::-1]),
    ("cumsum(x, over = a, exclusive = true)", lambda n: np.cumsum(n.x, 0) - n.x),
    ("shift(x, over = b, by = -2)", lambda n: np.pad(n.x[:, 2:], ((0, 0), (0, 2)))),
    ("split(x, over = a, parts = 7)[2]", lambda n: n.x[2:3]),
    ("concat([i, j], over = b)", lambda n: np.concatenate([n.i, n.j], 1)),
    ("stack([t, t], pair)", lambda n: np.stack([n.t, n.t])),
    ("gather(l, cast(ids2, i64), over = a)", lambda n: n.l[n.ids]),
    ("gather(i, ids2, over = a)", lambda n: n.i[n.ids]),
    ("one_hot(cast(ids, i64), vocab, dtype = bool)", lambda n: one_hot(n.ids, V).astype(bool)),
    ("rename(x, a -> rows) + 0", lambda n: n.x),
    ("stop_gradient(x)", lambda n: n.x),
    ("identity(u)", lambda n: n.u),
    ("zeros([a], i64) + ones([b], i64)", lambda n: np.ones((A, B), np.int64)),
    ("const([c], [true, false, true])", lambda n: np.array([True, False, True])),
    ("load(\"out0.npy\", [a, b]) - y", lambda n: n.x + n.y - n.y),
    ("grad(sum(tanh(x) * v), x)", lambda n: (1 - np.tanh(n.x) ** 2) * n.v),
    ("grad(sum(square(einsum(x, z -> [a, c]))), z)", lambda n: 2 * n.x.T @ (n.x @ n.z)),
]


# Narrow ones, to the bit: NumPy computes with f16 as f32, too, and rounds each result.
CASES += [
    ("cast(x * 1000, f16)", lambda n: (n.x * 1000).astype(np.float16)),
    ("cast(x * 1e-6, f16)", lambda n: (n.x * np.float32(1e-6)).astype(np.float16)),
    ("cast(d, f16)", lambda n: n.d.astype(np.float16)),
    ("cast(l, f16)", lambda n: n.l.astype(np.float16)),
    ("cast(h, f32)", lambda n: n.h.astype(np.float32)),
    ("h * h + h", lambda n: n.h * n.h + n.h),
    ("h / abs(h)", lambda n: n.h / np.abs(n.h)),
    ("sqrt(abs(h))", lambda n: np.sqrt(np.abs(n.h))),
    ("h < cast(x, f16)", lambda n: n.h < n.x.astype(np.float16)),
    ("sort(h, over = b)", lambda n: np.sort(n.h, 1)),
    ("max(h, over = b)", lambda n: n.h.max(1)),
    ("cast(h, i16)", lambda n: n.h.astype(np.int16)),
    ("cast(i, i8) * cast(j * 9, i8)", lambda n: n.i.astype(np.int8) * (n.j * 9).astype(np.int8)),
    ("cast(l, i16)", lambda n: n.l.astype(np.int16)),
    ("cast(i, i16) // cast(j, i16)", lambda n: n.i.astype(np.int16) // n.j.astype(np.int16)),
    ("sum(cast(i * 9, i8), over = b)", lambda n: (n.i * 9).astype(np.int8).sum(1, dtype=np.int8)),
    ("sum(cast(i, i8), over = b, dtype = i32)", lambda n: n.i.sum(1, dtype=np.int32)),
    ("cast(bitwise_not(cast(i, i8)), i32)", lambda n: ~n.i),
    ("range(a, dtype = i8)", lambda n: np.arange(A, dtype=np.int8)),
]


def fixed_signs(u):
    """1 or -1 for each column: that of its largest element."""
    largest = np.take_along_axis(u, np.abs(u).argmax(-2)[..., None, :], -2)
    return np.sign(largest)


def positive_definite(n):
    return n.m @ n.m.swapaxes(1, 2)


def svd(n, part):
    u, values, vt = np.linalg.svd(n.tall, full_matrices=False)
    signs = fixed_signs(u)
    return {"u": u * signs, "s": values, "v": vt.swapaxes(1, 2) * signs}[part]


def qr(n, part):
    q, r = np.linalg.qr(n.tall)
    signs = np.sign(np.diagonal(r, axis1=1, axis2=2))
    return q * signs[:, None, :] if part == "q" else r * signs[:, :, None]


def eigenvectors(n):
    vectors = np.linalg.eigh(n.m + n.m.swapaxes(1, 2))[1]
    return vectors * fixed_signs(vectors)


def largest(x, count):
    return np.sort(x, 1)[:, ::-1][:, :count]


SPD = "einsum(m, rename(m, row -> row2) -> [c, row, row2])"
CASES += [
    ("sort(x, over = b)", lambda n: np.sort(n.x, 1)),
    ("sort(s, over = a)", lambda n: np.sort(n.s, 0)),
    ("sort(i, over = b, descending = true)", lambda n: np.sort(n.i, 1)[:, ::-1]),
    ("sort(u, over = a)", lambda n: np.sort(n.u)),
    ("sort(l, over = a)", lambda n: np.sort(n.l)),
    ("sort(d, over = a)", lambda n: np.sort(n.d, 0)),
    ("argsort(ties, over = b)", lambda n: n.ties.argsort(1, kind="stable").astype(np.int32)),
    ("argsort(ties, over = a, descending = true)",
     lambda n: (-n.ties).argsort(0, kind="stable").astype(np.int32)),
    ("argsort(s, over = b)", lambda n: n.s.argsort(1, kind="stable").astype(np.int32)),
    ("argsort(normal([big: 5000], seed = 3), over = big) * 0", lambda n: np.zeros(5000, np.int32)),
    ("sort(const([c], [3, 1, 2]), over = c)", lambda n: np.array([1, 2, 3], np.float32)),
    ("top_k(x -> [a, best], over = b)", lambda n: largest(n.x, 3)),
    ("top_k_places(ties -> [a, best], over = b)",
     lambda n: (-n.ties).argsort(1, kind="stable")[:, :3].astype(np.int32)),
    ("nth_largest(d, over = b, n = 2)", lambda n: largest(n.d, 3)[:, 2]),
    ("argmin(s, over = b)", lambda n: n.s.argmin(1).astype(np.int32)),
    ("argmin(ties, over = a)", lambda n: n.ties.argmin(0).astype(np.int32)),
    ("bincount(ids, vocab)", lambda n: np.bincount(n.ids, minlength=V).astype(np.int32)),
    ("bincount(j, vocab)", lambda n: np.bincount(n.j.ravel(), minlength=V).astype(np.int32)),
    ("tril(m, rows = row, cols = col)", lambda n: np.tril(n.m)),
    ("triu(m, rows = row, cols = col, diagonal = -1)", lambda n: np.triu(n.m, -1)),
    ("diag(m, rows = row, cols = col)", lambda n: np.diagonal(n.m, axis1=1, axis2=2)),
    ("diag(side, rows = row, cols = col)", lambda n: n.side[:, :, None] * np.eye(B)),
    ("trace(m, rows = row, cols = col)", lambda n: np.trace(n.m, axis1=1, axis2=2)),
    ("norm(x, over = b)", lambda n: np.linalg.norm(n.x, axis=1)),
    ("norm(d)", lambda n: np.linalg.norm(n.d)),
    ("outer(v, w)", lambda n: np.outer(n.v, n.w)),
    ("det(m, rows = row, cols = col)", lambda n: np.linalg.det(n.m)),
    ("cofactors(m, rows = row, cols = col)",
     lambda n: np.linalg.det(n.m)[:, None, None] * np.linalg.inv(n.m).transpose(0, 2, 1)),
    ("cofactors_along(m, m, rows = row, cols = col)",  # each is a sum of products of B - 1 elements
     lambda n: (B - 1) * np.linalg.det(n.m)[:, None, None] * np.linalg.inv(n.m).transpose(0, 2, 1)),
    ("logdet(m, rows = row, cols = col)", lambda n: np.linalg.slogdet(n.m)[1]),
    ("inverse(m, rows = row, cols = col)", lambda n: np.linalg.inv(n.m)),
    ("solve(m, side, rows = row, cols = col)",
     lambda n: np.linalg.solve(n.m, n.side[:, :, None])[:, :, 0]),
    ("solve(m, einsum(side, v64 -> [row, b]), rows = row, cols = col)",
     lambda n: np.linalg.solve(
         n.m, np.broadcast_to(np.outer(n.side.sum(0), n.v.astype(np.float64)), (C, B, B)))),
    ("triangular_solve(m, side, rows = row, cols = col, upper = true)",
     lambda n: np.linalg.solve(np.triu(n.m), n.side[:, :, None])[:, :, 0]),
    (f"cholesky({SPD}, rows = row, cols = row2)",
     lambda n: np.linalg.cholesky(positive_definite(n))),
    ("eigh(m + rename(rename(rename(m, row -> tmp), col -> row), tmp -> col),"
     " rows = row, cols = col, to = k)",
     lambda n: np.linalg.eigvalsh(n.m + n.m.swapaxes(1, 2))),
    ("eigh_vectors(m, rows = row, cols = col, to = k)", eigenvectors),
    ("qr(tall, rows = a, cols = col, to = k)", lambda n: qr(n, "q")),
    ("qr_r(tall, rows = a, cols = col, to = k)", lambda n: qr(n, "r")),
    ("svd(tall, rows = a, cols = col, to = k)", lambda n: svd(n, "s")),
    ("svd_u(tall, rows = a, cols = col, to = k)", lambda n: svd(n, "u")),
    ("svd_v(tall, rows = a, cols = col, to = k)", lambda n: svd(n, "v")),
    ("dropout(p, rate = 0)", lambda n: n.p),
    ("sort(permutation(a), over = a)", lambda n: np.arange(A, dtype=np.int32)),
    ("categorical(x, over = b, temperature = 0)", lambda n: n.x.argmax(1).astype(np.int32)),
]


class Names:
    """The inputs as attributes."""

    def __init__(self, arrays):
        self.__dict__.update(arrays)


def program(data):
    text = DIMS
    for name, (dims, _) in data.items():
        text += f'let {name} = load("{name}.npy", [{dims}])\n'
    text += "let v64 = cast(v, f64)\nlet ids2 = rename(ids, a -> at)\n"
    for number, (expression, _) in enumerate(CASES):
        text += f'write("out{number}.npy", {expression})\n'
    return text


# How random numbers are spread: a sample, its mean, to four standard errors, and variance, to 3 %.
DRAWS = 200_000
SPREADS = [
    ("truncated_normal([n])", 0, 0.773741),
    ("gumbel([n])", 0.577216, np.pi**2 / 6),
    ("cast(bernoulli([n], p = 0.3), f32)", 0.3, 0.21),
    ("cast(integers([n], low = -3, high = 7), f32)", 1.5, 8.25),
    ("dropout(ones([n]), rate = 0.2)", 1, 0.25),
    ("cast(categorical(log(const([k: 2], [0.75, 0.25])) + zeros([n]), over = k), f32)", 0.25, 0.1875),
    ("cast(abs(permutation(n) - range(n)), f32) / size(n)", 1 / 3, 1 / 18),
]


def wrong_spreads(mtf, folder):
    text = f"dim n = {DRAWS}\n"
    for number, (sample, _, _) in enumerate(SPREADS):
        x = f"x{number}"
        text += f"let {x} = {sample}\nprint mean({x}), mean(square({x} - mean({x})))\n"
    with open(os.path.join(folder, "spread.mtf"), "w", encoding="utf-8") as file:
        file.write(text)
    done = subprocess.run([mtf, "run", "spread.mtf"], cwd=folder, capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    numbers = np.array(done.stdout.split(), float).reshape(-1, 2)
    wrong = 0
    for (sample, mean, variance), (found, spread) in zip(SPREADS, numbers, strict=True):
        if abs(found - mean) > 4 * (variance / DRAWS) ** 0.5 or abs(spread / variance - 1) > 0.03:
            wrong += 1
            print(f"{sample}: mean {found}, variance {spread}; wanted {mean}, {variance}")
    return wrong


def same(found, wanted):
    """Exact but for floats, whose functions and sums may round differently."""
    if found.dtype != wanted.dtype or found.shape != wanted.shape:
        return False
    if found.dtype.kind != "f" or found.dtype == np.float16:
        return np.array_equal(found, wanted, equal_nan=True)
    rtol = 2e-5 if found.dtype == np.float32 else 1e-12
    return np.allclose(found, wanted, rtol=rtol, atol=rtol / 10, equal_nan=True)


def main():
    mtf = os.path.abspath(sys.argv[1])
    np.seterr(all="ignore")
    data = inputs()
    names = Names({name: array for name, (_, array) in data.items()})
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, (_, array) in data.items():
            np.save(os.path.join(folder, name + ".npy"), array)
        with open(os.path.join(folder, "ops.mtf"), "w", encoding="utf-8") as file:
            file.write(program(data))
        done = subprocess.run([mtf, "run", "ops.mtf"], cwd=folder, capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            sys.exit(done.stdout + done.stderr)
        wrong += wrong_spreads(mtf, folder)
        for number, (expression, reference) in enumerate(CASES):
            found = np.load(os.path.join(folder, f"out{number}.npy"))
            wanted = np.asarray(reference(names))
            if not same(found, wanted):
                wrong += 1
                print(f"{expression}\nmtf {found.dtype}:\n{found}\nNumPy {wanted.dtype}:\n{wanted}")
    print(f"{len(CASES) - wrong} of {len(CASES)} expressions agree with NumPy")
    sys.exit(1 if wrong else 0)


main()

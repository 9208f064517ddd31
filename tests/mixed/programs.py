"""Random programs that combine what `tests/unit/layouts/programs` does not reach.

A program is a chain of blocks, each of which takes a tensor [batch, length, d] and gives one: layers of the library,
loops on the host and on the device, scans, pipelines, gradients of one's own, states, windows at positions that the
run decides. A block may stand in a `recompute`, a region or bf16, and its operand may be pinned. Around them is a
training step with an optimizer.
"""

import random

DIMS = {"batch": 8, "length": 8, "d": 16, "ff": 32, "heads": 4, "head": 4, "memory": 8, "vocab": 16, "expert": 4,
        "e_ff": 8, "stage": 4, "chunk": 2, "inner": 4, "member": 2, "best": 4}
IMPORTS = ("optim", "nn", "attention", "moe", "pipeline", "recurrent")

# By what a block is about; `{…}` is drawn (`fillings`).
BLOCKS = {
    "dense": """let a = nn.dense(h, d, ff)
        let y = nn.dense(gelu(a), ff, d)
        return h + y""",
    "gated": """let n = nn.rms_norm(h, d)
        let y = nn.glu(n, d, ff)
        let z = nn.dense(y, ff, d)
        return h + z""",
    "attention": """let n = nn.layer_norm(h, d)
        let y = attention.self_attention(n, length, d, heads, head, causal = true, rotate = true)
        return h + y""",
    "multi_query": """let y = attention.self_attention(h, length, d, heads, head, kv_heads = [])
        return h + y""",
    "local": """let y = attention.self_attention(h, length, d, heads, head, causal = true, window = 2)
        return h + y""",
    "blockwise": """let y = attention.self_attention(h, length, d, heads, head, blocks = 4, causal = true)
        return h + y""",
    "alibi": """param w = normal([d, heads, head], stddev = 0.3)
        let q = einsum(h, w -> [batch, length, heads, head])
        let scores = einsum(q, rename(q, length -> memory) -> [batch, heads, length, memory])
        let far = cast(range(length), f32) - cast(range(memory), f32)
        let seen = where(far >= 0, scores - far / (1 + cast(range(heads), f32)), -1e9)
        let mixed = einsum(softmax(seen, over = memory), rename(h, length -> memory) -> [batch, heads, length, d])
        return h + mean(mixed, over = heads)""",
    "experts": """let y, extra = moe.experts(h, batch, length, d, expert, e_ff, top = {top})
        return h + y + extra""",
    "expert_choice": """let y = moe.expert_choice(h, batch, length, d, expert, e_ff)
        return h + y""",
    "strided": """param k = normal([tap: 3, d, ff], stddev = 0.2)
        param back = normal([tap: 3, ff, d], stddev = 0.2)
        let y = conv(h, k -> [batch, l2: 4, ff], window = length, taps = tap, stride = 2, padding = "same")
        return h + conv_transpose(y, back -> [batch, length, d], window = l2, taps = tap, stride = 2, padding = "same")""",
    "dilated": """param k = normal([tap: 3, d], stddev = 0.2)
        return h + conv(h, k -> [batch, length, d], window = length, taps = tap, dilation = 2, padding = "same")""",
    "pool": """let p = pool(h -> [batch, l2: 8, d], window = length, size = 3, stride = 1, padding = "same", by = "{by}")
        return h + 0.5 * rename(p, l2 -> length)""",
    "pool_of_two": """return h + mean(pool(h, window = [length, d], size = [2, 2], by = "{by}"))""",
    "reshape": """let r = reshape(h -> [batch, chunk, each: 4, d])
        let s = sum(r * cast(range(chunk), f32), over = chunk)
        return h + 0.1 * reshape(transpose(r -> [batch, each, chunk, d]) -> [batch, length, d]) + mean(s, over = each)""",
    "butterfly": """var r = reshape(h -> [batch, length, b0: 2, b1: 2, b2: 2, b3: 2])
        for b in [b0, b1, b2, b3] {
          let other = shift(r, over = b, by = 1, wrap = true)
          r = 0.7 * where(range(b) == 0, r + other, other - r)
        }
        return h + 0.1 * reshape(r -> [batch, length, d])""",
    "scan": """fn cell(c, x) {
          param w = normal([d, to: 16], stddev = 0.3)
          let next = tanh(rename(einsum(c, w -> [batch, to]), to -> d) + x)
          return next, next
        }
        let last, ys = scan(cell, zeros([batch, d]), h, over = length)
        return h + transpose(ys -> [batch, length, d]) + last""",
    "gru": """let y, last = recurrent.gru(h, length, d, ff)
        let z = nn.dense(y, ff, d)
        return h + z""",
    "recurrence": """return h + 0.1 * recurrence(sigmoid(h), h, over = length{reverse})""",
    "cumsum": """return h + 0.1 * cumsum(h, over = {dim}{reverse})""",
    "cummax": """return h + 0.1 * cummax(h, over = {dim})""",
    "each": """fn one(x) {
          let y = nn.dense(x, d, ff)
          return tanh(mean(y, over = ff))
        }
        let all = each(one, h * (1 + cast(range(member), f32)), over = member)
        return h + mean(all, over = member)""",
    "pipeline": """fn layer(x) {
          param w = normal([d, to: 16], stddev = 0.3)
          return rename(tanh(sum(x * w, over = d)), to -> d)
        }
        let y = pipeline.pipeline(layer, h, {micro}, stage{rounds})
        return h + transpose(y -> [batch, length, d])""",
    "sort": """let sorted, order = sort(h, over = {dim})
        return h + 0.1 * sorted""",
    "top_k": """let values, places = top_k(h -> [batch, length, best], over = d)
        return h + mean(values, over = best) + 0.01 * mean(cast(places, f32), over = best)""",
    "gather": """param table = normal([vocab, d], stddev = 0.3)
        return h + gather(table, argmax(h, over = d), over = vocab)""",
    "scatter": """let ids = argmax(h, over = d)
        return h + 0.1 * gather(scatter_add(h, ids -> [vocab, d], over = vocab), ids, over = vocab)""",
    "window": """let at = argmax(mean(h -> [length]), over = length)
        let part = dynamic_slice(h, at -> [batch, chunk, d], over = length)
        return dynamic_update(h, 2 * part, at // 2, over = length)""",
    "while": """var v = stop_gradient(h)
        var n = 0
        while mean(square(v)) > 0.2 and n < 5 {
          v = 0.5 * v + 0.01 * shift(v, over = {dim}, by = 1)
          n = n + 1
        }
        return h + 0.1 * v""",
    "bounded": """var v = h
        for i in 0..3 while mean(square(v)) > 0.5 { v = 0.6 * v }
        return h + v""",
    "concat": """let parts = split(h, over = length, parts = 2)
        return concat([parts[1], parts[0] * 2], over = length) + h""",
    "slices": """return h + 0.1 * mean(h[{dim}: 1..5 as part], over = part) + h[{dim}: 3]""",
    "pad": """let p = pad(h, {dim}, 2, 24 -> padded)
        return h + 0.1 * p[padded: 1..1 + size({dim}) as {dim}]""",
    "reverse": """return h + 0.2 * reverse(h, over = {dim})""",
    "dropout": """return dropout(h, rate = 0.1)""",
    "one_hot": """param table = normal([vocab, d], stddev = 0.3)
        return h + einsum(one_hot(argmax(h, over = d), vocab), table -> [batch, length, d])""",
    "batch_norm": """return nn.batch_norm(h, d, [batch, length])""",
    "group_norm": """return nn.group_norm(h, d, [length], 4)""",
    "straight_through": """fn rounded(x) {
          gradient dy { return 2 * dy }
          return round(x)
        }
        return h + 0.1 * rounded(3 * h) + stop_gradient(round(h) - h)""",
    "cholesky": """let g = 0.05 * einsum(h, rename(h, d -> d2) -> [batch, d, d2]) + diag(ones([d]), rows = d, cols = d2)
        return h + 0.1 * mean(cholesky(g, rows = d, cols = d2), over = d2)""",
    "state": """state seen : f32[d] = zeros
        let m = mean(h -> [d])
        seen <- 0.9 * seen + 0.1 * m
        return h - seen + m""",
    "four_operands": """param u = normal([d, a: 4, b: 4], stddev = 0.3)
        param v = normal([a: 4, b: 4, inner], stddev = 0.3)
        param w = normal([inner, d], stddev = 0.3)
        return h + einsum(h, u, v, w -> [batch, length, d])""",
    "logsumexp": """return h - logsumexp(h, over = {dim})""",
    "embedding": """let e = nn.embedding(integers([batch, length], low = 0, high = 16), vocab, d)
        return h + e""",
    "product": """return 0.9 * h + 0.01 * prod(tanh(h), over = {dim})""",
    "variance": """let m = mean(h, over = {dim})
        return (h - m) * rsqrt(mean(square(h - m), over = {dim}) + 1e-3)""",
    "narrow": """param w = normal([d, ff], stddev = 0.2)
        return h + 0.1 * mean(cast(einsum(cast(h, bf16), cast(w, bf16) -> [batch, length, ff]), f32), over = ff)""",
}
EFFECTS = ("state", "batch_norm", "while")  # which no `recompute` may hold

OPTIMIZERS = ("sgd(lr = 0.1)", "momentum(lr = 0.05)", "adam(lr = 0.01)", "adafactor(lr = 0.01)", "lion(lr = 0.001)",
              "lamb(lr = 0.01)")
PINS = (["x"], ["y"], ["x", "y"], ["(y, x)"], ["()"], ["()", "y"])
NAMED = ("batch", "length", "d", "ff", "heads", "head", "memory", "vocab", "expert", "stage", "member", "chunk", "to",
         "e_ff", "each", "best", "l2", "tick", "slot", "choice", "source", "inner", "b0", "b1", "a", "padded", "part",
         "d2")


def fillings(draw):
    return {"top": draw.choice("12"), "by": draw.choice(["max", "mean", "sum"]),
            "reverse": draw.choice(["", ", reverse = true"]), "dim": draw.choice(["length", "d", "batch"]),
            "micro": draw.choice(["batch", "length"]),
            "rounds": draw.choice(["", "", ", recomputed = true", ", rounds = 2"])}


def pinned(draw):
    """`h`, or where it is to lie."""
    if draw.random() > 0.25:
        return "h"
    rules = zip(draw.sample(["batch", "length", "d"], 3), draw.choice(PINS))
    return "h @ [" + ", ".join(f"{dim} -> {axes}" for dim, axes in rules) + draw.choice(["]", ", ..]"])


def called(draw, i, name):
    """The lines of the model that use a block."""
    use = f"let t{i} = block_{i}({pinned(draw)}) as \"b{i}\""
    how = draw.random()
    around = ("recompute" if how < 0.15 and name not in EFFECTS else "with layout region" if how < 0.25
              else "with precision bf16" if how < 0.33 else None)
    if around is None:
        return [f"  {use}", f"  h = t{i}"]
    return [f"  {around} {{", f"    {use}", f"    h = cast(t{i}, f32)", "  }"]


def updated(draw):
    how = draw.random()
    if how < 0.6:
        return [f"  minimize loss with optim.{draw.choice(OPTIMIZERS)}"]
    if how < 0.8:
        return ["  let ps = params(net)", "  let gs = optim.clip_by_global_norm(grad(loss, ps), 0.5)",
                "  for i in 0..len(ps) { ps[i] <- ps[i] - 0.1 * gs[i] }"]
    return []


def drawn(seed, sizes=None):
    """The declarations of a program, what runs it, and the names of its blocks. `sizes`: of dims, in place of DIMS'."""
    draw = random.Random(seed)
    dims = {**DIMS, **(sizes or {})}
    lines = [f"import {module}" for module in IMPORTS]
    lines.append("dim " + ", ".join(f"{dim} = {size}" for dim, size in dims.items()))
    names, calls = [], []
    for i in range(draw.randint(2, 5)):
        names.append(draw.choice(list(BLOCKS)))
        body = BLOCKS[names[-1]]
        for word, text in fillings(draw).items():
            body = body.replace(f"{{{word}}}", text)
        lines += [f"fn block_{i}(h) {{", *(line.removeprefix("      ") for line in ("        " + body).split("\n")), "}"]
        calls += called(draw, i, names[-1])
    lines += ["model net(x: f32[batch, length, d]) {", "  param first : f32[d] = ones", "  var h = first * x", *calls,
              "  return h", "}",
              "fn step(x: f32[batch, length, d]) {", "  let loss = mean(square(net(x) - 1))", *updated(draw),
              "  return loss", "}"]
    run = ["let x = normal([batch, length, d], seed = 1)", "for i in 0..2 { print step(x) }", "print sum(net(x))"]
    return "\n".join(lines) + "\n", "\n".join(run) + "\n", names


def rules(draw, axes, most, star=0.3):
    """So many rules of random dims, or a few of the dims that every block has."""
    dims = draw.sample(NAMED, most) + ["batch"] * (draw.random() < 0.5) + ["d"] * (draw.random() < 0.3)
    texts = []
    for dim in dict.fromkeys(dims):
        own = draw.sample(axes, draw.choice([1, 1, 1, min(2, len(axes)), len(axes)]))
        rest = draw.random()
        listed = ["*"] if rest < star * 0.3 else own + ["*"] * (rest < star * 0.7)
        free = [axis for axis in axes if axis not in own]
        where = f" where {draw.choice(free)} == {draw.choice(['0', own[0]])}" \
            if free and "*" not in listed and draw.random() < 0.05 else ""
        texts.append(f"{dim} -> ({', '.join(listed)}){where}")
    return "; ".join(texts)


def layout(draw, name, axes, how):
    """A layout of all that layouts are written with, which may not fit. `how`: words before its body."""
    parts = [rules(draw, axes, draw.randint(1, 5))]
    for share, part in ((0.3, lambda: f"params {{ {rules(draw, axes, draw.randint(0, 4))} }}"),
                        (0.15, lambda: f'at "*/w" {{ {rules(draw, axes, 1)} }}'),
                        (0.15, lambda: f'at let "net/t{draw.randint(0, 3)}" {{ {rules(draw, axes, 1, 0)} }}'),
                        (0.2, lambda: f"gather = {draw.choice(['again', 'keep'])}"),
                        (0.15, lambda: f"stream = {draw.choice([2, 3, 4])}"),
                        (0.1, lambda: "recompute = none")):
        if draw.random() < share:
            parts.append(part())
    return f"layout {name} on g {how}{{ {'; '.join(parts)} }}"

"""Random programs that combine what `tests/unit/layouts/programs` does not reach.

A program is a chain of blocks, each of which takes a tensor [batch, length, d] and gives one: layers of the library,
loops on the host and on the device, scans, pipelines, gradients of one's own, states, windows at positions that the
run decides. A block may stand in a `recompute`, a region or bf16, and its operand may be pinned. Around them is a
training step with an optimizer.
"""

import random

from blocks import BLOCKS

DIMS = {"batch": 8, "length": 8, "d": 16, "ff": 32, "heads": 4, "head": 4, "memory": 8, "vocab": 16, "expert": 4,
        "e_ff": 8, "stage": 4, "chunk": 2, "inner": 4, "member": 2, "best": 4, "tap3": 3, "source": 8}
IMPORTS = ("optim", "nn", "attention", "moe", "pipeline", "recurrent", "transformer")

EFFECTS = ("state", "batch_norm", "while", "while_lists", "while_state")  # which no `recompute` may hold

OPTIMIZERS = ("sgd(lr = 0.1)", "momentum(lr = 0.05)", "adam(lr = 0.01)", "adafactor(lr = 0.01)", "lion(lr = 0.001)",
              "lamb(lr = 0.01)", "nesterov(lr = 0.05)", "adamw(lr = 0.01, weight_decay = 0.1)",
              "rmsprop(lr = 0.01)", "adagrad(lr = 0.05)")
PINS = (["x"], ["y"], ["x", "y"], ["(y, x)"], ["()"], ["()", "y"])
NAMED = ("batch", "length", "d", "ff", "heads", "head", "memory", "vocab", "expert", "stage", "member", "chunk", "to",
         "e_ff", "each", "best", "l2", "tick", "slot", "choice", "source", "inner", "b0", "b1", "a", "padded", "part",
         "d2", "tap3", "five", "token", "wide", "l16", "col", "c4", "l6", "outs", "k8")


def fillings(draw):
    dim, first, second = draw.choice(["length", "d", "batch"]), draw.randint(1, 3), draw.randint(1, 3)
    return {"top": draw.choice("12"), "by": draw.choice(["max", "mean", "sum"]),
            "reverse": draw.choice(["", ", reverse = true"]), "dim": dim, "micro": draw.choice(["batch", "length"]),
            "rounds": draw.choice(["", "", ", recomputed = true", ", rounds = 2"]),
            "cuts": f"[{first}, {second}, size({dim}) - {first + second}]",
            "range": draw.choice(["drop", "clip", "error"])}


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
    if how < 0.45:
        return [f"  minimize loss with optim.{draw.choice(OPTIMIZERS)}"]
    if how < 0.55:
        return ["  fn rule(p, g, lr) {",
                "    if len(shape(p)) > 1 { optim.muon(p, g, lr = lr) } else { optim.adamw(p, g, lr = lr) }", "  }",
                "  minimize loss with rule(lr = 0.01)"]
    if how < 0.65:
        return ["  fn update(p, g) { optim.momentum(p, g, lr = 0.05) }",
                "  optim.minimize_scaled(loss, params(net), update)"]
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

"""What a search says of programs whose layers repeat, and are priced by a few of them, holds by the plans of the
whole: where there is little memory as well, every layout priced by `mtf cost`."""

import sys

from programs import all_layouts, mtf

NAMES = ["batch", "io", "hidden"]

NET = """import optim
dim batch = 32, io = 64, hidden = 256
mesh g = [r: {rows}, s: {columns}] of cpu_core
fn layer(x) {{
  param w : f32[io, hidden] = normal(stddev = 0.1)
  param v : f32[{second}] = normal(stddev = 0.1)
  let y = relu(einsum(x, w -> [batch, hidden]))
  return x + einsum(y, v -> shape(x)), mean(square(y))
}}
model net(x: f32[batch, io]) -> f32[batch, io] {{
  var h = x
  var losses = 0.0
  for i in 0..{layers} {{
    let y, loss = layer(h) as "layer_{{i}}"
    h = y
    losses = losses + loss
  }}
  return h + losses
}}
fn step(x: f32[batch, io]) {{
  let loss = mean(square(net(x)))
{step}}}
"""

# A norm of all gradients, which are then of no more use, or are clipped by it; and AdamW.
STEPS = {
    "norm": """  var norm = 0.0
  for g in grad(loss, net) { norm = norm + sum(square(g)) }
  return loss, norm
""",
    "clip": """  let ps = params(net)
  let gs = optim.clip_by_global_norm(grad(loss, ps))
  for k in 0..len(ps) { ps[k] <- ps[k] - 0.1 * gs[k] }
  return loss
""",
    "adamw": """  minimize loss with optim.adamw(lr = 0.01)
  return loss
""",
}


def program(step, mesh, alike, layers):
    return NET.format(rows=mesh[0], columns=mesh[1], second="io, hidden" if alike else "hidden, io",
                      layers=layers, step=STEPS[step])


def with_rest():
    """Every layout of the batch by a rule that may end in `*`."""
    axes = ["", "r", "s", "r, s", "s, r"]
    for place in axes + [f"{before}, *" if before else "*" for before in axes]:
        yield f"batch -> ({place})" if "," in place else f"batch -> {place}" if place else ""


def check(binary, text, limits, rest):
    layouts = list(with_rest() if rest else all_layouts(NAMES))
    words = ["--over", "rest", "--keep-whole", "io,hidden"] if rest else ["--over", "none"]
    declared = "".join(f"layout l{i} on g {{ {rules} }}\n" for i, rules in enumerate(layouts))
    status, costs, _ = mtf(binary, "cost", "-", "step", "--json", text=text + declared)
    assert status == 0, costs["diagnostics"]
    legal = [(row["seconds"], row["totals"]["peak_bytes"]) for row in costs["layouts"] if row["legal"]]
    peaks = sorted({peak for _, peak in legal})
    proven = 0
    for part in range(limits + 1):  # from less than any of them takes
        limit = peaks[0] - 1 if part == 0 else peaks[(part - 1) * (len(peaks) - 1) // limits]
        status, found, errors = mtf(binary, "search", "-", "step", *words, "--memory", f"{limit}B", "--json",
                                    text=text)
        assert status == (0 if found["fits"] else 1), errors
        fitting = [seconds for seconds, peak in legal if peak <= limit]
        assert found["fits"] <= bool(fitting), (limit, found["best"])
        if not found["fits"]:
            assert not found["proven"] or not fitting, (limit, found["best"], fitting)
        else:
            best = found["best"]["seconds"]
            least = min(fitting)
            # Of a sum of what all layers have, samples may be off by a part of the time that is lost in sums.
            assert best <= least * 1.02, (limit, found["best"], least)
            assert not found["proven"] or best <= least * (1 + 1e-6), (limit, found["best"], least)
            assert found["gap"] is None or best / (1 + found["gap"]) <= least * (1 + 1e-9), (limit, found["best"], least)
        proven += found["proven"]
    return proven


def main():
    binary = sys.argv[1]
    limits = int(sys.argv[2]) if len(sys.argv) > 2 else 4
    asked = [("norm", (4, 2), True, 30, True), ("norm", (2, 2), False, 25, False), ("clip", (2, 4), True, 30, True),
             ("clip", (3, 2), False, 25, False), ("adamw", (4, 2), False, 25, True)]
    proven = sum(check(binary, program(step, mesh, alike, layers), limits, rest)
                 for step, mesh, alike, layers, rest in asked)
    assert proven > 0
    print(f"{len(asked)} programs with {limits + 1} limits of memory each: {proven} answers are proven, and right")


if __name__ == "__main__":
    main()

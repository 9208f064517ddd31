"""Random programs for searches, and all layouts of their dims on a mesh of two axes."""

import itertools
import json
import random
import subprocess

DIMS = "abcde"


def drawn(seed):
    """A program of two to five dims: products, sums and chains of a few tensors and variables."""
    draw = random.Random(seed)
    count = draw.randint(2, 5)
    sizes = {dim: draw.choice([2, 3, 4, 6, 8, 12, 16, 32]) for dim in DIMS[:count]}
    names = list(sizes)

    def shape():
        return sorted(draw.sample(names, draw.randint(1, min(3, count))))

    lines = ["import optim", "dim " + ", ".join(f"{d} = {n}" for d, n in sizes.items())]
    mesh = draw.choice([(2, 2), (2, 4), (4, 2), (3, 2), (2, 3)])
    lines.append(f"mesh g = [r: {mesh[0]}, s: {mesh[1]}]")
    first = shape()
    lines.append(f"model net(x: f32[{', '.join(first)}]) {{")
    values = [("x", first)]
    for i in range(draw.randint(1, 4)):
        value, dims = draw.choice(values)
        other = shape()
        lines.append(f"  param w{i} : f32[{', '.join(other)}] = normal(stddev = 0.5)")
        union = sorted(set(dims) | set(other))
        kept = sorted(draw.sample(union, draw.randint(1, len(union))))
        kind = draw.random()
        if kind < 0.7:
            lines.append(f"  let h{i} = einsum({value}, w{i} -> [{', '.join(kept)}])")
        elif kind < 0.85:
            kept = union
            lines.append(f"  let h{i} = tanh({value} + w{i})")
        else:
            lines.append(f"  let h{i} = sum(relu({value} * w{i}) -> [{', '.join(kept)}])")
        values.append((f"h{i}", kept))
    lines.append(f"  return {values[-1][0]}")
    lines.append("}")
    lines.append(f"fn step(x: f32[{', '.join(first)}]) {{")
    lines.append("  let loss = mean(square(net(x)))")
    if draw.random() < 0.7:
        lines.append("  minimize loss with optim.sgd(lr = 0.1)")
    lines.append("  return loss")
    lines.append("}")
    return "\n".join(lines) + "\n", names


def convolved(seed):
    """One or two convolutions, on hardware whose arithmetic they wait for."""
    draw = random.Random(seed)
    sizes = {dim: draw.choice([4, 6, 8, 12]) for dim in DIMS}
    mesh = draw.choice([(2, 2), (2, 4), (3, 2)])
    lines = ["import optim", "dim " + ", ".join(f"{d} = {n}" for d, n in sizes.items()),
             "let slow = hardware_profile(flops = 1e9, memory_bandwidth = 1e10, latency = 1e-6, bandwidth = 1e9)",
             f"mesh g = [r: {mesh[0]}, s: {mesh[1]}] of slow",
             "fn step(x: f32[a, b, c, d]) {",
             "  param k : f32[p: 3, q: 3, d, e] = normal(stddev = 0.1)"]
    stride = draw.choice([1, 1, 2])
    lines.append("  let y = conv(x, k -> [a, b, c, e], window = [b, c], taps = [p, q], padding = \"same\")")
    if stride == 2:
        lines.append("  let z = conv(y, k -> [a, b2, c2, d], window = [b, c], taps = [p, q], stride = 2, padding = 1)")
    lines.append(f"  let loss = mean(square({'z' if stride == 2 else 'relu(y)'}))")
    if draw.random() < 0.7:
        lines.append("  minimize loss with optim.sgd(lr = 0.1)")
    lines.append("  return loss")
    lines.append("}")
    return "\n".join(lines) + "\n", list(DIMS)


def all_layouts(names):
    """Every layout by rules of dims: each over no axis, one, or both in either order."""
    choices = ["", "r", "s", "(r, s)", "(s, r)"]
    for picked in itertools.product(choices, repeat=len(names)):
        yield "; ".join(f"{dim} -> {axes}" for dim, axes in zip(names, picked) if axes)


def mtf(binary, *words, text=None):
    done = subprocess.run([binary, *words], input=text, capture_output=True, text=True, check=False)
    return done.returncode, json.loads(done.stdout), done.stderr

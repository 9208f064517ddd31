"""Programs too large to look at every layout of: what a search finds, beside the best of many random layouts.

`random_search.py build/mtf 0 30 60` draws 30 programs and layouts of each for 60 seconds, priced by `mtf cost`. No one may
cost less than the bound that the search states, and what is found is to be within the stated gap of the best. CI does not
run it.
"""

import random
import sys
import time

from programs import mtf

CHUNK = 300  # layouts that one file declares
AXES = ("p", "q", "r")
DIMS = "abcdefghijkl"


def drawn(seed):
    """A net of eight to twelve dims on a mesh of three axes, with products, sums and norms, and its training step."""
    draw = random.Random(seed)
    names = list(DIMS[:draw.randint(8, 12)])
    sizes = {dim: draw.choice([6, 8, 12, 16, 24, 32, 64, 128]) for dim in names}
    mesh = ", ".join(f"{axis}: {draw.choice([2, 2, 3, 4])}" for axis in AXES)
    first = sorted(draw.sample(names, 2))
    lines = ["import optim", "dim " + ", ".join(f"{d} = {n}" for d, n in sizes.items()), f"mesh grid = [{mesh}]",
             f"model net(x: f32[{', '.join(first)}]) {{"]
    value, dims = "x", first
    for i in range(draw.randint(6, 10)):
        summed = draw.sample(dims, draw.randint(1, len(dims) - 1)) if len(dims) > 1 else []
        new = draw.sample([d for d in names if d not in dims], draw.randint(1, 2))
        kept = sorted(set(dims) - set(summed) | set(new))[:4]
        weight = sorted(set(summed) | set(new) & set(kept)) or kept[:1]
        lines.append(f"  param w{i} : f32[{', '.join(weight)}] = normal(stddev = 0.3)")
        lines.append(f"  let h{i} = einsum({value}, w{i} -> [{', '.join(k for k in kept if k in dims or k in weight)}])")
        value, dims = f"h{i}", [k for k in kept if k in dims or k in weight]
        if draw.random() < 0.5:
            lines.append(f"  let n{i} = relu({value}) * rsqrt(mean(square({value}), over = {draw.choice(dims)}) + 1e-6)")
            value = f"n{i}"
    lines += [f"  return {value}", "}", f"fn step(x: f32[{', '.join(first)}]) {{", "  let loss = mean(square(net(x)))",
              "  minimize loss with optim.sgd(lr = 0.1)", "  return loss", "}"]
    return "\n".join(lines) + "\n", names


def random_rules(draw, names, most):
    axes = {}
    for axis in AXES:
        for dim in draw.sample(names, draw.randint(0, most)):
            axes.setdefault(dim, []).append(axis)
    for dim in draw.sample(names, draw.choice([0, 0, 0, 1, 2])):
        axes.setdefault(dim, []).append("*")
    return "; ".join(f"{dim} -> ({', '.join(list_)})" for dim, list_ in axes.items())


def random_layout(draw, names):
    rules = random_rules(draw, names, 3)
    if draw.random() < 0.4:
        rules += f"; params {{ {random_rules(draw, names, 2)} }}"
    return rules + draw.choice(["", "", "", "; gather = again"])


def best_of_random(binary, program, names, seconds, seed):
    draw = random.Random(seed)
    best, tried, legal, end = None, 0, 0, time.monotonic() + seconds
    while time.monotonic() < end:
        declared = "".join(f"layout l{i} on grid {{ {random_layout(draw, names)} }}\n" for i in range(CHUNK))
        status, costs, errors = mtf(binary, "cost", "-", "step", "--json", text=program + declared)
        assert status == 0, (seed, errors, costs)
        rows = [row["seconds"] for row in costs["layouts"] if row["legal"]]
        best = min([best] * (best is not None) + rows, default=None)
        tried, legal = tried + CHUNK, legal + len(rows)
    return best, tried, legal


def main():
    binary, first, last, seconds = sys.argv[1], *map(int, sys.argv[2:5])
    worst = 0
    for seed in range(first, last):
        program, names = drawn(seed)
        status, found, errors = mtf(binary, "search", "-", "step", "--json", text=program)
        assert status == 0, (seed, errors, found, program)
        value = found["best"]["seconds"]
        bound = value / (1 + found["gap"])
        best, tried, legal = best_of_random(binary, program, names, seconds, seed)
        assert best is None or bound <= best * (1 + 1e-6), (seed, bound, best)
        ratio = value / best if best else 0
        worst = max(worst, ratio)
        print(f"{seed}: found {value:.4g} s, gap {found['gap']:.0%}; random {best or 0:.4g} s of {tried} ({legal} legal): "
              f"{ratio:.3f}", flush=True)
    print(f"found / random at most {worst:.3f}")


if __name__ == "__main__":
    main()

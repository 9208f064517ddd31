#!/usr/bin/python3
"""What a plan says of memory, flops and collectives is what a run counts, of random training programs.

Params and states of odd sizes, updates in place, defaults given and left out, captured tensors,
reshapes and statements, on 1 to 8 ranks. Called with the path of mtf; a second argument is the
number of programs, a third the first of them. Run from the root of the project.
"""

import json
import random
import subprocess
import sys
import tempfile

MTF = sys.argv[1]
PROGRAMS = int(sys.argv[2]) if len(sys.argv) > 2 else 60
FIRST = int(sys.argv[3]) if len(sys.argv) > 3 else 1
SIZES = [1, 2, 3, 5, 6, 7, 8, 12, 15, 16, 33, 48]
MESHES = [[1], [2], [3], [4], [5], [7], [2, 2], [2, 3], [4, 2], [2, 2, 2]]
failures = []


def layout(r, dims, axes, uneven):
    """Rules that give no two dims of a tensor one axis: batch has the first, others alternate."""
    rules = []
    for i, dim in enumerate(dims):
        mine = axes[:1] if dim == "batch" else axes[1 + i % 2:2 + i % 2]
        if mine and r.random() < 0.7:
            rules.append(f"{dim} -> {r.choice(mine + ['*'])}")
    options = r.choice(["", "", "; gather = again"]) + r.choice(["", "", "; stream = 3"])
    block = f"\n  params {{ d1 -> {axes[0]} }}" if r.random() < 0.25 else ""
    how = (" uneven" if uneven else "") + (" infer" if r.random() < 0.2 else "")
    return f"layout l on m{how} {{ {', '.join(rules)}{options}{block} }}"


def model(r, dims, layers):
    lines, last = [f"model net(x: f32[batch, d0]) -> f32[batch, d{layers}] {{"], "x"
    for i in range(layers):
        lines += [f"  param w{i} : f32[d{i}, d{i + 1}] = normal(stddev = 0.1)",
                  f"  param b{i} : f32[{r.choice(['', f'd{i + 1}'])}] = ones",
                  f"  let h{i} = {r.choice(['relu', 'tanh'])}(einsum({last}, w{i} -> [batch, d{i + 1}]) * b{i})"]
        last = f"h{i}"
        if r.random() < 0.3:
            size = dims["batch"] * dims[f"d{i + 1}"]
            lines += [f"  let q{i} = reshape(reshape({last} -> [flat: {size}]) * 2.0 -> [batch, d{i + 1}])"]
            last = f"q{i}"
    return lines + [f"  return {last}", "}"]


def step(r, captured):
    rate = r.choice(["rate: f32[]", "rate: f32[] = 0.5", "rate: float = 0.5", "rate: i32[] = 2"])
    shift = r.choice([None, "shift: f32[d0] = zeros([d0])"])
    results = ["loss * cast(rate, f32)" if "[]" in rate else "loss * rate"]
    lines = [f"fn step(x: f32[batch, d0], {', '.join(filter(None, [rate, shift]))}) {{",
             f"  let y = net(x{' + shift' if shift else ''}{' + table' if captured else ''})",
             f"  let loss = {r.choice(['mean', 'sum'])}(square(y - 0.5))"]
    if r.random() < 0.5:
        lines += ["  state count : i32[] = zeros", "  count <- count + 1"]
        results.append("count")
    if r.random() < 0.5:
        lines += ["  state middle : f32[d0] = zeros",
                  "  middle <- 0.9 * middle + 0.1 * mean(x, over = batch)"]
        results += r.choice([[], ["middle"], ["middle", "x"]])
    lines += [f"  minimize loss with optim.{r.choice(['sgd', 'momentum'])}(lr = 0.01)",
              f"  return {', '.join(results)}", "}"]
    value = r.choice(["2", "3", "sum(ones([d0]))"]) if "f32" in rate else "3"
    given = [f", rate = {value}"] + ([] if "=" not in rate else [""])
    more = ["", ", shift = ones([d0])"] if shift else [""]
    names = ", ".join(f"r{i}" for i in range(len(results)))
    calls = []
    for _ in range(r.randint(1, 3)):
        calls += [f"for i in 0..{r.randint(1, 3)} {{",
                  f"  let {names} = step(data{r.choice(given)}{r.choice(more)})", "  print r0", "}"]
    return lines, calls


def program(r):
    ranks_of = r.choice(MESHES)
    uneven = r.random() < 0.5
    ranks = 1
    for size in ranks_of:
        ranks *= size
    layers = r.randint(1, 4)
    dims = {dim: r.choice(SIZES) if uneven else ranks * r.randint(1, 5)
            for dim in ["batch"] + [f"d{i}" for i in range(layers + 1)]}
    axes = [f"x{i}" for i in range(len(ranks_of))]
    captured = r.random() < 0.4
    train, calls = step(r, captured)
    look = r.choice(["net(x)", "mean(net(x), over = batch)", "sum(net(x))"])
    lines = ["import optim", "dim " + ", ".join(f"{dim} = {size}" for dim, size in dims.items()),
             "mesh m = [" + ", ".join(f"{a}: {s}" for a, s in zip(axes, ranks_of)) + "]",
             layout(r, dims, axes, uneven), "use layout l"]
    lines += ["let table = normal([d0], seed = 3)"] if captured else []
    lines += model(r, dims, layers) + train
    lines += ["fn look(x: f32[batch, d0]) {", f"  return {look}", "}"]
    lines += ["let data = normal([batch, d0], seed = 1)", "print sum(data)", *calls]
    return "\n".join(lines + ["print sum(look(data))"]) + "\n", uneven


def mtf(*args):
    return subprocess.run([MTF, *args], capture_output=True, text=True, timeout=300)


def moved(totals, key):
    return sum(total[key] for total in totals["collectives"])


def compare(what, path, uneven):
    """Whether the program ran; the rest goes into `failures`."""
    try:
        done = mtf("run", path, "--count", "--json")
    except subprocess.TimeoutExpired:
        failures.append(f"{what}: endless")
        return False
    if done.returncode != 0:
        if "internal" in done.stdout + done.stderr or done.returncode not in (1, 2):
            failures.append(f"{what}: {done.stdout[-300:]}{done.stderr[-300:]}")
        return False
    ranks = json.loads(done.stdout.splitlines()[-1])["ranks"]
    counted = {}
    for rank in ranks:
        for entry in rank["entries"]:
            if entry["form"] == 1:  # the one that is planned
                counted.setdefault(entry["entry"], []).append(entry)
    for entry, rows in counted.items():
        plan = json.loads(mtf("plan", path, entry, "--json").stdout)["totals"]
        peaks = [row["totals"]["peak_bytes"] for row in rows]
        if max(peaks) != plan["peak_bytes"] or (not uneven and min(peaks) != max(peaks)):
            failures.append(f"{what}, {entry}: peak {peaks}, planned {plan['peak_bytes']}")
        most = max(moved(row["totals"], "bytes") for row in rows)
        if most != rows[0]["calls"] * moved(plan, "bytes"):
            failures.append(f"{what}, {entry}: bytes {most} at most, planned {moved(plan, 'bytes')}")
        busiest = max(row["totals"]["flops"] for row in rows)
        if busiest != rows[0]["calls"] * plan["flops"]:
            failures.append(f"{what}, {entry}: flops {busiest} at most, planned {plan['flops']}")
        for row in rows:
            found = [row["totals"]["flops"], moved(row["totals"], "calls"),
                     moved(row["totals"], "bytes")]
            wanted = [row["calls"] * number for number in
                      [plan["flops"], moved(plan, "calls"), moved(plan, "bytes")]]
            # Where slices are of several sizes, the plan is that of the rank that has most to do.
            alike = found[1] == wanted[1] and (
                found[0] <= wanted[0] and found[2] <= wanted[2] if uneven else found == wanted)
            if not alike:
                failures.append(f"{what}, {entry}: flops, calls, bytes {found}, planned {wanted}")
    return True


ran = 0
with tempfile.TemporaryDirectory() as folder:
    for seed in range(FIRST, FIRST + PROGRAMS):
        text, is_uneven = program(random.Random(seed))
        file = f"{folder}/program.mtf"
        with open(file, "w", encoding="utf-8") as out:
            out.write(text)
        before = len(failures)
        ran += compare(f"program {seed}", file, is_uneven)
        if len(failures) > before:
            failures.append(text)
if ran * 10 < PROGRAMS * 8:
    failures.append(f"only {ran} of {PROGRAMS} programs ran")

print("\n".join(failures))
print(f"{ran} programs ran")
print(f"{'1 passed, 0 failed' if not failures else '0 passed, 1 failed'}")
sys.exit(1 if failures else 0)

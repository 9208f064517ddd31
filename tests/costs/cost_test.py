#!/usr/bin/python3
"""What `mtf cost` says is Table 1 of the Mesh-TensorFlow paper, for any sizes and meshes.

Its rows are those of two_layer, its formulas the table's leading terms; the exact numbers beside them
follow when each dim and each axis is scaled in turn. What it says of a layout is what `mtf plan` and
`mtf run --count` say. `mtf calibrate` is run once, for its file. Called with the path of mtf; run from
the root of the project.
"""

import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from verdict import Failures  # noqa: E402

MTF = sys.argv[1]
TWO_LAYER = "examples/two_layer.mtf"
SOURCE = open(TWO_LAYER, encoding="utf-8").read()
FOLDER = tempfile.TemporaryDirectory()  # of all files here; goes with the process
ENVIRONMENT = dict(os.environ, XDG_CONFIG_HOME=tempfile.mkdtemp(dir=FOLDER.name))
failures = Failures()
check = failures.check_equal


def mtf(*args, status=0):
    done = subprocess.run([MTF, *args], capture_output=True, text=True, timeout=1200,
                          env=ENVIRONMENT)
    if done.returncode != status:
        raise SystemExit(f"mtf {' '.join(args)}: {done.stdout}{done.stderr}")
    return done.stdout


def cost(path, entry, *more):
    return json.loads(mtf("cost", path, entry, "--json", *more))


def with_sizes(batch, io, hidden):
    """A copy of two_layer with other sizes."""
    text = re.sub(r"dim batch = \d+, io = \d+, hidden = \d+",
                  f"dim batch = {batch}, io = {io}, hidden = {hidden}", SOURCE)
    folder = tempfile.mkdtemp(dir=FOLDER.name)
    path = os.path.join(folder, "two_layer.mtf")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def text_of(terms):
    """{"batch hidden / rows": coefficient}"""
    found = {}
    for term in terms:
        dims = " ".join(sorted(term["dims"]))
        over = " ".join(sorted(term["over"]))
        check(f"powers in {term}", set([*term["dims"].values(), *term["over"].values()]) - {1},
              set())
        found[dims + (" / " + over if over else "")] = term["coefficient"]
    return found


# Per layout: what every kind of amount is a multiple of, and which axes split it. Table 1 has no
# coefficients for compute and memory; there are five products of 2·b·d_io·d_h each (x needs no gradient).
COMPUTE = {"replicated": "", "data_parallel": "rows", "model_parallel": "cols", "both": "cols rows",
           "three_way": "cols planes rows"}
ALL_REDUCED = {
    "replicated": {},
    "data_parallel": {"rows": {"hidden io": 2}},
    "model_parallel": {"cols": {"batch io": 1}},
    "both": {"cols": {"batch io / rows": 1}, "rows": {"hidden io / cols": 2}},
    "three_way": {"planes": {"batch hidden / cols rows": 2}, "cols": {"batch io / planes rows": 1},
                  "rows": {"hidden io / cols planes": 2}, "planes rows": {"": 1}},  # the loss
}
MEMORY = {
    "replicated": {"batch io", "batch hidden", "hidden io"},
    "data_parallel": {"batch io / rows", "batch hidden / rows", "hidden io"},
    "model_parallel": {"batch io", "batch hidden / cols", "hidden io / cols"},
    "both": {"batch io / rows", "batch hidden / cols rows", "hidden io / cols"},
    "three_way": {"batch io / planes rows", "batch hidden / cols rows", "hidden io / cols planes"},
}


def formulas(table, where):
    for row in table["layouts"]:
        name = row["layout"]
        over = COMPUTE[name]
        check(f"{where}, {name}: compute", text_of(row["flops_terms"]),
              {"batch hidden io" + (" / " + over if over else ""): 10})
        found = {" ".join(c["axes"]): text_of(c["terms"]) for c in row["totals"]["collectives"]
                 if c["kind"] == "all_reduce"}
        check(f"{where}, {name}: all-reduced", found, ALL_REDUCED[name])
        # Which of its terms is alive at the peak depends on the sizes; none but the table's is.
        check(f"{where}, {name}: memory", set(text_of(row["peak"]["terms"])) - MEMORY[name], set())


def amount(terms, sizes):
    """The value of a formula."""
    return sum(term["coefficient"] * math.prod(sizes[d] ** p for d, p in term["dims"].items()) /
               math.prod(sizes[a] ** p for a, p in term["over"].items()) for term in terms)


def close(what, exact, leading):
    """The formula leaves out lower orders: at these sizes, a few percent."""
    if not 0.97 * exact <= leading <= 1.0001 * exact:
        failures.append(f"{what}: the leading terms give {leading}, exactly it is {exact}")


def table_1():
    base = {"batch": 512, "io": 256, "hidden": 1024, "rows": 2, "cols": 2, "planes": 2}
    cases = [base] + [{**base, name: 2 * size} for name, size in base.items()]
    for sizes in cases:
        path = with_sizes(sizes["batch"], sizes["io"], sizes["hidden"])
        where = ", ".join(f"{k} {v}" for k, v in sizes.items())
        for layout, over in COMPUTE.items():
            axes = ["planes", "rows", "cols"] if layout == "three_way" else ["rows", "cols"]
            mesh = ",".join(f"{a}={sizes[a]}" for a in axes)
            # The paper's meshes have no axis that nothing is split over; such an axis never costs more.
            used = ",".join(f"{a}={sizes[a] if a in over.split() else 1}" for a in axes)
            table = cost(path, "train_step", "--layout", layout, "--mesh", used)
            spare = cost(path, "train_step", "--layout", layout, "--mesh", mesh)
            check(f"{where}: rows", [r["layout"] for r in table["layouts"]], [layout])
            received = [sum(c["received"] for c in t["layouts"][0]["totals"]["collectives"])
                        for t in (spare, table)]
            if received[0] > received[1]:
                failures.append(f"{where}, {layout}: {received[0]} received, not {received[1]}")
            formulas(table, where)
            for row in table["layouts"] + spare["layouts"]:
                what = f"{where}, {row['layout']}"
                close(f"{what}: flops", row["totals"]["flops"], amount(row["flops_terms"], sizes))
                for c in row["totals"]["collectives"]:
                    close(f"{what}: {c['axes']}", c["elements"], amount(c["terms"], sizes))
                close(f"{what}: memory", row["totals"]["peak_bytes"],
                      4 * amount(row["peak"]["terms"], sizes) +
                      sum(h["bytes"] for h in row["peak"]["held"] if not h["value"]))


def same_as_plan():
    """The totals of each row are those of the plan, and its parts add up."""
    for path in ("examples/two_layer.mtf", "examples/mnist.mtf", "examples/parallel/feed_forward.mtf",
                 "examples/parallel/transformer.mtf"):
        for entry in json.loads(mtf("plan", path, "--json"))["entries"]:
            for row in cost(path, entry)["layouts"]:
                where = f"{path}, {entry}, {row['layout']}"
                planned = json.loads(mtf("plan", path, entry, "--layout", row["layout"], "--json"))
                for c in row["totals"]["collectives"]:
                    del c["seconds"], c["terms"]
                check(f"{where}: totals", row["totals"], planned["totals"])
                check(f"{where}: held at the peak", sum(h["bytes"] for h in row["peak"]["held"]),
                      row["totals"]["peak_bytes"])
                parts = row["compute_seconds"] + row["communication_seconds"]
                if not math.isclose(row["seconds"], parts) or row["seconds"] <= 0:
                    failures.append(f"{where}: {row['seconds']} s are not {parts} s")
                if not 0 < row["utilization"] <= 1 or not 0 <= row["replicated"] < 1:
                    failures.append(f"{where}: {row['utilization']}, {row['replicated']}")


# The four products of a Transformer layer as SUMMA has them: `@` gathers both operands where the plan
# would find something cheaper for some of them (a stationary operand).
SUMMA = """dim tokens = 256, h = 64, o = 64, three = 192, four = 256, e = 64
mesh grid = [r: 8, c: 8]
layout summa on grid { tokens -> r; h, three, four, o, e -> c
                       at "*qkv/w" { h -> r; three -> c }
                       at "*out/w" { o -> r; h -> c }
                       at "*ff1/w" { h -> r; four -> c }
                       at "*ff2/w" { four -> r; e -> c } }
fn linear(x, from: dim, to: dim) {
  param w : f32[from, to] = normal(stddev = 0.1)
  return einsum(x @ [tokens -> r], w @ [to -> c] -> [tokens, to])
}
# the four products of a Transformer layer, with what is between them left out
fn layer(x: f32[tokens, h], attended: f32[tokens, o]) {
  let all = linear(x, h, three) as "qkv"
  let mixed = linear(attended, o, h) as "out"
  let wide = linear(mixed, h, four) as "ff1"
  return all, linear(wide, four, e) as "ff2"
}
"""


def summa():
    """The published volume of 2-D parallelism, (q-1)/q^2 (7 bsh + 12 h^2), on up to 64 ranks."""
    path = os.path.join(FOLDER.name, "summa.mtf")
    with open(path, "w", encoding="utf-8") as file:
        file.write(SUMMA)
    tokens, h = 256, 64
    for q in (2, 4, 8):
        row = cost(path, "layer", "--mesh", f"r={q},c={q}")["layouts"][0]
        found = {" ".join(c["axes"]): (c["kind"], c["received"])
                 for c in row["totals"]["collectives"]}
        share = (q - 1) / q**2
        check(f"SUMMA on {q} x {q}", found, {"r": ("all_gather", share * 12 * h * h),
                                             "c": ("all_gather", share * 7 * tokens * h)})


def illegal_rows():
    rows = cost("examples/illegal.mtf", "network")["layouts"]
    legal = {row["layout"]: row["legal"] for row in rows}
    check("illegal.mtf", legal, {"one_axis_for_two_dims": False, "three_by_two": False,
                                 "both_over_all": False, "spatial": True})
    for row in rows:
        check(f"illegal.mtf, {row['layout']}: errors", bool(row["errors"]), not row["legal"])


def published():
    """The README's table is what `mtf cost` prints, and the schemes are in the published order."""
    seconds = {}
    for line in open("examples/published/README.md", encoding="utf-8"):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) != 7 or ", " not in cells[0]:
            continue
        name, layout = cells[0].split(", ")
        path = f"examples/published/{name}.mtf"
        text = mtf("cost", path)
        row = re.search(rf"^  {layout} +.*$", text, re.M).group(0)
        check(f"{cells[0]}: parameters", f", {cells[2]} parameters;" in text, True)
        for cell in (cells[1].split()[0], cells[3], cells[4], cells[5]):
            check(f"{cells[0]}: {cell} in {row}", re.search(rf"  {cell}( |$)", row) is None, False)
        table = cost(path, "train_step", "--layout", layout)
        seconds[layout] = table["layouts"][0]["seconds"]
    check("the README's rows", list(seconds), ["data_and_model", "two_way", "experts", "one_d", "two_d", "three_d",
                                               "model_parallel", "fully_sharded"])
    if not seconds["one_d"] > seconds["two_d"] > seconds["three_d"]:
        failures.append(f"the order of the schemes: {seconds}")


def calibrated():
    before = mtf("cost", TWO_LAYER, "--hardware", "this_machine", status=1)
    check("cost of a machine that is not measured", before, "")
    mtf("calibrate")
    for ranks, layout in ((1, "replicated"), (4, "both")):
        table = cost(TWO_LAYER, "train_step", "--layout", layout)
        row = table["one_rank"] if ranks == 1 else table["layouts"][0]
        check(f"hardware of {ranks}", row["hardware"], "this_machine")
        if not 0 < row["seconds"] < float("inf"):
            failures.append(f"{ranks} ranks: {row['seconds']} s")


table_1()
same_as_plan()
illegal_rows()
summa()
published()
if "--quick" not in sys.argv:
    calibrated()
failures.end()

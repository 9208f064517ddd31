"""Programs of many mechanisms, under random layouts: equal bits, and what a plan says is what a run counts.

`mixed_test.py build/mtf 0 200` draws 200 programs, some of them with sizes and meshes that do not divide.
"""

import json
import os
import random
import subprocess
import sys
import tempfile

from programs import DIMS, drawn, layout

MESHES = ("x: 2, y: 2", "x: 2, y: 2, z: 2", "x: 4, y: 2", "x: 2, y: 1, z: 2")
ODD_MESHES = ("x: 3, y: 2", "x: 2, y: 3, z: 2", "x: 5, y: 1")
ODD_DIMS = ("batch", "ff", "heads", "head", "vocab", "e_ff", "best")
LAYOUTS = 14


def mtf(binary, *words, text=None):
    done = subprocess.run([binary, *words], input=text, capture_output=True, text=True, check=False, timeout=600)
    return done.returncode, done.stdout, done.stderr


def legal_program(binary, seed, uneven):
    """A program with those of its random layouts that fit it, and their names."""
    draw = random.Random(7 * seed + 1)
    mesh = draw.choice(ODD_MESHES if uneven else MESHES)
    axes = [axis.split(":")[0] for axis in mesh.split(", ")]
    sizes = {dim: DIMS[dim] + draw.choice([-1, 0, 1]) for dim in ODD_DIMS} if uneven else {}
    declared, run, names = drawn(seed, sizes)
    if uneven and "rotate = true" in declared:  # which turns pairs of elements
        sizes["head"] += sizes["head"] % 2
        declared, run, names = drawn(seed, sizes)
    declared += f"mesh g = [{mesh}]\nlayout region on g {{ batch -> x; ff -> y }}\n"
    ways = ["uneven ", "uneven infer "] if uneven else ["", "", "", "infer "]
    layouts = {f"l{i}": layout(draw, f"l{i}", axes, draw.choice(ways)) for i in range(LAYOUTS)}
    status, out, errors = mtf(binary, "cost", "-", "step", "--json",
                              text=declared + "\n".join(layouts.values()) + "\n" + run)
    costs = json.loads(out)
    # An axis that a condition must not name makes no layout, but an error of the program.
    refused = [found["text"] for found in costs.get("diagnostics", []) if found["severity"] == "error"]
    if refused:
        assert all(found["slug"] == "layout-conflict" for found in costs["diagnostics"]
                   if found["severity"] == "error"), (seed, names, refused, errors)
        return None, []
    assert status == 0, (seed, names, out, errors)
    legal = {row["layout"] for row in costs["layouts"] if row["legal"]}
    kept = [name for name in layouts if name in legal]
    return declared + "\n".join(layouts[name] for name in kept) + "\n" + run, kept


def collectives(totals, calls=1):
    """By kind and axes. What a `serve` brings depends on the indices."""
    return {(one["kind"], tuple(one["axes"])): (one["calls"] * calls, one["bytes"] * calls)
            for one in totals["collectives"] if one["kind"] != "serve"}


def bytes_of(moved):
    return sum(count[1] for count in moved.values())


def check_counts(binary, path, seed, name):
    """False: what runs beside the step does not fit the layout."""
    status, out, errors = mtf(binary, "run", path, "--layout", name, "--count", "--json")
    counts = json.loads(out)
    if status != 0:
        slugs = {found["slug"] for found in counts["diagnostics"] if found["severity"] == "error"}
        assert slugs <= {"layout-conflict", "indivisible"}, (seed, name, counts["diagnostics"], errors)
        return False
    steps = [[entry for entry in rank["entries"] if entry["entry"] == "step"] for rank in counts["ranks"]]
    assert all(len(forms) == 1 for forms in steps), (seed, name)
    counted = [forms[0]["totals"] for forms in steps]
    calls = steps[0][0]["calls"]
    plan = json.loads(mtf(binary, "plan", path, "step", "--layout", name, "--json")[1])["totals"]
    peak = max(totals["peak_bytes"] for totals in counted)
    assert peak == plan["peak_bytes"], (seed, name, "peak", peak, plan["peak_bytes"])
    flops = max(totals["flops"] for totals in counted)
    assert abs(flops - calls * plan["flops"]) <= 1e-9 * flops, (seed, name, "flops", flops, plan["flops"])
    planned = collectives(plan, calls)
    ranks = [collectives(totals) for totals in counted]
    assert max(map(bytes_of, ranks)) == bytes_of(planned), (seed, name, planned, ranks)
    assert planned in ranks, (seed, name, planned, ranks)
    return True


def check(binary, folder, seed, uneven):
    text, names = legal_program(binary, seed, uneven)
    if not names:
        return 0
    path = os.path.join(folder, "mixed.mtf")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    if not uneven:
        _, out, errors = mtf(binary, "verify", path)
        rows = [line for line in out.splitlines() if not line.startswith(" ")]
        wrong = [row for row in rows if "equal bits" not in row and "does not fit" not in row]
        assert not wrong and rows, (seed, wrong, errors, text)
    # A loop on the device is planned as one trip, and counted as often as it is gone through.
    return sum(check_counts(binary, path, seed, name) for name in names) if "  while " not in text else 0


def main():
    binary = sys.argv[1]  # then, for more programs: the first one and how many
    first, count = (int(word) for word in sys.argv[2:4]) if len(sys.argv) > 3 else (229, 12)
    with tempfile.TemporaryDirectory() as folder:
        even = sum(check(binary, folder, seed, False) for seed in range(first, first + count))
        odd = sum(check(binary, folder, seed, True) for seed in range(first, first + count // 2))
    assert even > count and odd > count // 2, (even, odd)
    print(f"{even} layouts, and {odd} with sizes that do not divide: counted as planned, the first with equal bits")


if __name__ == "__main__":
    main()

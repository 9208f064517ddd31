"""Searches of programs of many mechanisms: what is written costs what was promised, and no bound is above a price.

`searched_test.py build/mtf 0 100` draws 100 programs.
"""

import json
import os
import random
import sys
import tempfile

from mixed_test import MESHES, mtf
from programs import drawn, layout

KEYS = {"time": lambda row: row["seconds"], "bytes": lambda row: row["received_bytes"],
        "memory": lambda row: row["totals"]["peak_bytes"]}
OTHERS = 8  # layouts that are drawn beside a search


def question(draw, axes):
    """The layout that a search begins with, if any, and the options of the search."""
    words = ["--objective", draw.choice(["time", *KEYS]), "--budget", "1"]
    begun = ""
    if draw.random() < 0.4:
        words += ["--layout", "mine"]
        begun = layout(draw, "mine", axes, draw.choice(["", "infer ", "auto ", "uneven "])) + "\n"
    for share, option, values in ((0.2, "--ranks", ["6", "8", "12", "32"]),
                                  (0.2, "--keep-whole", ["d", "batch", "length,d"]),
                                  (0.2, "--over", ["none", "params", "rest,gather", "lets,params"])):
        if draw.random() < share:
            words += [option, draw.choice(values)]
    return begun, words


def check_written(binary, path, seed, words, best):
    status, out, errors = mtf(binary, "search", path, "step", "--write", *words)
    assert status == 0, (seed, words, out, errors)
    name = best["source"].split()[1]
    costs = json.loads(mtf(binary, "cost", path, "step", "--layout", name, "--json")[1])
    row = costs["layouts"][0]
    assert row["legal"], (seed, words, row["errors"])
    assert abs(row["seconds"] - best["seconds"]) <= 1e-9 * best["seconds"], (seed, words, row, best)
    assert row["received_bytes"] == best["received_bytes"], (seed, words, row, best)
    assert row["totals"]["peak_bytes"] == best["peak_bytes"], (seed, words, row, best)


def check_bound(binary, seed, text, draw, axes, words, found):
    """By layouts that are drawn. A search has no `infer`, by which an `@` may come to more."""
    layouts = "".join(layout(draw, f"l{i}", axes, "") + "\n" for i in range(OTHERS))
    status, out, _ = mtf(binary, "cost", "-", "step", "--json", text=text.replace("let x =", layouts + "let x ="))
    if status != 0 or found["gap"] is None:
        return
    price = KEYS[words[1]]
    prices = [price(row) for row in json.loads(out)["layouts"] if row["legal"] and row["layout"] != "region"]
    best = price({**found["best"], "totals": found["best"]})
    assert not prices or best / (1 + found["gap"]) <= min(prices) * (1 + 1e-9), (seed, words, found["best"], prices)


def check_front(seed, found):
    """Of the rows beside the answer, none is beaten by another in both time and memory."""
    figures = [(row["seconds"], row["peak_bytes"]) for row in found["front"]]
    answer = (found["best"]["seconds"], found["best"]["peak_bytes"])
    beaten = [own for own in figures if own != answer and
              any(other != own and other[0] <= own[0] and other[1] <= own[1] for other in figures)]
    assert not beaten, (seed, beaten, found["front"])


def check(binary, folder, seed):
    draw = random.Random(13 * seed + 5)
    mesh = draw.choice(MESHES + ("x: 16, y: 3",))
    axes = [axis.split(":")[0] for axis in mesh.split(", ")]
    declared, run, names = drawn(seed)
    begun, words = question(draw, axes)
    declared += f"mesh g = [{mesh}] of {draw.choice(['a100', 'tpu_v3', 'cpu_core'])}\n"
    text = declared + "layout region on g { batch -> x; ff -> y }\n" + begun + run
    path = os.path.join(folder, "searched.mtf")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    status, out, errors = mtf(binary, "search", path, "step", "--json", *words)
    found = json.loads(out)
    if status != 0:  # what is written in the program, and stays, fits no mesh
        slugs = {one["slug"] for one in found["diagnostics"] if one["severity"] == "error"}
        assert slugs and slugs <= {"no-layout", "layout-conflict", "indivisible"}, (seed, names, found, errors)
        return 0
    check_front(seed, found)
    check_written(binary, path, seed, words, found["best"])
    if not begun and len(words) == 4:
        check_bound(binary, seed, text, draw, axes, words, found)
    return 1


def main():
    binary = sys.argv[1]  # then, for more programs: the first one and how many
    first, count = (int(word) for word in sys.argv[2:4]) if len(sys.argv) > 3 else (0, 12)
    with tempfile.TemporaryDirectory() as folder:
        done = sum(check(binary, folder, seed) for seed in range(first, first + count))
    assert done > count // 2, done
    print(f"{done} searches: written as promised")


if __name__ == "__main__":
    main()

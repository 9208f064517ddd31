"""`mtf search --write`: the file still checks, its comments are intact, and it costs what was promised."""

import os
import sys
import tempfile
import xml.etree.ElementTree as xml

from programs import drawn, mtf

PROGRAM = """# A comment at the top.
import optim   # another one
dim batch = 64, io = 32, hidden = 128

mesh grid = [rows: 2, cols: 2]   # four ranks
# what a person wrote
layout mine on grid auto { batch -> rows }   # behind it
layout other on grid { hidden -> cols }

fn step(x: f32[batch, io]) {
  param w : f32[io, hidden] = normal(stddev = 0.1)
  let loss = mean(square(einsum(x, w -> [batch, hidden])))   # the loss
  minimize loss with optim.sgd(lr = 0.1)
  return loss
}
"""


def comments(text):
    return [line[line.index("#"):] for line in text.splitlines() if "#" in line]


def written(binary, folder, text, *words):
    path = os.path.join(folder, "net.mtf")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    svg = os.path.join(folder, "all.svg")
    status, found, errors = mtf(binary, "search", path, "step", "--write", "--svg", svg, "--json",
                                *words)
    assert status == 0, (errors, found)
    assert xml.parse(svg).getroot().tag.endswith("svg")
    with open(path, encoding="utf-8") as file:
        after = file.read()
    assert comments(after) == comments(text), after
    assert mtf(binary, "check", path, "--json")[0] == 0, after
    name = "mine" if "mine" in words else "found"
    _, costs, _ = mtf(binary, "cost", path, "step", "--layout", name, "--json")
    row = costs["layouts"][0]
    best = found["best"]
    assert row["legal"], after
    assert abs(row["seconds"] - best["seconds"]) < 1e-9 * row["seconds"], (row, best)
    assert row["totals"]["peak_bytes"] == best["peak_bytes"], (row, best)
    return after


def main():
    binary = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        once = written(binary, folder, PROGRAM)
        assert once.replace(next(line for line in once.splitlines(True) if "layout found" in line),
                            "", 1) == PROGRAM, once
        assert written(binary, folder, once) == once  # it takes the place of the first
        mine = written(binary, folder, PROGRAM, "--layout", "mine")
        assert "auto" not in mine and "layout mine on grid { batch -> rows" in mine, mine
        many = written(binary, folder, PROGRAM, "--ranks", "16")
        assert "mesh grid_16 = [" in many and "layout found on grid_16" in many, many
        for seed in range(40, 52):
            program, _ = drawn(seed)
            written(binary, folder, "# first\n" + program + "# last\n", "--budget", "1")
    print("written, checked and priced")


if __name__ == "__main__":
    main()

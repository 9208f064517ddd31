"""Regions and `@` under meshes of any shape: what is found is the best that there is, and costs so once it is written."""

import itertools
import pathlib
import sys
import tempfile

from programs import all_layouts, mtf

PROGRAM = """import optim
dim batch = 16, io = 8, hidden = 32
mesh grid = [r: 2, s: 2]
layout inner on grid {{ hidden -> s }}  # of a region
layout mine  on grid {{ batch -> r }}
fn step(x: f32[batch, io]) {{
  param w : f32[io, hidden] = normal(stddev = 0.1)
  let h = einsum(x, w -> [batch, hidden]){pin}
  with layout inner {{
    let loss = mean(square(relu(h)))
    minimize loss with optim.sgd(lr = 0.1)
    return loss
  }}
}}
"""
PINS = {"": "", "pinned": " @ [batch -> r, ..]"}


def check_best(binary, pin):
    """Of two axes of 4 ranks, each shape with each layout priced by `mtf cost`."""
    text = PROGRAM.format(pin=pin)
    status, found, errors = mtf(binary, "search", "-", "--ranks", "4", "--over", "none", "--json", text=text)
    assert status == 0 and found["proven"], (found, errors)
    least = []
    for r, s in ((1, 4), (2, 2), (4, 1)):
        layouts = list(all_layouts(["batch", "io", "hidden"]))
        declared = "".join(f"layout l{i} on grid {{ {rules} }}\n" for i, rules in enumerate(layouts))
        status, costs, errors = mtf(binary, "cost", "-", "step", "--mesh", f"r={r},s={s}", "--json", text=text + declared)
        assert status == 0, errors
        least += [row["seconds"] for row in costs["layouts"] if row["legal"] and row["layout"][0] == "l"]
    assert abs(found["best"]["seconds"] - min(least)) <= 1e-9, (pin, found["best"], min(least))
    return len(least)


def check_written(binary, folder, pin, *words):
    path = pathlib.Path(folder) / "net.mtf"
    path.write_text(PROGRAM.format(pin=pin), encoding="utf-8")
    status, found, errors = mtf(binary, "search", str(path), "--write", "--budget", "0.5", "--json", *words)
    assert status == 0, (pin, words, found, errors)
    best = found["best"]
    name = best["source"].split()[1]
    status, costs, errors = mtf(binary, "cost", str(path), "step", "--layout", name, "--json")
    (row,) = (row for row in costs["layouts"] if row["layout"] == name)
    assert row["legal"], (pin, words, row)
    figures = (row["seconds"], row["received_bytes"], row["totals"]["peak_bytes"])
    promised = (best["seconds"], best["received_bytes"], best["peak_bytes"])
    assert all(abs(a - b) <= 1e-9 * max(1, b) for a, b in zip(figures, promised)), (pin, words, figures, promised)
    return path.read_text(encoding="utf-8")


def main():
    binary = sys.argv[1]
    layouts = sum(check_best(binary, pin) for pin in PINS.values())
    with tempfile.TemporaryDirectory() as folder:
        ways = (("--ranks", "4"), ("--ranks", "8", "--axes", "3"), ("--ranks", "8", "--axes", "1"))
        of = ((), ("--layout", "mine"), ("--layout", "inner"))
        for pin, words, layout in itertools.product(PINS.values(), ways, of):
            text = check_written(binary, folder, pin, *words, *layout)
            # What a person has written stays, on an axis of one rank, too.
            assert "batch -> r" in text and "{ hidden -> s" in text and "# of a region" in text, text
        # The region's axis stays where it is one of a single rank.
        text = check_written(binary, folder, "", "--ranks", "3")
        assert "mesh grid_3 = [r: 3, s: 1]\n" in text, text
        # A layout that is searched and that a region names is the same in both places.
        check_written(binary, folder, "", "--layout", "inner")
    print(f"{layouts} legal layouts: nothing is better than what was found, and what is written costs so")


if __name__ == "__main__":
    main()

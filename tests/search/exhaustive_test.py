"""What a search finds costs no more than any layout that there is, each priced by `mtf cost`.

`exhaustive_test.py build/mtf 0 300` takes some minutes.
"""

import sys

from programs import all_layouts, convolved, drawn, mtf

CHUNK = 400  # layouts that one file declares


def check(binary, seed, make=drawn):
    program, names = make(seed)
    # The search is to look at no other dims: of a convolution, its taps and what strides make.
    others = [dim for dim in ("p", "q", "b2", "c2") if f"{dim}," in program or f"{dim}:" in program]
    words = ["--keep-whole", ",".join(others)] if others else []
    layouts = list(all_layouts(names))
    legal = []
    for first in range(0, len(layouts), CHUNK):
        declared = "".join(f"layout l{i} on g {{ {rules} }}\n"
                           for i, rules in enumerate(layouts[first:first + CHUNK]))
        status, costs, _ = mtf(binary, "cost", "-", "step", "--json", text=program + declared)
        assert status == 0, (seed, costs["diagnostics"])
        legal += [row for row in costs["layouts"] if row["legal"]]
    assert legal, seed
    for objective, key in (("time", "seconds"), ("bytes", "received_bytes")):
        status, found, errors = mtf(binary, "search", "-", "step", "--over", "none", "--objective",
                                    objective, "--json", *words, text=program)
        assert status == 0, (seed, errors)
        least = min(row[key] for row in legal)
        best = found["best"]
        assert abs(best[key] - least) <= 1e-9 * max(least, 1), (seed, objective, best, least)
        # The whole space, with `params`, `*` and gathers, has nothing worse.
        status, wide, errors = mtf(binary, "search", "-", "step", "--objective", objective,
                                   "--budget", "1", "--json", text=program)
        assert wide["best"][key] <= least * (1 + 1e-9), (seed, objective, wide["best"], least)
        if wide["gap"] is not None:
            bound = wide["best"][key] / (1 + wide["gap"])
            assert bound <= least * (1 + 1e-9), (seed, objective, wide["gap"], wide["best"], least)
        # What is found, written into the program, costs what was promised.
        source = wide["best"]["source"]
        _, again, _ = mtf(binary, "cost", "-", "step", "--json", text=program + source + "\n")
        row = again["layouts"][0]
        assert row["legal"], (seed, source, row["errors"])
        for name in ("seconds", "received_bytes"):
            assert abs(row[name] - wide["best"][name]) <= 1e-9 * max(row[name], 1), (seed, source)
        assert row["totals"]["peak_bytes"] == wide["best"]["peak_bytes"], (seed, source)
    return len(legal)


def main():
    binary = sys.argv[1]  # then, for more programs: the first one and how many
    first, count = (int(word) for word in sys.argv[2:4]) if len(sys.argv) > 3 else (0, 12)
    layouts = sum(check(binary, seed) for seed in range(first, first + count))
    convolutions = range(first, first + (count + 3) // 4)
    layouts += sum(check(binary, seed, convolved) for seed in convolutions)
    print(f"{count + len(convolutions)} programs, {layouts} legal layouts: nothing is better than what was found")


if __name__ == "__main__":
    main()

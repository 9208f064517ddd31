"""From the program and its mesh alone, a search finds what costs no more than what was published.

`published_test.py build/mtf long` searches as long as `mtf search` does by default, and holds the
table of examples/published/README.md to what it finds; of the cube, which is the hardest to find,
that is always done.
"""

import re
import sys

from programs import mtf

FOLDER = "examples/published"
UNITS = {"s": 1.0, "ms": 1e-3}


def rows():
    """file, mesh, published and found seconds."""
    for line in open(f"{FOLDER}/README.md", encoding="utf-8"):
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == 4 and re.fullmatch(r"\w+, \w+", cells[0]) and cells[1][0].isdigit():
            yield (*cells[0].split(", "), *(seconds(cell) for cell in cells[1:3]))


def seconds(text):
    number, unit = text.split()
    return float(number) * UNITS[unit]


def main():
    binary, is_long = sys.argv[1], len(sys.argv) > 2
    checked = 0
    for name, mesh, published, found in rows():
        is_whole = is_long or mesh == "cube"
        budget = [] if is_whole else ["--budget", "2"]
        status, result, errors = mtf(binary, "search", f"{FOLDER}/{name}.mtf", "--on", mesh, "--json", *budget)
        assert status == 0, (name, errors)
        best = result["best"]
        assert best["seconds"] <= published * 1.005, (name, best, published)
        if is_whole:
            assert abs(best["seconds"] / found - 1) < 0.005, (name, best, found)
        print(f"{name} on {mesh}: {best['seconds']:.3g} s, published {published:.3g} s")
        checked += 1
    assert checked == 7, checked


if __name__ == "__main__":
    main()

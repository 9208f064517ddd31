"""More of a budget never comes to a worse answer.

`budget_test.py build/mtf 0 40` draws 40 programs.
"""

import sys

from programs import mtf
from random_search import drawn

BUDGETS = ("0.4", "1.7", "2.5")


def check(binary, seed):
    program, _ = drawn(seed)
    _, free, _ = mtf(binary, "search", "-", "step", "--budget", "0.3", "--json", text=program)
    # What the memory makes hard, and what it does not.
    for memory in ([], ["--memory", str(free["best"]["peak_bytes"] * 2 // 3)]):
        reached = []
        for budget in BUDGETS:
            status, found, errors = mtf(binary, "search", "-", "step", "--budget", budget, "--json", *memory, text=program)
            assert status == 0, (seed, errors)
            best = found["best"]
            beyond = max(0, best["peak_bytes"] - int(memory[1])) if memory else 0
            reached.append((beyond, float(f"{best['seconds']:.9g}")))
        assert reached == sorted(reached, reverse=True), (seed, memory, reached)


def main():
    binary = sys.argv[1]  # then, for more programs: the first one and how many
    first, count = (int(word) for word in sys.argv[2:4]) if len(sys.argv) > 3 else (1, 1)
    for seed in range(first, first + count):
        check(binary, seed)
    print(f"{count} program{'s' if count > 1 else ''}: no answer is worse than one with less of a budget")


if __name__ == "__main__":
    main()

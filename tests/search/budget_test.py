"""More of a budget never comes to a worse answer, and a budget is as long on any mesh.

`budget_test.py build/mtf 0 40` draws 40 programs.
"""

import resource
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
            assert status == (0 if found["fits"] else 1), (seed, errors)
            best = found["best"]
            beyond = max(0, best["peak_bytes"] - int(memory[1])) if memory else 0
            reached.append((beyond, float(f"{best['seconds']:.9g}")))
        assert reached == sorted(reached, reverse=True), (seed, memory, reached)


NET = """
import nn
import optim
import transformer
dim batch = 54, length = 81, model_dim = 81, ff = 243, heads = 27, head = 9
model net(x: f32[batch, length, model_dim]) {
  return transformer.layer(x, length, model_dim, ff, heads, head, causal = true)
}
fn step(x: f32[batch, length, model_dim]) {
  let loss = mean(square(net(x)))
  minimize loss with optim.sgd(lr = 0.1)
  return loss
}
"""


def seconds_on(binary, mesh):
    """Of the processor, that a search for a budget takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    program = f"{NET}mesh m = [{mesh}]\nlayout open on m uneven {{ }}\n"
    status, found, errors = mtf(binary, "search", "-", "step", "--layout", "open", "--budget", "1", "--json",
                                text=program)
    assert status == 0 and found["best"]["seconds"] > 0, (mesh, errors)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def check_length(binary):
    """On six axes a plan takes a hundred times as long as on two; the same budget is then for fewer of them."""
    few = seconds_on(binary, "a: 3, b: 9")
    many = seconds_on(binary, ", ".join(f"{axis}: 3" for axis in "abcdef"))
    assert many < 5 * few, (few, many)


def main():
    binary = sys.argv[1]  # then, for more programs: the first one and how many
    first, count = (int(word) for word in sys.argv[2:4]) if len(sys.argv) > 3 else (1, 1)
    check_length(binary)
    for seed in range(first, first + count):
        check(binary, seed)
    print(f"{count} program{'s' if count > 1 else ''}: no answer is worse than one with less of a budget")


if __name__ == "__main__":
    main()

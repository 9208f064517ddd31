"""What `auto` finds fits all that a file computes, not its entries alone; `verify` compares what was
found."""

import json
import os
import subprocess
import sys
import tempfile

# The gradient of w is no variable at top level, so that n and k share no axis there.
RESULTS = """
dim m = 24, n = 36, k = 30
mesh rect = [r: 2, c: 3]
layout found on rect auto uneven { m -> r }
model lin(a: f32[m, n]) -> f32[m, k] {
  param w : f32[n, k] = normal(stddev = 0.1)
  return einsum(a, w -> [m, k])
}
fn back(a: f32[m, n]) {
  let c = lin(a)
  return grad(sum(square(c)), [a, lin.w])
}
let da, dw = back(normal([m, n], seed = 1))
print max(2 * dw)
"""

# A part of batch does not divide as the whole does.
PARTS = """
dim batch = 4096, io = 255
mesh line = [r: 4]
layout found on line auto { }
fn f(a: f32[batch, io]) { return tanh(sin(exp(tanh(a)))) }
let y = f(normal([batch, io], seed = 1))
print sum(y[batch: 0..3])
"""

# Nothing but the entry: batch is split.
ALONE = PARTS.replace("print sum(y[batch: 0..3])", "print sum(y[io: 0..3])")

# What a rule splits twice at top level is wrong whatever is found, and said there.
FIXED = """
dim batch = 64, io = 32
mesh line = [r: 4]
layout found on line auto { batch, io -> r }
fn f(a: f32[batch]) { return tanh(a) }
print f(ones([batch])), sum(ones([batch, io]))
"""

SUMMED = """
dim n = 196608, m = 5
mesh line = [x: 3]
layout found on line auto { }
fn f(a: f32[n, m]) { return sum(tanh(sin(exp(tanh(a)))), over = n) }
print f(normal([n, m], seed = 1))
"""


def main():
    binary = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.mtf")
        env = dict(os.environ, XDG_CACHE_HOME=folder)

        def run(program, *words):
            with open(path, "w", encoding="utf-8") as file:
                file.write(program)
            done = subprocess.run([binary, *words, path], capture_output=True, text=True, env=env,
                                  timeout=120, check=False)
            return done.returncode, done.stdout, done.stderr

        for program in (RESULTS, PARTS, ALONE):
            status, _, errors = run(program, "run")
            assert status == 0 and "mtf: found layout" in errors, errors
        assert "batch -> r" in errors, errors
        for program in (RESULTS, PARTS):
            declared = program.splitlines()[3]
            assert declared.startswith("layout found"), declared
            status, _, errors = run(program, "search", "--layout", "found", "--write")
            assert status == 0, errors
            with open(path, encoding="utf-8") as file:
                written = file.read()
            assert "auto" not in written, written
            status, _, errors = run(written, "run")
            assert status == 0 and not errors, errors
        status, _, errors = run(FIXED, "run")
        assert status == 1 and "would split two dims" in errors, errors
        assert "program.mtf:6:29" in errors, errors
        status, rows, errors = run(SUMMED, "verify", "--json")
        assert status == 0, errors
        (row,) = json.loads(rows)["layouts"]
        assert not row["promised"] and "n is summed and split 3 ways" in row["because"][0], row
    print("found for all that is computed")


if __name__ == "__main__":
    main()

#!/usr/bin/python3
"""What is saved between a `restore` and the first call of what has the variables: all that was restored."""

import json
import pathlib
import sys
import tempfile

try:
    import numpy
except ImportError:
    sys.exit(77)

from programs import MTF, fail, program, read, run, write  # noqa: E402


def saved_before_it_is_taken(folder):
    """What was restored for variables that are still to come is in what is saved before they do."""
    text = """\
import optim
dim n = 4, k = 3
mesh two = [x: 2]
layout split on two { n -> x }
model net(x: f32[n]) {
  param w : f32[n] = ones
  return x * w
}
fn evaluate(x: f32[n]) { return sum(net(x)) }
fn train(x: f32[n]) {
  param other : f32[k, n] = normal
  let loss = mean(square(net(x))) + mean(square(other))
  minimize loss with optim.adam(lr = 0.1)
  return loss
}
state step : i32[] = zeros
if exists("early.safetensors") { restore "early.safetensors" }
while step < 4 {
  print "before {step}: {text(evaluate(ones([n])))}"
  save "early.safetensors"
  assert setting("ends", 9) > step, "ended"
  print "step {step} loss {text(train(ones([n])))}"
  step <- step + 1
}
"""
    pathlib.Path(folder, "early.mtf").write_text(text, encoding="utf-8")
    place = pathlib.Path(folder, "early.safetensors")
    two = ["mpirun", "--oversubscribe", "-n", "2", MTF, "run", "early.mtf", "--layout", "split"]
    unbroken = run(folder, two).stdout.splitlines()
    place.unlink()
    run(folder, [*two, "--set", "ends=2"], status=1)
    saved = place.read_bytes()
    names = set(read(place)[1])
    for command in (two, [MTF, "run", "early.mtf"], [MTF, "run", "early.mtf", "--layout", "split"]):
        done = run(folder, [*command, "--set", "ends=2"], status=1)
        if place.read_bytes() != saved:
            fail("what was restored and not taken is not what it was", done.stderr, names - set(read(place)[1]))
    if run(folder, [MTF, "run", "early.mtf"]).stdout.splitlines() != unbroken[4:]:
        fail("resumed from what was saved early", *unbroken)
    place.write_bytes(saved)
    fewer = text.replace("optim.adam(", "optim.sgd(").replace("param other", "param another").replace("(other)", "(another)")
    pathlib.Path(folder, "early.mtf").write_text(fewer.replace('restore "early.safetensors"',
                                                               'restore "early.safetensors" as "net/*"'), encoding="utf-8")
    run(folder, [MTF, "run", "early.mtf", "--set", "ends=0"], status=1)
    if set(read(place)[1]) != {"net/w", "step"}:
        fail("what the program has no variable for is saved", read(place)[1])


def saved_as_it_will_be(folder):
    """Of another program's file, in the dtype of the variable that is to take it."""
    write(pathlib.Path(folder, "others.safetensors"), {"net/w": numpy.array([1, 2, 3], "<f2"), "b": numpy.ones(3, "<f4")})
    text = """\
dim n = 3
state step : i32[] = ones
model net(x: f32[n]) {
  param w : f32[n] = zeros
  return sum(x * w)
}
restore "others.safetensors" as ["net/*"]
save "early.safetensors"
print net(ones([n]))
restore "early.safetensors"
print net(ones([n]))
"""
    if program(folder, text).stdout != "6\n6\n":
        fail("what was restored from f16 and saved at once")
    notes, arrays = read(pathlib.Path(folder, "early.safetensors"))
    if set(arrays) != {"net/w", "step"} or arrays["net/w"].dtype != numpy.float32 or json.loads(notes["dims"])["net/w"] != ["n"]:
        fail("what was restored and saved at once", notes, arrays)


with tempfile.TemporaryDirectory() as scratch:
    saved_before_it_is_taken(scratch)
    saved_as_it_will_be(scratch)

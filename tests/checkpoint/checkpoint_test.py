#!/usr/bin/python3
"""Checkpoints: the same file from every layout, resumed on every other one to the bit; the format as
others read and write it; what is told of files that do not fit; what cannot be written."""

import os
import pathlib
import resource
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy
except ImportError:
    sys.exit(77)

from programs import (LINE, MTF, TRAIN, checkpoints, fail, line, program, read, run, run_any,  # noqa: E402
                      write)

FAULT = pathlib.Path(__file__).resolve().parent / "fault.c"


def same_from_every_layout(folder):
    whole = None
    for layout, mpi in [("one", False), ("both", True), ("data", True), ("wide", False),
                        ("some", False), ("wide", True)]:
        shutil.rmtree(pathlib.Path(folder, "run"), ignore_errors=True)
        lines = run(folder, line(layout, mpi)).stdout.splitlines()
        if checkpoints(folder) != ["step_12.safetensors", "step_6.safetensors",
                                   "step_9.safetensors"]:
            fail(f"{layout}: keep = 3 leaves", checkpoints(folder))
        files = [pathlib.Path(folder, "run", name).read_bytes() for name in checkpoints(folder)]
        if whole is None:
            whole = lines, files
        if (lines, files) != whole:
            fail(f"{layout}: differs", lines, whole[0])
    return whole


def resumed_on_every_layout(folder, whole):
    lines, files = whole
    for layout, mpi in [("one", False), ("both", True), ("data", False), ("wide", True),
                        ("some", False)]:
        shutil.rmtree(pathlib.Path(folder, "run"))
        pathlib.Path(folder, "run").mkdir()
        pathlib.Path(folder, LINE).write_bytes(files[1])
        done = run(folder, line(layout, mpi, f"from={LINE}"))
        rest = done.stdout.splitlines()
        if "that no variable takes" in done.stderr:
            fail(f"resumed on {layout}: messages", done.stderr)
        now = [pathlib.Path(folder, "run", name).read_bytes() for name in checkpoints(folder)]
        if rest != lines[6:] or now != files:
            fail(f"resumed on {layout}: differs", rest, lines[6:])


def resumed_by_what_only_a_run_knows(folder):
    """Its check does not call what depends on that, and knows what it declares all the same."""
    done = program(folder, TRAIN.replace("text(train(x))", "text(train(normal([batch, io], seed = int(step))))"),
                   "--layout", "both", "--set", f"from={LINE}")
    if "that no variable takes" in done.stderr or len(done.stdout.splitlines()) != 6:
        fail("resumed, with data by the step", done.stdout, done.stderr)


def by_the_format(folder):
    notes, arrays = read(pathlib.Path(folder, LINE))
    if notes["format"] != "mtf" or sorted(arrays)[:2] != ["net/b", "net/b/adam/m"]:
        fail("the header", notes, sorted(arrays))
    if arrays["step"] != 6 or arrays["net/w"].shape != (8, 16):
        fail("values", arrays["step"], arrays["net/w"].shape)
    write(pathlib.Path(folder, "again.safetensors"), arrays)
    text = """dim io = 8, hidden = 16
model net(x: f32[io]) -> f32[hidden] {
  param w : f32[io, hidden] = zeros
  return einsum(x, w -> [hidden])
}
print net(ones([io]))
restore "FILE" as "net/w"
print text(sum(net.w))
write("w.npy", net.w)
"""
    for name in (LINE, "again.safetensors"):
        program(folder, text.replace("FILE", name))
        if not numpy.array_equal(numpy.load(pathlib.Path(folder, "w.npy")), arrays["net/w"]):
            fail(f"{name}: another net/w")


SCALED = """
fn scaled(x: f32[batch, io]) {
  fn update(p, g) { optim.adam(p, g, lr = 0.01) }
  with precision f16 {
    let loss = mean(square(net(x) - x))
    return loss, optim.minimize_scaled(loss, params(net), update, first = 4194304.0, steady = 3)
  }
}
let z = normal([batch, io], seed = 9)
for i in 0..8 { print scaled(z) }
if len(from) == 0 { save "scaled.safetensors" } else { restore "scaled.safetensors" }
for i in 0..4 { print scaled(z) }
"""


def in_any_precision(folder):
    """Params and states are f32 in the file, so that one precision goes on where another ended."""
    shutil.rmtree(pathlib.Path(folder, "run"), ignore_errors=True)
    plain = TRAIN.replace("dropout(", "(").replace(", rate = 0.2", "")
    pathlib.Path(folder, "train.mtf").write_text(plain, encoding="utf-8")
    lines = run(folder, [*line("both"), "--precision", "bf16"]).stdout.splitlines()
    _, arrays = read(pathlib.Path(folder, LINE))
    if any(arrays[name].dtype != "<f4" for name in arrays if name != "step"):
        fail("dtypes in a file written under bf16", {name: str(x.dtype) for name, x in arrays.items()})
    losses = {}
    for precision in ("bf16", "f32", "f16", "bf16,gradients=bf16"):
        for layout in ("one", "data"):
            rest = run(folder, [*line(layout, False, f"from={LINE},every=100"), "--precision",
                                precision]).stdout.splitlines()
            if losses.setdefault(precision, rest) != rest:
                fail(f"{precision} on {layout}: differs", rest, losses[precision])
    if losses["bf16"] != lines[6:]:
        fail("resumed under bf16: differs", losses["bf16"], lines[6:])
    values = {name: [float(text.split()[-1]) for text in rest] for name, rest in losses.items()}
    for name, found in values.items():
        if not numpy.allclose(found, values["f32"], rtol=2e-2) or (name != "f32" and found == values["f32"]):
            fail(f"losses under {name}", found, values["f32"])
    text = plain.replace("step < setting", "false and step < setting") + SCALED
    first = program(folder, text, "--layout", "both").stdout.splitlines()
    again = program(folder, text.replace('setting("from", "")', '"scaled.safetensors"'), "--layout",
                    "data").stdout.splitlines()
    if first[-4:] != again[-4:] or len({text.split()[-1] for text in first}) < 3:
        fail("the scale of a loss, resumed", first, again)


def that_do_not_fit(folder):
    text = TRAIN.replace('setting("from", "")', f'"{LINE}"')
    renamed = text.replace("param w", "param ww").replace("x, w ->", "x, ww ->").replace(
        "hidden = 16", "hidden = 32")
    done = program(folder, renamed, "--layout", "one", status=1)
    for part in ["1 param missing, 6 tensors of another type", "`net/ww` is not in the file; did you mean `net/w`?",
                 "`net/b` is f32[hidden 32], and f32[hidden 16] in the file"]:
        if part not in done.stderr:
            fail("errors", part, done.stderr)
    swapped = text.replace("hidden = 16", "hidden = 8").replace(LINE, "square.safetensors")
    program(folder, swapped.replace('restore from', "").replace("run/step_{step}", "square")
            .replace(", keep = 3", ""), "--layout", "one")
    done = program(folder, swapped.replace("w : f32[io, hidden]", "w : f32[hidden, io]"),
                   "--layout", "one", status=1)
    if "`net/w` is f32[hidden 8, io 8], and f32[io 8, hidden 8] in the file" not in done.stderr:
        fail("a transposed square", done.stderr)
    whole = pathlib.Path(folder, LINE).read_bytes()
    for name, data, said in [("step_7", whole[:-9], "is torn"),
                             ("step_7", whole[:-9] + b"x" + whole[-8:], "is damaged"),
                             ("step_8", None, "cannot be opened")]:
        path = pathlib.Path(folder, "run", name + ".safetensors")
        if data is not None:
            path.write_bytes(data)
        for words in (["--layout", "one"], ["-n", "4", "--layout", "both"]):
            done = program(folder, text.replace("step_6", name), *words, status=1)
            newest = "note: the newest whole one beside it is `run/step_12.safetensors`"
            if said not in done.stderr or newest not in done.stderr:
                fail(f"{name} {words}", done.stderr)
        path.unlink(missing_ok=True)
    done = run(folder, [MTF, "check", "case.mtf"])


def behind_links(folder):
    """A link stays, to a folder, too; the checkpoint is put where it leads, whole or in parts, and found there."""
    text = """state a : f32[n: 4] = zeros
state b : f32[n: 4] = zeros
a <- a + 2
save "links/here.safetensors"
a <- a + 1
save "links/parts.safetensors", part_bytes = 16
restore "links/here.safetensors"
print sum(a)
restore "links/parts.safetensors"
print sum(a)
save "links/folder/deep/a.safetensors"
restore "links/folder/deep/a.safetensors"
"""
    links = pathlib.Path(folder, "links")
    links.mkdir()
    links.joinpath("here.safetensors").symlink_to("next")
    links.joinpath("next").symlink_to("../disk/there.safetensors")
    links.joinpath("parts.safetensors").symlink_to(pathlib.Path(folder, "disk", "parts.safetensors"))
    links.joinpath("folder").symlink_to("../new/disk")
    done = program(folder, text)
    if done.stdout != "8\n12\n" or not all(path.is_symlink() for path in links.iterdir()):
        fail("behind links", done.stdout, done.stderr, sorted(links.iterdir()))
    if not pathlib.Path(folder, "new", "disk", "deep", "a.safetensors").is_file():
        fail("a folder behind a link is not made", done.stderr)
    links.joinpath("ring").symlink_to("ring")
    done = program(folder, text.replace("links/folder", "links/ring"), status=1)
    if "`links/ring/deep/a.safetensors` cannot be saved: Too many levels of symbolic links" not in done.stderr:
        fail("a ring of links", done.stderr)


GROWS = """dim n = 4096
mesh m = [x: 2]
layout split on m { n -> x }
state s : f32[n] = ones
state k : i32[] = zeros
for i in 0..2 {
  s <- s + 1
  print sum(s)
  save "big.safetensors"
}
"""


def that_cannot_be_written(folder):
    path = pathlib.Path(folder, "big.safetensors")
    program(folder, GROWS, "--layout", "split")
    old = path.read_bytes()
    done = program(folder, GROWS, "--layout", "split", status=1,
                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192)))
    if "`big.safetensors` cannot be saved: File too large" not in done.stderr:
        fail("no room", done.stderr)
    if path.read_bytes() != old or [n for n in os.listdir(folder) if n.endswith(".tmp")]:
        fail("the old file", os.listdir(folder))
    pathlib.Path(folder, "file").write_text("", encoding="utf-8")
    for place, said in [("file/a.safetensors", "Not a directory"), ("run", "it is a folder"),
                        ("/dev/null", "it is not a file")]:
        done = program(folder, GROWS.replace("big.safetensors", place), "--layout", "split", status=1)
        if f"`{place}` cannot be saved: {said}" not in done.stderr:
            fail(place, done.stderr)


    pathlib.Path(folder, "notes.md").write_text("# Notes\n", encoding="utf-8")
    done = program(folder, GROWS.replace("big.safetensors", "notes.md"), "--layout", "split", status=1)
    if "another file is there, which is no checkpoint" not in done.stderr:
        fail("over another file", done.stderr)
    if pathlib.Path(folder, "notes.md").read_text(encoding="utf-8") != "# Notes\n":
        fail("another file is gone")


def each_call_that_fails(folder):
    """Every write, sync and rename of either rank in turn: one message, and the old file."""
    compiler = shutil.which("cc")
    if compiler is None:
        return
    library = pathlib.Path(folder, "fault.so")
    run(folder, [compiler, "-shared", "-fPIC", "-o", str(library), str(FAULT), "-ldl"])
    path = pathlib.Path(folder, "big.safetensors")
    for part_bytes in (0, 10_000):
        text = GROWS.replace('"big.safetensors"', f'"big.safetensors", part_bytes = {part_bytes}'
                             ) if part_bytes else GROWS
        for name in os.listdir(folder):
            if name.startswith("big"):
                pathlib.Path(folder, name).unlink()
        program(folder, text, "-n", "2", "--layout", "split")
        old = {n: pathlib.Path(folder, n).read_bytes() for n in os.listdir(folder) if n.startswith("big")}
        for rank in (0, 1):
            at = 0
            while True:
                at += 1
                pathlib.Path(folder, "case.mtf").write_text(text.replace("ones", "zeros"), encoding="utf-8")
                done = run_any(folder, ["-n", "2", "--layout", "split"],
                               {"LD_PRELOAD": str(library), "MTF_FAULT_RANK": str(rank),
                                "MTF_FAULT_AT": str(at)})
                now = {n: pathlib.Path(folder, n).read_bytes() for n in os.listdir(folder)
                       if n.startswith("big")}
                if done.returncode == 0:
                    break
                said = done.stderr.count("cannot be saved: ")
                is_old = now == old or done.stdout.count("\n") > 1
                if said != 1 or not is_old or any(n.endswith(".tmp") for n in now):
                    fail(f"call {at} of rank {rank}: {said} messages", done.stderr, sorted(now), sorted(old))
                for name in now:
                    pathlib.Path(folder, name).unlink()
                for name, data in old.items():
                    pathlib.Path(folder, name).write_bytes(data)
            if at < 3:
                fail(f"rank {rank} made {at - 1} calls")
            for name in now:
                pathlib.Path(folder, name).unlink()
            for name, data in old.items():
                pathlib.Path(folder, name).write_bytes(data)


def in_parts(folder):
    text = TRAIN.replace("keep = 3", "keep = 2, part_bytes = 600")
    shutil.rmtree(pathlib.Path(folder, "run"))
    program(folder, text, "-n", "4", "--layout", "both")
    names = checkpoints(folder)
    if len([n for n in names if n.endswith(".index.json")]) != 2 or any(
            not n.startswith(("step_9", "step_12")) for n in names):
        fail("parts", names)
    parts = [n for n in names if n.startswith("step_12-")]
    arrays = {}
    for name in parts:
        arrays.update(read(pathlib.Path(folder, "run", name))[1])
    if len(parts) < 3 or arrays["step"] != 12:
        fail("parts", parts)
    there = program(folder, 'print exists("run/step_12.safetensors"), exists("run/step_1.safetensors")\n')
    if there.stdout != "true false\n":
        fail("whether they are there", there.stdout)
    path = "run/step_9.safetensors"
    ends = program(folder, text.replace('setting("from", "")', f'"{path}"'), "--layout", "data")
    if len(ends.stdout.splitlines()) != 3:
        fail("resumed from parts", ends.stdout)
    pathlib.Path(folder, "run", parts[1]).unlink()
    done = program(folder, text.replace('setting("from", "")', '"run/step_12.safetensors"'),
                   "--layout", "data", status=1)
    if "is made of parts, of which" not in done.stderr or "step_9.safetensors" not in done.stderr:
        fail("a part is gone", done.stderr)


def of_another_experiment(folder):
    """`keep` counts the checkpoints of this one, whose names differ in their last number."""
    text = """option run = 1
option last = 4
state n : i32[] = zeros
for i in 1..last + 1 { save "sweep/seed{run}_step{i}.safetensors", keep = 2 }
"""
    for seed, last in [(1, 4), (2, 10), (3, 1)]:
        program(folder, text, "--set", f"run={seed}", "--set", f"last={last}")
    names = sorted(path.name for path in pathlib.Path(folder, "sweep").iterdir())
    steps = [(1, 3), (1, 4), (2, 10), (2, 9), (3, 1)]
    if names != [f"seed{seed}_step{step}.safetensors" for seed, step in steps]:
        fail("keep = 2 of each seed leaves", names)


STREAM = """dim batch = 4, io = 4
mesh grid = [x: 2, y: 2]
layout split on grid { batch -> x; to -> y }
model net(x: f32[batch, io]) -> f32[batch, to: 4] {
  param w : f32[io, to: 4] = normal(stddev = 0.5)
  return einsum(dropout(x, rate = 0.5), w -> [batch, to: 4])
}
state step : i32[] = zeros
let first = net(ones([batch, io]))
step <- step + 2
save "stream.safetensors"
let second = net(ones([batch, io]))
net.w <- 0 * net.w
step <- step * 9
restore "stream.safetensors" as ["net/*"]
print step, all(second == net(ones([batch, io])))
restore "stream.safetensors"
print step, all(second == net(ones([batch, io])))
"""


BEFORE_STATES = """\
import optim
dim batch = 8, io = 4
mesh line = [r: 2]
layout split on line { batch -> r }
layout rest on line { batch -> r, io -> * }
model net(x: f32[batch, io]) {
  param w : f32[io, to: 4] = normal(stddev = 0.5)
  return rename(einsum(x, w -> [batch, to]), to -> io)
}
fn train(x: f32[batch, io]) {
  state noise : f32[io] = normal
  noise <- noise + 1
  let loss = mean(square(net(x) - x))
  minimize loss with optim.adam(lr = 0.01)
  return loss + sum(noise)
}
let x = normal([batch, io], seed = 1)
let y = net(x)
save "before.safetensors"
for turn in 0..3 {
  for i in 0..3 { print train(x) }
  restore "before.safetensors"
}
"""


def by_an_index_that_comes(folder):
    """Its own check does not mind that it is not there yet."""
    text = "state a : f32[] = ones\nstate b : f32[] = ones\na <- 3.0\n"
    text += 'save "later.safetensors", part_bytes = 1\na <- 5.0\nrestore "later.safetensors.index.json"\nprint a\n'
    done = program(folder, text)
    if done.stdout != "3\n":
        fail("an index that the program makes itself", done.stdout, done.stderr)


def part_and_stream(folder):
    done = program(folder, STREAM, "--layout", "split", status=0)
    if done.stdout != "18 false\n2 true\n":
        fail("a part leaves the stream of random numbers alone", done.stdout, done.stderr)
    done = program(folder, STREAM, "-n", "4", "--layout", "split", "--seed", "5")
    if done.stdout != "18 false\n2 true\n":
        fail("under mpirun", done.stdout, done.stderr)


def without_states_that_there_are(folder):
    """They begin again, as in a run that goes on from the file: optimizers and random ones, too."""
    for words in ([], ["--layout", "split"], ["-n", "2", "--layout", "rest"]):
        lines = program(folder, BEFORE_STATES, *words).stdout.splitlines()
        if len(lines) != 9 or len(set(lines[:3])) != 3 or lines != 3 * lines[:3]:
            fail(f"states that a file lacks {words}", lines)


def in_a_session(folder):
    for ranks in ("", ":ranks 2\n"):
        text = f"""dim n = 4
mesh m = [x: 2]
layout split on m {{ n -> x }}
{ranks}state s : f32[n] = ones
s <- s + 1
save "session.safetensors"
s <- s * 5
restore "session.safetensors"
print sum(s)
state t : f32[] = ones
restore "session.safetensors" as "t"
restore "session.safetensors" as "u*"
restore "no_such.safetensors"
"""
        done = subprocess.run([MTF, "repl"], cwd=folder, input=text, capture_output=True, text=True,
                              timeout=300, check=False)
        if "\n8\n" not in done.stdout or "`no_such.safetensors` cannot be opened" not in done.stderr:
            fail("a session", done.stdout, done.stderr)
        for told in ["lacks 1 state, which begins as declared: `t`", "has nothing for `u*`"]:
            if done.stderr.count(f"warning: `session.safetensors` {told} [file]") != 1:
                fail("what a session does not restore", told, done.stderr)


def under_other_commands(folder):
    shutil.rmtree(pathlib.Path(folder, "run"))
    run(folder, [MTF, "check", "train.mtf"])
    run(folder, [MTF, "plan", "train.mtf", "train", "--layout", "both"])
    done = run(folder, [MTF, "verify", "train.mtf"])
    if done.stdout.count("equal bits") != 5 or checkpoints(folder):
        fail("verify", done.stdout, checkpoints(folder))


with tempfile.TemporaryDirectory() as scratch:
    pathlib.Path(scratch, "train.mtf").write_text(TRAIN, encoding="utf-8")
    unbroken = same_from_every_layout(scratch)
    resumed_on_every_layout(scratch, unbroken)
    resumed_by_what_only_a_run_knows(scratch)
    by_the_format(scratch)
    that_do_not_fit(scratch)
    behind_links(scratch)
    that_cannot_be_written(scratch)
    each_call_that_fails(scratch)
    in_parts(scratch)
    of_another_experiment(scratch)
    by_an_index_that_comes(scratch)
    part_and_stream(scratch)
    without_states_that_there_are(scratch)
    in_a_session(scratch)
    under_other_commands(scratch)
    in_any_precision(scratch)

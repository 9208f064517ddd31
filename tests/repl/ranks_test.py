#!/usr/bin/python3
"""`:ranks N`: a session on MPI processes has the results that it has in one, to the bit."""

import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

MTF = str(pathlib.Path(sys.argv[1]).resolve())
PLACE = re.compile(r"^.*moved there$|^the session runs .*$", re.MULTILINE)


def fail(what, found, wanted):
    sys.exit(f"{what}: {found!r}, not {wanted!r}")


def check(what, found, wanted):
    if found == wanted:
        return
    if isinstance(found, list):
        for one, other in zip(found, wanted):
            if one != other:
                fail(what, one, other)
    fail(what, found, wanted)


def contains(what, found, wanted):
    if wanted not in found:
        sys.exit(f"{what}: no {wanted!r} in {found!r}")


def script(text, *words, files=None, **environment):
    """A transcript, with what an own folder for it lets it write. `files`: it has so many at most."""
    def limit():
        if files is not None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))

    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "case.txt")
        path.write_text(text, encoding="utf-8")
        done = subprocess.run([MTF, "repl", "--script", str(path), *words], text=True, timeout=900,
                              capture_output=True, preexec_fn=limit,
                              env=dict(os.environ, **environment))
    return done.stdout.replace(str(path), "case"), done.stderr


def without_places(output):
    """What is the same wherever it runs."""
    kept = [line for line in output.splitlines()
            if not line.startswith(("mtf> :ranks", "mtf> # ranks"))]
    return [line for line in kept if not PLACE.match(line)]


def same(what, lines, *words):
    """Without its switches of ranks a session shows the same."""
    there = "\n".join(lines) + "\n"
    here = re.sub(r"^:ranks ", "# ranks ", there, flags=re.MULTILINE)
    output, mistakes = script(there, *words)
    check(f"{what}: messages", mistakes, "")
    if "cannot be started" in output or "Lost" in output:
        sys.exit(f"{what}: {output}")
    check(what, without_places(output), without_places(script(here, *words)[0]))


def switched():
    """Params, the state of an optimizer, random numbers and tensors go to and fro."""
    step = "train_step(x, x)"
    lines = [f":load {pathlib.Path('examples/two_layer.mtf').resolve()}"]
    for ranks, layout in (("4", "both"), ("off", "model_parallel"), ("4", "data_parallel")):
        lines += [f":layout {layout}", f":ranks {ranks}", step, "let a = normal([batch, hidden])",
                  "sum(a)", "a[batch: 3, hidden: 0..4]", step]
    lines += [":layout hidden -> rows, io -> cols", step, "sum(a * a)", ":ranks off", step, "max(a)"]
    same("switched", lines)


def restored():
    """A state that the file lacks is known as one, and begins again."""
    with tempfile.TemporaryDirectory() as folder:
        file = f'"{folder}/a.safetensors"'
        same("restored", ["dim n = 4", "mesh line = [x: 2]", "layout split on line { n -> x }", ":layout split",
                          "state a : f32[n] = ones", f"save {file}", "state b : f32[n] = zeros",
                          "b <- b + a", "b", ":ranks 2", "b <- b + a", "b", f"restore {file}", "b",
                          "b <- b + a", ":ranks off", "b", f"restore {file}", "b"])


KINDS = """\
dim n = 10, m = 6
mesh line = [x: COUNT]
layout split on line uneven { n -> x }
layout other on line uneven { m -> x }
:layout split
let a = normal([n, m])
let whole = floor(a * 100)
let none = zeros([n: 0])
let i = cast(whole, i64)
let scalar = max(i)
:ranks COUNT
let b = a @ [m -> x, ..]
fn both(a, b) { return sum(a), a > b }
let s, above = both(a, b * 2)
any(above)
let t = i + cast(above, i64)
:layout other
t[n: 0..2]
b[n: 1]
let text = "{s} and {scalar}"
text
if s > 0 { print "positive" } else { print "negative" }
state count : i64[] = zeros
for k in 0..3 { count <- count + 1 }
:ranks off
count
text
above
let c = normal([n])
c
:ranks COUNT
sum(none)
c
assert scalar < 0, "not below"
let d = normal([n])
d
"""


def kinds():
    """Every dtype, uneven and empty slices, pins, values of the host, a mistake on the ranks."""
    for count in (2, 4, 8):
        same(f"kinds on {count}", KINDS.replace("COUNT", str(count)).splitlines())


def programs():
    """A whole program, on as many ranks as its mesh has."""
    path = pathlib.Path("examples/parallel/feed_forward.mtf").resolve()
    same(path.name, [":ranks 8", f":load {path}"], "--layout", "cube3d")


def told(text, **environment):
    return script("dim n = 8\nmesh line = [x: 2]\nlayout split on line { n -> x }\n"
                  ":layout split\nlet a = normal([n])\nsum(a)\n" + text, **environment)[0]


def refused():
    """Why there are no ranks, and the session goes on."""
    with tempfile.TemporaryDirectory() as folder:
        output = told(":ranks 2\nsum(a)\n", PATH=folder)
        contains("no mpirun", output, "`mpirun` cannot be started: No such file or directory")
        check("and on", output.count("sum(a)\n"), 2)
        fake = pathlib.Path(folder, "mpirun")
        fake.write_text("#!/bin/sh\necho -----\necho There are not enough slots.\nexit 1\n",
                        encoding="utf-8")
        fake.chmod(0o755)
        contains("no slots", told(":ranks 2\n", PATH=folder), "There are not enough slots.")
        fake.write_text("#!/bin/sh\nkill -9 $$\n", encoding="utf-8")
        contains("killed", told(":ranks 2\n", PATH=folder), "mpirun was killed by signal 9")
    contains("no socket", told(":ranks 2\n", files=5), "temporary files: Too many open files")
    contains("nothing to read", told(":ranks 2\n", files=6),
             "mpirun cannot be started: Too many open files")
    contains("more than the machine allows", script(":ranks 64\n", files=200)[0],
             "in this process: 64 ranks would need 256 open files of `mpirun`, and this machine allows 200; start at most 50")
    contains("another number", told(":ranks 4\n"), "which is in use, has 2 ranks; `:ranks 2`")
    contains("too many", told(":ranks 5000\n"), "`:ranks` takes a number up to 256")
    contains("more than there is room for", script(":ranks 5000\n", files=200)[0],
             "`:ranks` takes a number up to 50, the most that this machine has room for")
    done = subprocess.run(["mpirun", "--oversubscribe", "-n", "2", MTF, "repl"], text=True,
                          capture_output=True, timeout=300, stdin=subprocess.DEVNULL,
                          env=dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1",
                                   OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1"))
    contains("under mpirun", done.stderr, "a session starts its ranks itself, by `:ranks N`")


for test in (switched, restored, kinds, programs, refused):
    test()

#!/usr/bin/python3
"""`mtf repl` from a pipe: where it stops, what it keeps, and that what it saves is the same program."""

import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from verdict import check_equal as check  # noqa: E402

MTF = str(pathlib.Path(sys.argv[1]).resolve())
RECORDED = [pathlib.Path("tests/golden/repl", name).read_text(encoding="utf-8")
            for name in ("fail_session.mtf", "fail_ranks.mtf")]


def repl(text, *words, folder="."):
    done = subprocess.run([MTF, "repl", *words], input=text, text=True, capture_output=True,
                          cwd=folder, timeout=120)
    return done.returncode, done.stdout, done.stderr


def pipe():
    check("a pipe", repl("dim n = 2\n1 + n\n"), (0, "n : dim 2\n3\n", ""))
    check("no prompt, no input", repl(""), (0, "", ""))
    status, output, mistakes = repl("let a = 1\nprint b\nprint a\n")
    check("stops", (status, output), (1, "a : int = 1\n"))
    check("with its line", mistakes.splitlines()[0],
          "stdin:2:7: error: nothing is called `b` here [unknown-name]")
    check("quit", repl(":quit\nprint 1\n"), (0, "", ""))
    check("half a statement", repl("let a = [1,\n")[0], 1)
    check("of a transcript what was typed", repl("mtf> 1 + 1\n2\nmtf> let a = [1,\n...> 2]\na : 5\n"),
          (0, "2\na : list = [1, 2]\n", ""))
    check("else on the next line", repl("if 1 > 2 { print 1 }\nelse { print 2 }\n1\n"),
          (0, "2\n1\n", ""))


def script_behind_program():
    """A program is loaded before the script, in whichever order they are named."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "p.mtf").write_text("let a = 20\n", encoding="utf-8")
        pathlib.Path(folder, "s.txt").write_text("a + 1\n", encoding="utf-8")
        told = (0, "mtf> a + 1\n21\n", "")
        check("program, script", repl("", "p.mtf", "--script", "s.txt", folder=folder), told)
        check("script, program", repl("", "--script", "s.txt", "p.mtf", folder=folder), told)
        status, output, _ = repl("", "none.mtf", "--script", "s.txt", folder=folder)
        check("no program", (status, output),
              (1, "error: `none.mtf` cannot be read: there is no such file [file]\n"))


def settings():
    """Options of the program that it has not are refused, and settings that nobody asked for told at the end."""
    program = 'option width = 3\nlet path = setting("data", "x")\n'
    idle = "warning: the program asked for no setting `datta`; did you mean `data`? [unknown-name]\n"
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "p.mtf").write_text(program, encoding="utf-8")
        check("asked for", repl("width\n", "p.mtf", "--set", "data=y", "--", "--width", "5", folder=folder),
              (0, "5\n", ""))
        check("not asked for", repl("width\n", "p.mtf", "--set", "datta=y", folder=folder), (0, "3\n", idle))
        check("asked for later", repl('setting("more", 0) + 1\n', "--set", "more=7"), (0, "8\n", ""))
        check("no such option", repl("width\n", "p.mtf", "--", "--widht", "5", folder=folder),
              (1, "", "error: the program has no option `widht`; did you mean `width`? [unknown-name]\n"))


def asked_for():
    """What `--layout`, `--mesh` and `--rules` name is in the program, or in none of it."""
    program = "dim n = 4\nmesh line = [a: 2]\nmesh grid = [b: 2, c: 2]\n" \
              "layout one on line { n -> a }\nlayout two on grid { n -> b }\nlet x = ones([n])\n"
    axes = "axis `d` a size; the meshes have `a`, `b` and `c` [unknown-axis]\n"
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "p.mtf").write_text(program, encoding="utf-8")
        for words, mistake in {("--layout", "on"): "no layout `on`; there is `one` and `two` [unknown-layout]\n",
                               ("--mesh", "d=3"): "`--mesh` gives the " + axes,
                               ("--rules", "n:d"): "`--rules n:d`: no mesh has an axis `d` [unknown-axis]\n",
                               ("--rules", "m:a"): "`--rules m:a`: no tensor has a dim `m`; there is `n` [unknown-dim]\n"}.items():
            check(words, repl("1\n", "p.mtf", *words, folder=folder), (1, "", "error: " + mistake))
        check("the second mesh", repl(":mesh\n:layout two\n", "p.mtf", "--mesh", "b=4", folder=folder),
              (0, "line[a: 2]   2 ranks\ngrid[b: 4, c: 2]   8 ranks\nin use: two on grid[b: 4, c: 2]\n"
                  "x : f32[n 4] -> f32[n 4/b]   1 a rank, 4 B\n", ""))


def mesh_of_one_layout():
    """The one layout of a program is in use without being named; `--mesh` is about its mesh."""
    program = "mesh line = [a: 2]\nmesh other = [b: 3]\ndim n = 12\nlayout one on line { n -> a }\n"
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "p.mtf").write_text(program, encoding="utf-8")
        told = "error: `--mesh` gives a size to `b`, and the layout `one` is on line[a: 2] [unknown-axis]\n"
        check("another mesh", repl("1\n", "p.mtf", "--mesh", "b=2", folder=folder), (1, "", told))
        check("its mesh", repl(":mesh\n", "p.mtf", "--mesh", "a=4", folder=folder),
              (0, "line[a: 4]   4 ranks\nother[b: 3]   3 ranks\n", ""))


def unreadable():
    """What cannot be read is no empty session."""
    check("a folder as a script", repl("", "--script", "."),
          (1, "error: `.` cannot be read: Is a directory [file]\n", ""))
    folder = os.open(".", os.O_RDONLY)
    done = subprocess.run([MTF, "repl"], stdin=folder, text=True, capture_output=True, timeout=120)
    os.close(folder)
    check("a folder as standard input", (done.returncode, done.stdout, done.stderr),
          (1, "", "error: `stdin` cannot be read: Is a directory [file]\n"))


def taken_back():
    """What fails leaves nothing behind: no name, no function, no step of an optimizer."""
    model = """
import optim
dim n = 4
model f(x: f32[n]) -> f32[n] {
  param w : f32[n] = ones
  return x * w
}
fn step(x: f32[n]) {
  let loss = sum(square(f(x)))
  minimize loss with optim.sgd(lr = 0.1)
  return loss
}
step(ones([n]))
"""
    losses = repl(model + "step(ones([n]))\nstep(ones([n]))\n")[1].split("\n")[-4:-1]
    failing = "for i in 0..9 { assert step(ones([n])) > 1 }\n"  # it does at first
    for mistake in (failing, "let a, b = step(ones([n]))\n", "let c = step(ones([n])) + hidden\n"):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "s.txt").write_text(
                model + mistake + "step(ones([n]))\nstep(ones([n]))\n", encoding="utf-8")
            output = repl("", "--script", "s.txt", folder=folder)[1]
        found = [line for line in output.splitlines() if re.fullmatch(r"[0-9.e-]+", line)]
        check(f"after {mistake}", found, losses)


def undone():
    """`:undo` takes back no file, and says so where there is one."""
    log = "fn log(x: f32[n]) { append(\"log.csv\", \"a line\"); return x }\n"
    cases = {
        "write(\"a.npy\", x)\n:undo\n": ["taken back: `write(\"a.npy\", x)`", "what was written stays: a.npy"],
        "sum(x)\n:undo\n": ["4", "taken back: `print sum(x)`"],
        log + "let y = log(x)\n:undo\n:undo\n":
            ["taken back: `let y = log(x)`", "what was written stays: log.csv", f"taken back: `{log.strip()}`"],
        "for i in 0..2 { write(\"{i}.npy\", x) }\n:undo\n":
            ["taken back: `for i in 0..2 { write(\"{i}.npy\", x) }`", "what was written stays: 0.npy, 1.npy"],
        "param w : f32[n] = ones\nsave \"w.safetensors\"\n:undo\n":
            ["taken back: `save \"w.safetensors\"`", "what was written stays: w.safetensors"],
        "write(\"a.npy\", x)\n:json on\n:undo\n":
            ['{"json":"on"}', '{"taken_back":"write(\\"a.npy\\", x)"}', '{"stays":["a.npy"]}'],
    }
    for typed, told in cases.items():
        with tempfile.TemporaryDirectory() as folder:
            status, output, mistakes = repl("dim n = 4\nlet x = ones([n])\n" + typed, folder=folder)
            check(f"{typed} undone", (status, mistakes), (0, ""))
            check(f"{typed} undone", [line for line in output.splitlines() if " : " not in line or "`" in line], told)


def waiting():
    """What fails is not tried again; what waited before it has run."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "s.txt").write_text(
            "let a = 20\nassert a > 30, \"small\"\na + 1\nlet b = ones([n: 2])\n"
            "assert sum(b) > 3\nsum(b)\n", encoding="utf-8")
        status, output, _ = repl("", "--script", "s.txt", folder=folder)
    check("waiting", (status, output.count("[assertion]")), (1, 2))
    check("answers", re.findall(r"^[0-9]+$", output, re.MULTILINE), ["21", "2"])


def saved(session):
    """The saved program prints what the session showed, and so does the program it saves."""
    lines = []
    for line in session.splitlines():
        if line.startswith(("1 +", ":quit", ":s", "print \"not")):
            continue
        lines.append(line)
    with tempfile.TemporaryDirectory() as folder:
        text = "\n".join(lines) + "\n:undo 3\n:save out.mtf\n"
        pathlib.Path(folder, "s.txt").write_text(text, encoding="utf-8")
        repl("", "--script", "s.txt", folder=folder)
        first = pathlib.Path(folder, "out.mtf").read_text(encoding="utf-8")
        ran = subprocess.run([MTF, "run", "out.mtf"], cwd=folder, text=True, capture_output=True,
                             timeout=120)
        check("the saved program runs", (ran.returncode, ran.stderr), (0, ""))
        check("and prints", len(ran.stdout.splitlines()) > 8, True)
        status, output, mistakes = repl(":save again.mtf\n", "out.mtf", folder=folder)
        check("loaded", (status, mistakes), (0, ""))
        shown = output.replace("again.mtf: ", "\0").split("\0")[0]
        check("the same output", shown, ran.stdout)
        second = pathlib.Path(folder, "again.mtf").read_text(encoding="utf-8")
        check("the same program", second, first)
        changed = first.replace("seed = 7", "seed = 9")
        check("a change", changed != first, True)


def switched():
    """A layout that is switched on the way, on one mesh or to another, changes no digit."""
    step = "train_step(x, x)\n"
    program = "examples/two_layer.mtf"
    plain = repl(step * 5, program)
    ways = [":layout both\n", ":layout data_parallel\n", ":layout hidden -> rows, io -> cols\n",
            ":layout three_way\n", ""]
    moved = repl("".join(way + step for way in ways), program)
    def numbers(output):
        return re.findall(r"^[0-9.e-]+$", output, re.MULTILINE)
    check("status", (plain[0], moved[0]), (0, 0))
    check("five steps", len(numbers(plain[1])), 5)
    check("switched", numbers(moved[1]), numbers(plain[1]))


def kept():
    """A file that `:save` cannot write whole, as on a full disk, stays what it was."""
    def no_room():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    long = "".join(f"let number_{i} = {i}\n" for i in range(100))
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder, "mine.mtf")
        place.write_text("print 1\n", encoding="utf-8")
        done = subprocess.run([MTF, "repl"], input=long + ":save mine.mtf\n:save new.mtf\n", text=True, cwd=folder,
                              capture_output=True, timeout=120, preexec_fn=no_room, restore_signals=False)
        check("no room", (done.returncode, done.stderr.splitlines()[0]),
              (1, "error: `mine.mtf` cannot be written: File too large [file]"))
        check("kept", place.read_text(encoding="utf-8"), "print 1\n")
        check("nothing beside it", [path.name for path in pathlib.Path(folder).iterdir()], ["mine.mtf"])
        check("saved", repl(long + ":save mine.mtf\n", folder=folder)[0], 0)
        check("whole", place.read_text(encoding="utf-8"), long)
        check("what was there", pathlib.Path(folder, "mine.mtf~").read_text(encoding="utf-8"), "print 1\n")
        again = repl("let one = 1\n:save twice.mtf\nlet two = 2\n:save twice.mtf\n", folder=folder)
        check("its own", (again[0], sorted(path.name for path in pathlib.Path(folder).iterdir())),
              (0, ["mine.mtf", "mine.mtf~", "twice.mtf"]))
        check("and what was kept", repl("1\n:save mine.mtf\n", folder=folder)[1].splitlines()[-1],
              "mine.mtf: 1 statement; `mtf run mine.mtf` runs it; what was there is kept as mine.mtf~2")
        check("both", [pathlib.Path(folder, name).read_text(encoding="utf-8") for name in ("mine.mtf~", "mine.mtf~2")],
              ["print 1\n", long])


def declared_below():
    """A file may call functions, and name dims and values, that it declares further below."""
    program = """
fn f(x: f32[a]) { return g(x) + c }
dim a = 4
print "first, f comes below"
fn g(x) { return h(x, b) }
fn unused(x) { return f(x) + later }
dim b = 2
let c = 1
print f(ones([a]))
fn h(x, d: dim) { return d * x }
let later = 2
print unused(ones([a]))
fn even(n) { if n == 0 { return true } else { return odd(n - 1) } }
print even(5)
fn odd(n) { if n == 0 { return false } else { return third(n) } }
fn third(n) { return even(n - 1) }
"""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "p.mtf").write_text(program, encoding="utf-8")
        ran = subprocess.run([MTF, "run", "p.mtf"], cwd=folder, text=True, capture_output=True)
        check("it runs", (ran.returncode, ran.stdout[:5]), (0, "first"))
        status, output, mistakes = repl(":save saved.mtf\n", "p.mtf", folder=folder)
        check("the session says the same", (status, mistakes), (0, ""))
        check("the session says the same", output[:len(ran.stdout)], ran.stdout)
        check("and saves it", repl("", "saved.mtf", folder=folder), (0, ran.stdout, ""))


def own_names():
    """What a function calls its own, and what texts and comments say, are no values from further below."""
    program = """
import optim
dim a = 4
model net(x: f32[a]) {
  param w : f32[a] = ones
  return sum(x * w)                       # the total
}
fn step(x: f32[a], rate = 0.5) {
  let loss = square(net(x))
  minimize loss with optim.sgd(lr = 0.25 * rate)
  for i in 0..2 { assert loss >= 0, "no share of {loss + i}: \\{ it is \\" count" }
  expect { all_gather = 0 }
  return loss
}
fn never() { return "{share + "{count}"}" }
for i in 0..2 { print step(ones([a])) }
let total = 1
let lr = 0.1
let rate = lr
param w : f32[a] = ones
let loss = step(ones([a]))
let i = 1
let expect = 2
let share = "3"
let count = "4"
print never(), loss, total + i + expect, sum(w), rate
"""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "p.mtf").write_text(program, encoding="utf-8")
        ran = subprocess.run([MTF, "run", "p.mtf"], cwd=folder, text=True, capture_output=True)
        check("it runs", (ran.returncode, ran.stdout[:3], ran.stderr), (0, "16\n", ""))
        check("the session says the same", repl("", "p.mtf", folder=folder), (0, ran.stdout, ""))


def need_each_other():
    """Functions that call each other, and stand in one text, are taken at once, and changed at once."""
    base = "let base = true\n"
    mutual = ("fn even(n) { if n == 0 { return base } else { return odd(n - 1) } }; "
              "fn odd(n) { if n == 0 { return not base } else { return even(n - 1) } }\n")
    known = "base : bool = true\neven : fn(n)\nodd : fn(n)\n"
    check("taken", repl(base + mutual + "even(10)\nodd(10)\n"), (0, known + "true\nfalse\n", ""))
    check("behind what runs", repl("sum(ones([a: 2]))\n" + base + mutual + "even(2)\n"), (0, "2\n" + known + "true\n", ""))
    status, _, mistakes = repl(base + mutual + ":undo\nodd(2)\n")
    check("undone", (status, "nothing is called `odd`" in mistakes), (1, True))
    check("changed", repl(base + mutual + mutual.replace("n == 0", "n <= 0") + "odd(3)\n"),
          (0, known + "even : fn(n)\nodd : fn(n)\ntrue\n", ""))
    status, _, mistakes = repl(base + mutual + mutual.replace("base", "wrong"))
    check("wrong", (status, mistakes.count("error: "), mistakes.count("nothing is called `wrong`")), (1, 1, 1))


def reload():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "p.mtf")
        path.write_text("dim n = 2\nlet a = n + 1\n", encoding="utf-8")
        with subprocess.Popen([MTF, "repl", "p.mtf"], cwd=folder, text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            def ask(line):
                process.stdin.write(line + "\n")
                process.stdin.flush()
                return process.stdout.readline()
            check("loaded", ask("a"), "3\n")
            check("unchanged", ask(":reload"), "no file has changed\n")
            path.write_text("dim n = 5\nlet a = n + 1\n", encoding="utf-8")
            check("changed", ask(":reload"), "p.mtf: was n; now n\n")
            check("anew", ask("a"), "6\n")
            process.stdin.close()


def as_json():
    status, output, _ = repl(":json on\ndim n = 4\nlet x = ones([n])\n:plan\n:type x + 1\n:cost\n")
    check("json", status, 0)
    status, mistakes, _ = repl("1\nb\n", "--json")
    check("with a mistake", status, 1)
    check("told", json.loads(mistakes.splitlines()[1])["diagnostics"][0]["slug"], "unknown-name")
    output += mistakes
    for line in output.splitlines():
        json.loads(line)

    # Whatever a command is, it answers, and each line is an object.
    _, output, _ = repl(":json on\n:help\n")
    words = {"diff": "one none", "doc": "sum", "json": "on", "load": "a.mtf", "save": "b.mtf",
             "show": "x", "time": "1 + 1", "type": "x", "what-if": "n -> a", "why": "x",
             "expect": "session { all_gather = 0 }", "ops": "sum", "mesh": "a=4", "layout": "one"}
    program = "dim n = 4\nmesh line = [a: 2]\nlayout one on line { n -> a }\n" \
              "use layout one\nlet x = ones([n])\nlet y = x + 1\n"
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "a.mtf").write_text("let from_file = 1\n", encoding="utf-8")
        for command in json.loads(output.splitlines()[1])["commands"]:
            line = f":{command} {words.get(command, '')}\n"
            status, output, mistakes = repl(program + ":json on\n" + line, folder=folder)
            check(f"{line} {output}", (status, mistakes), (0, ""))
            answers = output.split('{"json":"on"}\n', 1)[1].splitlines()
            check(f"{line} answers", bool(answers) or command == "quit", True)
            check(f"{line} {answers}", all(isinstance(json.loads(one), dict) for one in answers), True)


def large():
    """Nothing of size is there before something is run: a mesh and tensors that no machine holds."""
    status, output, _ = repl("""dim batch = 1_000_000, d = 1_000_000
mesh pod = [x: 64, y: 64]
layout both on pod { batch -> x, d -> y }
let x = zeros([batch, d])
let y = x + 1
""")
    check("large", (status, output.splitlines()[-1]),
          (0, "y : f32[batch 1000000/x, d 1000000/y]   15625x15625 a rank, 931.3 MiB"))


def interrupted():
    """Ctrl-C ends what is read from a pipe, with the status that a shell gives it."""
    with subprocess.Popen([MTF, "repl"], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE) as process:
        process.stdin.write("print 1\nwhile true { print 2 }\nprint 3\n")
        process.stdin.flush()
        check("before", process.stdout.readline() + process.stdout.readline(), "1\n2\n")
        process.send_signal(signal.SIGINT)
        output, mistakes = process.communicate(timeout=300)
        check("status", process.returncode, 130)
        check("the rest", set(output.splitlines()) - {"2"}, set())
        check("said", mistakes, "interrupted; the session is as it was before\n")


for test in (pipe, script_behind_program, settings, asked_for,
             mesh_of_one_layout, unreadable, taken_back, undone, waiting, switched, kept, declared_below, own_names, need_each_other, reload, as_json, large, interrupted):
    test()
for recorded in RECORDED:
    saved(recorded)

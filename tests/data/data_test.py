#!/usr/bin/python3
"""Files that training reads: a text larger than memory, read by windows; files that are cut short or changed
while they are in use; tokens that are worked out once; a vocabulary that comes with its checkpoint."""

import os
import pathlib
import random
import re
import resource
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from verdict import fail  # noqa: E402

MTF = str(pathlib.Path(sys.argv[1]).resolve())
EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "transformer_lm.mtf"
LAYOUTS = """\
dim batch = 6, length = 1024
mesh line = [r: 2]
mesh three = [r: 3]
layout rows on line { batch -> r }
layout held on line { position -> r }
layout uneven_rows on three uneven { batch -> r }
"""
WINDOWS = """\
import data
state step : i32[] = zeros
for i in 0..3 {
  let x, y = data.batch_at(part, step, batch, length, seed = 5)
  print dtype(x), sum(cast(x, i64)), sum(cast(y, i64)), x[batch: 4][length: 3..9], y[batch: 5][length: 1000..1004]
  step <- step + 1
}
"""


def command(*words, ranks=0):
    launch = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks else []
    return [*launch, MTF, *map(str, words)]


def run(folder, *words, ranks=0, status=0, cache="cache", what="stdout"):
    environment = dict(os.environ, XDG_CACHE_HOME=str(folder / cache))
    done = subprocess.run(command(*words, ranks=ranks), cwd=folder, env=environment, capture_output=True, text=True,
                          timeout=300)
    if done.returncode != status:
        fail(f"{words} on {ranks} ranks ended with {done.returncode}", done.stdout, done.stderr)
    return done.stdout if status == 0 and what == "stdout" else done.stderr


def write(folder, name, *parts):
    (folder / name).write_text("".join(parts), encoding="utf-8")
    return name


def same_everywhere(folder, name, *words):
    """What a program prints on one rank, under each layout, simulated and under mpirun."""
    one = run(folder, "run", name, *words)
    for layout, ranks in (("rows", 2), ("held", 2), ("uneven_rows", 3)):
        for count in (0, ranks):
            found = run(folder, "run", name, "--layout", layout, *words, ranks=count)
            if found != one:
                fail(f"{name} under {layout} on {count} ranks", one, found)
    return one


def larger_than_memory(folder):
    with open(folder / "big", "wb") as file:
        file.truncate(256 << 30)  # of zeros that take no room on the disk
        file.seek(100 << 30)
        file.write(b"in the middle")
    middle = 'print chr(int(tokens[position: 107374182403..107374182407][position: 0]))\n'
    program = write(folder, "big.mtf", LAYOUTS, 'let tokens = read_bytes("big", dtype = u8)\n',
                    "let part = tokens[position: 1000..200_000_000_000]\n", middle, WINDOWS)
    found = run(folder, "run", program)
    if not found.startswith("t\n") or "i32 0 0" not in found:
        fail("windows of a file that is larger than memory", found)
    if run(folder, "run", program, "--layout", "rows", ranks=2) != found:
        fail("the same on two ranks")
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
    if used > 500:
        fail(f"{used} MiB were used for some windows")
    (folder / "big").unlink()


def as_bytes_and_numbers(folder):
    """Tensors in files are what tensors in memory are."""
    import numpy
    chance = random.Random(3)
    (folder / "text").write_bytes(bytes(chance.randrange(256) for _ in range(60_000)))
    numpy.save(folder / "ids.npy", numpy.frombuffer((folder / "text").read_bytes(), numpy.uint8).astype("<i4"))
    numpy.save(folder / "short.npy", numpy.frombuffer((folder / "text").read_bytes(), numpy.uint8).astype("<i2"))
    texts = {}
    for name, source in {"i32": 'read_bytes("text")', "u8": 'read_bytes("text", dtype = u8)',
                         "npy": 'load("ids.npy", [position: 60000])',
                         "i16": 'load("short.npy", [position: 60000])'}.items():
        program = write(folder, f"{name}.mtf", LAYOUTS, f"let all = {source}\n",
                        "let part = all[position: 100..59_000]\n", WINDOWS)
        texts[name] = same_everywhere(folder, program)
    if len(set(texts.values())) != 1:
        fail("batches differ by where their tokens are", texts)
    for words, ranks in (([], 0), (["--layout", "rows", "--count"], 0), (["--layout", "rows"], 2)):
        told = run(folder, "run", "u8.mtf", "--profile", *words, ranks=ranks, what="stderr")
        if not re.search(r"read ahead, beside other work: 2 calls, .* were waited for\n", told):
            fail(f"batches that were read ahead {words}", told)
    if "read ahead" in run(folder, "run", "i32.mtf", "--profile", what="stderr"):
        fail("tensors in memory were read ahead")
    numpy.save(folder / "table.npy", numpy.arange(48, dtype="<f4").reshape(8, 6))
    program = write(folder, "table.mtf", """\
mesh line = [r: 2]
layout rows on line { row -> r }
layout cols on line { col -> r }
layout held on line uneven { row -> r }
layout uneven_rows on line { part -> r }
let table = load("table.npy", [row: 8, col: 6])
let part = table[row: 2..6 as part]
print table, part, part[col: 1..3], table[col: 2..4], sum(part, over = col), 2 * table[row: 7]
state kept : f32[row: 8, col: 6] = zeros
kept <- table
kept <- kept + table
print sum(kept), sum(table)
""")
    one = run(folder, "run", program)
    for layout in ("rows", "cols", "held", "uneven_rows"):
        if run(folder, "run", program, "--layout", layout, ranks=2) != one:
            fail(f"a table under {layout}", one)


def in_entries_and_loops(folder):
    """Batches that an entry, or each trip of a loop on the device, makes itself are read ahead, too."""
    (folder / "text").write_bytes(bytes(random.Random(4).randrange(256) for _ in range(60_000)))
    program = write(folder, "loops.mtf", LAYOUTS, """\
import data
import optim
let all = read_bytes("text", dtype = u8)
let part = all[position: 100..59_000]
model net(x: i32[batch, length]) {
  param w : f32[length] = normal
  return sum(w * cast(x, f32), over = length) / 4096
}
fn miss(number) {
  let x, y = data.batch_at(part, number, batch, length, seed = 5)
  return mean(square(net(x) - mean(cast(y, f32), over = length)))
}
fn train_step(step: i32[]) {
  let loss = miss(step) + miss(100 + step)
  minimize loss with optim.sgd(lr = 1e-5)
  return loss
}
fn counted() {
  state step : i32[] = zeros
  let x, y = data.batch_at(part, step, batch, length, seed = 5)
  step <- step + 3
  return sum(x), sum(y)
}
fn in_parts(step: i32[]) {
  fn update(p, g) { optim.sgd(p, g, lr = 1e-5) }
  fn part_of(i) { return miss(4 * step + i) }
  return optim.minimize_in_parts(part_of, net, 4, update)
}
fn every_other(first: i32[], last: i32[]) {
  var i = first
  var total = 0
  while i < last {
    let x, y = data.in_order(all, i, batch, length)
    total = total + sum(x) - sum(y)
    i = i + 2
  }
  return total
}
fn wanted(step: i32[]) {
  let x, y = data.in_order(all, step * step, batch, length)
  return sum(x)
}
for step in 0..5 { print train_step(step), in_parts(step) }
for step in 0..5 { print counted(), wanted(step) }
print every_other(0, 9), every_other(1, 8), every_other(0, 0), every_other(6, 9)
""")
    same_everywhere(folder, program)
    # A counter is foreseen to go on by one, or by what it went on twice. So 4 of train_step, 4 of in_parts before
    # its loop and 4 x 2 in it, 2 of `counted`, 4 of `wanted`, and of the other loop's trips 2, 3, 0 and 1.
    for words, ranks in (([], 0), (["--layout", "rows"], 2), (["--layout", "uneven_rows"], 3)):
        told = run(folder, "run", program, "--profile", *words, ranks=ranks, what="stderr")
        calls = re.search(r"read ahead, beside other work: (\d+) calls, ", told)
        if not calls or calls.group(1) != "28":
            fail(f"batches that were read ahead in entries and loops {words}", told)


def in_other_orders(folder):
    """As NumPy writes what was transposed, and numbers from other machines: the same tensor, slice by slice."""
    import numpy
    table = numpy.arange(5 * 6 * 7).reshape(5, 6, 7) % 120 - 9
    lines = []
    little = ("<f4", "<f8", "<f2", "<i4", "<i8", "<i2", "|i1", "|b1")
    big = (">f4", ">f8", ">f2", ">i4", ">i8", ">i2", ">u2", ">u4")
    for i, dtype in enumerate(little + big):
        plain = table.astype(numpy.dtype(dtype).newbyteorder("<"))
        numpy.save(folder / f"c{i}.npy", plain)
        numpy.save(folder / f"b{i}.npy", plain.astype(dtype))
        numpy.save(folder / f"f{i}.npy", numpy.asarray(plain.astype(dtype), order="F"))
        lines.append(f"""\
print all(load("b{i}.npy", [batch, row, col]) == load("c{i}.npy", [batch, row, col]))
print all(load("f{i}.npy", [batch, row, col]) == load("c{i}.npy", [batch, row, col]))
print load("f{i}.npy", [batch, row, col], dtype = f32)[col: 2..4][row: 5]
""")
    numpy.save(folder / "line.npy", numpy.asarray(numpy.arange(6.0), order="F"))
    program = write(folder, "turned.mtf", """\
dim batch = 5, row = 6, col = 7
mesh line = [r: 2]
mesh three = [r: 3]
layout rows on line { row -> r }
layout held on line uneven { batch -> r }
layout uneven_rows on three uneven { col -> r }
print load("line.npy", [row])
""", *lines)
    one = same_everywhere(folder, program)
    if one.count("true") != 32 or "false" in one:
        fail("arrays in other orders", one)
    with open(folder / "f0.npy", "r+b") as file:
        file.truncate(400)
    error = run(folder, "run", program, status=1)
    if "turned.mtf:9:11: error: `f0.npy` is shorter than the [5, 6, 7] elements it announces" not in error:
        fail("an array in Fortran order that was cut short", error)


def tables(folder):
    rows = [[row + column / 4 for column in range(6)] for row in range(12)]
    text = "a;b;c;d;e;f\n\n" + "".join(";".join(map(str, row)) + "\n" for row in rows)
    write(folder, "table.csv", text)
    write(folder, "line.csv", "\n".join(map(str, range(12))))
    program = write(folder, "csv.mtf", """\
dim row = 12, col = 6
mesh line = [r: 2]
mesh three = [r: 3]
layout rows on line { row -> r }
layout held on line { col -> r }
layout uneven_rows on three { row -> r }
let table = read_csv("table.csv", [row, col], header = true, separator = ";")
print table, sum(table), sum(read_csv("table.csv", [row, col], header = true, separator = ";"), over = row)
print read_csv("line.csv", [row]), read_csv("line.csv", [row], dtype = i32)[row: 7]
""")
    found = same_everywhere(folder, program)
    if f"{sum(map(sum, rows)):g}" not in found:
        fail("the sum of a table", found)


def in_use(folder):
    """A file that changes under a run ends it, on all ranks, with its name and the line that reads it."""
    loop = """\
let part = tokens[position: 0..59_000]
state step : i32[] = zeros
for i in 0..100_000_000 {
  let x, y = data.batch_at(part, step, batch, length)
  print sum(x)
  step <- step + 1
}
"""
    program = write(folder, "loop.mtf", LAYOUTS, "import data\n", 'let tokens = read_bytes("used", dtype = u8)\n', loop)
    line = LAYOUTS.count("\n") + 2

    def cut(path):
        os.truncate(path, 100)

    def change(path):
        with open(path, "r+b") as file:
            file.write(b"another begin")

    def grow(path):
        with open(path, "ab") as file:
            file.write(b"more")

    for ranks in (0, 2):
        for act, wanted in ((cut, "was cut short"), (change, "was changed"), (grow, "was changed")):
            (folder / "used").write_bytes(b"a" * 60_000)
            layout = ["--layout", "rows"] if ranks else []
            with subprocess.Popen(command("run", program, *layout, ranks=ranks), cwd=folder, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True) as process:
                process.stdout.readline()
                act(folder / "used")
                try:
                    error = process.communicate(timeout=60)[1]
                except subprocess.TimeoutExpired:
                    process.kill()
                    fail(f"{act.__name__} on {ranks} ranks was not seen")
            if process.returncode != 1 or f"loop.mtf:{line}:14: error: `used` {wanted} while it was in use [file]" not in error:
                fail(f"{act.__name__} on {ranks} ranks ended with {process.returncode}", error)
    (folder / "used").write_bytes(b"short")
    few = write(folder, "few.mtf", LAYOUTS, "import data\n", 'let part = read_bytes("used", dtype = u8)\n',
                "let x, y = data.batch_at(part, 0, batch, length)\n")
    error = run(folder, "run", few, status=1)
    if "two windows of 1024 take 2049 tokens, more than 5" not in error or "few.mtf:9" not in error:
        fail("too few tokens", error)


def kept_tokens(folder):
    words = ["the", "quick", "brown", "fox", "jumps", "over", "lazy", "dogs", "naïve", "漢字"]
    chance = random.Random(7)
    text = " ".join(chance.choice(words) + chance.choice(["", ".", ",\n"]) for _ in range(700_000))
    write(folder, "corpus", text)
    program = write(folder, "tokens.mtf", LAYOUTS, """\
let pairs = learn_pairs("corpus", 40)
let tokens = read_tokens("corpus", pairs)
print dtype(tokens), size(shape(tokens)), sum(cast(tokens, i64))
let first = list(tokens[position: 0..3000])
print decode_pairs(first, pairs)
let part = tokens[position: 100..1_500_000]
""", WINDOWS)
    found = run(folder, "run", program, "--layout", "rows", ranks=2)  # both want them at once
    kept = sorted((folder / "cache" / "mtf" / "made").iterdir())
    if [path.suffix for path in kept] not in ([".npy", ".pairs"], [".pairs", ".npy"]):
        fail("what is kept", kept)
    count = int(re.match(r"i16 (\d+)", found).group(1))
    if count < 1_500_000 or text[:1000] not in found:
        fail("tokens of a text", found[:2000])
    before = {path: path.stat().st_mtime_ns for path in kept}
    if same_everywhere(folder, program) != found:
        fail("tokens that were kept differ")
    if {path: path.stat().st_mtime_ns for path in (folder / "cache" / "mtf" / "made").iterdir()} != before:
        fail("tokens were worked out twice")
    write(folder, "corpus", "the end of the end. " * 9)
    small = write(folder, "small.mtf", """\
let text = read_text("corpus")
let pairs = byte_pairs(text, 40)
assert pairs == learn_pairs("corpus", 40)
assert list(read_tokens("corpus", pairs)) == encode_pairs(text, pairs)
assert list(read_tokens("corpus", "")) == list(read_bytes("corpus"))
print len(encode_pairs(text, pairs))
""")
    run(folder, "run", small)
    write(folder, "blocked", "a file")
    error = run(folder, "run", small, status=1, cache="blocked")
    if "small.mtf:3:" not in error or "XDG_CACHE_HOME names another" not in error:
        fail("no folder to keep tokens in", error)


def from_checkpoint(folder):
    """A model on byte pairs writes without the text that it learned from."""
    write(folder, "corpus", "".join(f"The {i % 7} birds see {i % 5} fish.\n" for i in range(900)))
    sizes = ["--pairs", 20, "--width", 16, "--inner", 32, "--layers", 1, "--head_count", 2, "--head_size", 8,
             "--samples", 1, "--sampled", 24, "--steps", 4, "--every", 100, "--save_every", 4]
    trained = run(folder, "run", EXAMPLE, "--", "--text", "corpus", *sizes)
    for layout in ("data_parallel", "both", "model_parallel"):  # a vocabulary of 279, which divides by neither
        few = run(folder, "run", EXAMPLE, "--layout", layout, "--", "--text", "corpus", "--file", "few.safetensors",
                  "--pairs", 1000, *sizes[2:])
        if few.splitlines()[0] != "--pairs 1000: only 23 come twice in the text" or "The " not in few:
            fail("fewer pairs than asked for", layout, few)
    (folder / "corpus").unlink()
    written = run(folder, "run", EXAMPLE, "--", "--resume", "true", *sizes)
    if written != trained or "The " not in written:
        fail("a text from a checkpoint", trained, written)
    write(folder, "none.mtf", 'state n : i32[] = zeros\nsave "n.safetensors"\nprint saved_note("n.safetensors")\n')
    error = run(folder, "run", "none.mtf", status=1)
    if "none.mtf:3:18: error: `n.safetensors` has no note" not in error:
        fail("a file without a note", error)


def main():
    with tempfile.TemporaryDirectory() as name:
        for case in (as_bytes_and_numbers, in_entries_and_loops, in_other_orders, tables, kept_tokens, in_use, from_checkpoint, larger_than_memory):
            folder = pathlib.Path(name, case.__name__)
            folder.mkdir()
            case(folder)


main()

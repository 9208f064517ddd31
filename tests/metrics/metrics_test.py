#!/usr/bin/python3
"""`--metrics` and `mtf watch`: what files of metrics hold, by the rules of their formats alone; that a run
which is resumed has no step twice; that one rank writes; what a terminal shows."""

import csv
import fcntl
import json
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import time
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cli"))
from event_files import crc32c, events, masked  # noqa: E402
from terminal import on_terminal  # noqa: E402

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from verdict import fail  # noqa: E402

MTF = str(pathlib.Path(sys.argv[1]).resolve())
STEPS = 12
TRAIN = """\
import optim
dim batch = 8, length = 4, vocab = 8, d = 16
mesh line = [r: 2]
layout split on line { batch -> r }
model net(ids: i32[batch, length]) {
  param table : f32[vocab, d] = normal(stddev = 0.3)
  param out : f32[d, vocab] = normal(stddev = 0.3)
  return einsum(gather(table, ids, over = vocab), out -> [batch, length, vocab])
}
fn train(ids: i32[batch, length]) {
  let scores = log_softmax(net(ids), over = vocab)
  let loss = -mean(sum(scores * one_hot(ids, vocab), over = vocab))
  minimize loss with optim.adam(lr = 0.01)
  return loss
}
option steps = 12
option stop = 1000
state step : i32[] = zeros
if exists("s.safetensors") { restore "s.safetensors" }
let ids = integers([batch, length], low = 0, high = 8, seed = 7)
while step < steps {
  let loss = train(ids)
  print "{loss:.9g}"
  step <- step + 1
  if int(step) % 4 == 0 { metric("valid/loss", 2 * loss) }
  if int(step) % 4 == 0 { save "s.safetensors" }
  assert step != stop, "stopped"
}
"""
FILES = ["m.jsonl", "m.csv", "tb/"]
EVENTS = "tb/events.out.tfevents.mtf"


def run(folder, *words, status=0, ranks=0):
    launcher = ["mpirun", "--oversubscribe", "-n", str(ranks)] if ranks else []
    done = subprocess.run([*launcher, MTF, *words], cwd=folder, capture_output=True, text=True, timeout=600,
                          check=False)
    if done.returncode != status:
        fail(f"{words}: status {done.returncode}", done.stdout, done.stderr)
    return done


def train(folder, *own, status=0, ranks=0):
    """The losses that are printed."""
    words = [word for name in FILES for word in ("--metrics", name)]
    behind = ["--", *own] if own else []
    done = run(folder, "run", "train.mtf", "--layout", "split", *words, *behind, status=status, ranks=ranks)
    return [float(line) for line in done.stdout.splitlines()]


def series(folder):
    """{name: [(step, value)]} as each of the three files has it."""
    lines, table, board = {}, {}, {}
    for line in pathlib.Path(folder, "m.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        for name, value in record.items():
            if name not in ("step", "entry", "time"):
                lines.setdefault(f"{record['entry']}/{name}", []).append((record["step"], value))
    with open(pathlib.Path(folder, "m.csv"), encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            for name, value in row.items():
                if name not in ("step", "entry", "time") and value != "":
                    table.setdefault(f"{row['entry']}/{name}", []).append((int(row["step"]), float(value)))
    found, version = events(pathlib.Path(folder, EVENTS))
    if version != "brain.Event:2":
        fail("the version of the event file", version)
    for step, tag, value in found:
        board.setdefault(tag, []).append((step, value))
    if lines != table or lines.keys() != board.keys():
        fail("the files differ", lines, table, board)
    for name, points in lines.items():
        narrow = [(step, struct.unpack("<f", struct.pack("<f", value))[0]) for step, value in points]
        if narrow != board[name]:
            fail(f"the event file has another {name}", narrow, board[name])
    return lines


def check_series(what, found, losses):
    narrow = [struct.unpack("<f", struct.pack("<f", loss))[0] for loss in losses]
    steps = list(range(STEPS))
    read = [struct.unpack("<f", struct.pack("<f", value))[0] for _, value in found["train/loss"]]
    if [step for step, _ in found["train/loss"]] != steps or read != narrow:
        fail(f"{what}: the loss", found["train/loss"], losses)
    if [step for step, _ in found["train/valid/loss"]] != [3, 7, 11]:
        fail(f"{what}: the steps of a metric", found["train/valid/loss"])
    for step, value in found["train/valid/loss"]:
        if abs(value - 2 * losses[step]) > 1e-6:
            fail(f"{what}: a metric", step, value)
    rates = found["train/tokens_per_second"]
    for (step, rate), (_, seconds) in zip(rates, found["train/seconds"], strict=True):
        if abs(rate * seconds / 32 - 1) > 1e-4:  # 8 examples of 4 tokens
            fail(f"{what}: tokens per second at step {step}", rate, seconds)


# ---- the tests ----------------------------------------------------------------------------------------

def check_resumed(folder, ranks):
    table, kept = pathlib.Path(folder, "m.csv"), pathlib.Path(folder, "kept.csv")
    if not table.is_symlink():
        kept.touch(mode=0o600)
        table.symlink_to("kept.csv")
    unbroken = train(folder, ranks=ranks)
    whole = series(folder)
    check_series("an unbroken run", whole, unbroken)
    pathlib.Path(folder, "s.safetensors").unlink()
    first = train(folder, "--stop", "7", status=1, ranks=ranks)  # begins again: nothing is left of the first
    if [step for step, _ in series(folder)["train/loss"]] != list(range(7)):
        fail("a run from the beginning goes on with what an earlier one wrote")
    for name, torn in [("m.jsonl", b'{"step":99,"los'), ("m.csv", b"99,tra"), (EVENTS, b"\x18\x00\x00\x00")]:
        with open(pathlib.Path(folder, name), "ab") as file:
            file.write(torn)  # a record that was not finished
    rest = train(folder, ranks=ranks)
    if first[:4] + rest != unbroken:
        fail("the resumed run", first, rest, unbroken)
    check_series("a resumed run", series(folder), unbroken)
    if not table.is_symlink() or kept.stat().st_mode & 0o777 != 0o600:
        fail("a link stays one, and the file keeps its permissions", kept.stat())
    pathlib.Path(folder, "s.safetensors").unlink()


IN_FUNCTIONS = """\
import optim
dim batch = 4
mesh line = [r: 2]
layout split on line { batch -> r }
param w : f32[] = ones
fn train(x: f32[batch]) {
  let loss = mean(square(w * x))
  metric("highest", max(x))
  minimize loss with optim.sgd(lr = 0.1)
  return loss
}
fn note(rate) { metric("rate", rate) }
fn elsewhere(v: f32[], step: i32[]) { metric("elsewhere", v, step = step) }
for i in 0..3 {
  let loss = train(i * ones([batch]))
  note(0.5)  # built once, called three times
  elsewhere(1.5, 2 * i)
}
"""


def check_functions(folder):
    """Whenever the function is called, at the step that it is part of or that was taken last."""
    pathlib.Path(folder, "f.mtf").write_text(IN_FUNCTIONS, encoding="utf-8")
    for ranks in (0, 2):
        run(folder, "run", "f.mtf", "--layout", "split", "--metrics", "f.jsonl", ranks=ranks)
        found = {"highest": [], "rate": [], "elsewhere": []}
        for line in pathlib.Path(folder, "f.jsonl").read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            for name, points in found.items():
                points += [(record["step"], record[name])] if name in record else []
        if found != {"highest": [(0, 0), (1, 1), (2, 2)], "rate": [(0, 0.5), (1, 0.5), (2, 0.5)],
                     "elsewhere": [(0, 1.5), (2, 1.5), (4, 1.5)]}:
            fail("metrics of functions", found)


TWO_ENTRIES = """\
import optim
option steps = 4
option both = true
option back = 0
option resume = false
param w : f32[] = ones
fn often(x: f32[]) { minimize square(w * x) with optim.sgd }
fn seldom(x: f32[]) { minimize square(w * x - 1) with optim.sgd }
state step : i32[] = zeros
metric("begins", 1)
if resume { restore "two.safetensors" }
var turns = 0
while step < steps {
  often(1)
  if both and int(step) % 2 == 0 { seldom(1) }
  step <- step + 1
  turns = turns + 1
  if int(step) == 3 { save "two.safetensors" }
  if turns == back { restore "two.safetensors" }
}
"""


def check_earlier_runs(folder):
    """Nothing is left of them but of the steps before a checkpoint; likewise where a run itself goes back."""
    pathlib.Path(folder, "two.mtf").write_text(TWO_ENTRIES, encoding="utf-8")
    four = ["", *(f"{entry}{step}" for entry, steps in (("often", 4), ("seldom", 2)) for step in range(steps))]
    for own, wanted in [((), four), (("--both", "false", "--steps", "2"), ["", "often0", "often1"]),
                        (("--back", "4"), four), (("--resume", "true"), four), ((), four)]:
        run(folder, "run", "two.mtf", "--metrics", "two.jsonl", "--metrics", "two.jsonl", "--", *own)
        lines = pathlib.Path(folder, "two.jsonl").read_text(encoding="utf-8").splitlines()
        found = sorted(f"{record['entry']}{record['step']}" if "entry" in record else ""
                       for record in map(json.loads, lines))
        if found != wanted:
            fail(f"metrics of a run with {own}", found)


MICROBATCHES = """\
import nn
import optim
dim micro = 4, batch = 8, length = 5, vocab = 11, d = 6
mesh line = [r: 2]
layout split on line { batch -> r }
model net(ids: i32[batch, length]) {
  param e : f32[vocab, d] = normal
  return sum(tanh(gather(e, ids, over = vocab)) * e, over = d)
}
fn loss_of(ids: i32[batch, length]) { return mean(nn.softmax_cross_entropy(net(ids), ids, over = vocab)) }
fn whole(ids: i32[batch, length]) { minimize loss_of(ids) + 0.1 * mean(square(net(ids))) with optim.sgd }
fn added_up(ids: i32[micro, batch, length]) {
  var loss = 0.0
  for i in 0..size(micro) { loss = loss + loss_of(ids[micro: i]) / size(micro) }
  minimize loss with optim.sgd
}
fn in_turn(ids: i32[micro, batch, length], parts: int, ways: int) {
  fn loss(i) { return loss_of(gather(ids, i, over = micro)) }
  if ways == 1 { optim.minimize_in_parts(loss, net, parts, optim.sgd) }
  else { optim.minimize_in_parts(loss, net, parts, optim.sgd, over = batch, ways = ways) }
}
let ids = integers([micro, batch, length], low = 0, high = 11, seed = 1)
whole(ids[micro: 0])
added_up(ids)
in_turn(ids, 4, 1)
in_turn(ids, 4, 4)
in_turn(ids, 3, 2)
in_turn(ids, 1, 1)
"""


def check_microbatches(folder):
    """Tokens in a second are those of all microbatches."""
    pathlib.Path(folder, "micro.mtf").write_text(MICROBATCHES, encoding="utf-8")
    run(folder, "run", "micro.mtf", "--layout", "split", "--metrics", "micro.jsonl")
    lines = pathlib.Path(folder, "micro.jsonl").read_text(encoding="utf-8").splitlines()
    found = [round(record["tokens_per_second"] * record["seconds"]) for record in map(json.loads, lines)]
    if found != [40, 160, 160, 160, 120, 40]:
        fail("tokens of a step", found)


def check_wrong(folder):
    for words, status, wanted in [
            (["--metrics", "m.txt"], 2, "`--metrics` takes x.jsonl, x.csv or a folder x/, not `m.txt`"),
            (["--metrics", "train.mtf/"], 1, "cannot take metrics: Not a directory"),
            (["--metrics", "other.csv"], 1, "`other.csv` cannot take metrics: it is no file of metrics"),
            (["--metrics", "other.jsonl"], 1, "it is no file of metrics"),
            (["--metrics", "folder.csv"], 1, "`folder.csv` cannot take metrics: Is a directory"),
            (["--metrics", "ring/m.csv"], 1, "`ring/m.csv` cannot take metrics: Too many levels of symbolic links"),
            (["--metrics", "l" * 300 + "/m.csv"], 1, "/m.csv` cannot take metrics: File name too long")]:
        pathlib.Path(folder, "other.csv").write_text("a,b\n1,2\n", encoding="utf-8")
        pathlib.Path(folder, "other.jsonl").write_text('{"a": 1}\n', encoding="utf-8")
        pathlib.Path(folder, "folder.csv").mkdir(exist_ok=True)
        if not pathlib.Path(folder, "ring").is_symlink():
            pathlib.Path(folder, "ring").symlink_to("ring")
        for ranks in (0, 2):
            done = run(folder, "run", "train.mtf", "--layout", "split", *words, status=status, ranks=ranks)
            if wanted not in done.stderr or done.stdout:
                fail(f"{words} says", done.stdout, done.stderr)
        if pathlib.Path(folder, "other.csv").read_text(encoding="utf-8") != "a,b\n1,2\n":
            fail("a file of somebody else was written to")
    for name, wanted in [("gone.jsonl", "cannot be opened"), ("other.csv", "has no column `step`"),
                         ("folder.csv", "is a folder without event files of TensorBoard; `--metrics folder.csv/` writes one")]:
        done = run(folder, "watch", "--once", name, status=1)
        if wanted not in done.stderr:
            fail(f"mtf watch {name} says", done.stderr)
    for name, text, wanted in [
            ("none.jsonl", "", "the file is empty"),
            ("none.jsonl", '{"step": 1', "its first line is not finished"),
            ("none.jsonl", '{"a": 1}\n', "its only line is no JSON object with a whole number for `step` and other numbers"
                                         " beside it"),
            ("none.jsonl", '{"a": 1}\n\n', "none of its 2 lines is a JSON object with a whole number for `step` and"
                                           " other numbers beside it"),
            ("none.jsonl", '{"step": 1, "loss": null}\n', "the numbers of its 1 line are all infinite or NaN"),
            ("none.csv", "step,loss\n", "there is no row below the header"),
            ("none.csv", "step,loss\n1,nan\n", "the numbers of its 2 lines are all infinite or NaN"),
            ("none.csv", "step,loss\n1.5,2\n", "its only row has not a whole number for `step` and other numbers"
                                               " beside it")]:
        pathlib.Path(folder, name).write_text(text, encoding="utf-8")
        done = run(folder, "watch", "--once", "--plot", "none.svg", name, status=1)
        if f"error: `{name}` has no metrics: {wanted}; `mtf run PROGRAM --metrics FILE` writes" not in done.stderr:
            fail(f"of {text!r} is said", done.stderr)
        if done.stdout or pathlib.Path(folder, "none.svg").exists():
            fail(f"of {text!r} is drawn", done.stdout)


def check_watch(folder):
    train(folder)
    pictures = [run(folder, "watch", "--once", "--width", "60", name).stdout for name in ("m.jsonl", "m.csv")]
    if pictures[0] != pictures[1] or not pictures[0].startswith("loss\n") or "valid/loss\n" not in pictures[0]:
        fail("the curves", *pictures)
    plain = run(folder, "watch", "--once", "--ascii", "--width", "60", "--plot", "m.svg", "m.jsonl").stdout
    rows = [line for line in plain.splitlines() if "|" in line]
    if not plain.isascii() or len(rows) != 24 or "*" not in rows[0] or not rows[11].endswith("*"):
        fail("a curve in ASCII that goes down", plain)
    if any(len(line) > 60 for line in plain.splitlines()[:-1]):
        fail("wider than it was to be", plain)
    tree = xml.etree.ElementTree.parse(pathlib.Path(folder, "m.svg"))
    lines = tree.findall("{http://www.w3.org/2000/svg}polyline")
    if [len(line.get("points").split()) for line in lines] != [STEPS, 3]:
        fail("the polylines of the SVG")
    check_odd_curves(folder)
    check_not_finite(folder)
    check_event_curves(folder)
    follow(folder)
    check_low_screen(folder)


def check_odd_curves(folder):
    """Of numbers as far apart as can be, and of names that a terminal must not have as they are."""
    names = ["größe", "日本", "\U0001f600", "a\x1b[31mb", "n" * 300]
    lines = [json.dumps({"step": step, "loss": loss, **{name: step for name in names}}, ensure_ascii=False)
             for step, loss in enumerate((1e308, -1e308, 0))]
    pathlib.Path(folder, "odd.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for words in ([], ["--ascii"]):
        text = run(folder, "watch", "--once", "--width", "60", *words, "--plot", "odd.svg", "odd.jsonl").stdout
        if "\x1b" in text or "a\\u001b[31mb\n" not in text or (words and not text.isascii()):
            fail("names of curves", text)
        if ("gr\\u00f6\\u00dfe\n" in text, "\\u65e5\\u672c\n" in text, "\\U0001f600\n" in text) != (bool(words),) * 3:
            fail("names that are no ASCII", text)
        if any(len(line) > 60 + 2 for line in text.splitlines()[:-1]):
            fail("a name that is longer than a line", text)
    xml.etree.ElementTree.parse(pathlib.Path(folder, "odd.svg"))


def framed(data):
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", masked(length)) + data + struct.pack("<I", masked(data))


def foreign_event(step, **tags):
    """As others write it: scalars as floats, or as tensors of TensorFlow; fields that nobody knows."""
    def part(number, kind, data):
        key = number << 3 | kind  # a varint of two bytes from 128 on
        head = bytes([key]) if key < 128 else bytes([key & 127 | 128, key >> 7])
        return head + (bytes([len(data)]) if kind == 2 else b"") + data

    summary = b""
    for tag, (form, value) in tags.items():
        scalar = {"simple": lambda x: part(2, 5, struct.pack("<f", x)),
                  "content": lambda x: part(8, 2, bytes([1 << 3, 1]) + part(4, 2, struct.pack("<f", x))),
                  "doubles": lambda x: part(8, 2, bytes([1 << 3, 2]) + part(6, 2, struct.pack("<d", x))),
                  "text": lambda x: part(8, 2, bytes([1 << 3, 7]) + part(8, 2, x))}[form](value)
        summary += part(1, 2, part(1, 2, tag.replace("__", "/").encode()) + scalar)
    return framed(part(1, 1, struct.pack("<d", 1e9)) + part(20, 2, b"new") + bytes([2 << 3, step]) + part(5, 2, summary))


def check_not_finite(folder):
    """The last value is told as what it is, and not as the last one that could be drawn."""
    line = '{"step": 0, "loss": 9}\n{"step": 4, "of \\"NaN": "NaN", "loss": %s}\n'
    for name, text, none in [("nan.jsonl", line, "null"),
                             ("nan.jsonl", line, "NaN"),  # as Python writes it
                             ("nan.jsonl", line, "-Infinity"),
                             ("nan.csv", "step,loss\n0,9\n4,%s\n", "nan"),
                             ("nan.csv", "step,loss\r\n0,9\r\n4,%s\r\n", "nan")]:
        for value, told in [(none, "not finite"), ("3", "3")]:
            pathlib.Path(folder, name).write_bytes((text % value).encode())
            said = run(folder, "watch", "--once", name).stdout.splitlines()[-1]
            if said != f"step 4, loss {told}":
                fail("a loss", value, said)


def check_event_curves(folder):
    """Of runs in folders, each under its name; the files of one run are one curve."""
    def watch(name):
        return run(folder, "watch", "--once", "--width", "60", name).stdout

    lines, events = watch("m.jsonl"), watch("tb")
    if events.split("step ")[:-1] != lines.split("step ")[:-1] or watch(EVENTS) != events:
        fail("the curves of an event file", lines, events)
    runs = pathlib.Path(folder, "runs")
    (runs / "deep" / "other").mkdir(parents=True)
    (runs / "mine").symlink_to(pathlib.Path(folder, "tb"))
    (runs / "own").mkdir()
    (runs / "own" / "events.out.tfevents.mtf").write_bytes(pathlib.Path(folder, EVENTS).read_bytes())
    first = foreign_event(0, Loss__train=("content", 8), note=("text", b"long")) + foreign_event(1, Loss__train=("simple", 4))
    second = foreign_event(2, Loss__train=("doubles", 2), Loss__valid=("simple", 3))
    (runs / "deep" / "other" / "events.out.tfevents.1.host").write_bytes(first)
    (runs / "deep" / "other" / "events.out.tfevents.2.host").write_bytes(second + b"torn")
    drawn = watch("runs")
    wanted = ["deep/other/Loss/train 2", "deep/other/Loss/valid 3", "own/loss", "own/valid/loss"]
    last = drawn.splitlines()[-1]
    if [name for name in wanted if name not in last] or "note" in drawn or "mine" in drawn:
        fail("the curves of a folder of runs", drawn)
    (runs / "deep" / "other" / "events.out.tfevents.1.host").write_bytes(b"torn")
    (runs / "deep" / "other" / "events.out.tfevents.2.host").write_bytes(foreign_event(0, note=("text", b"long")))
    said = run(folder, "watch", "--once", "runs/deep", status=1).stderr
    if "error: `runs/deep` has no metrics: there are no numbers in 1 event; `mtf run" not in said:
        fail("events without numbers", said)


def follow(folder):
    """On a terminal it waits for the first, draws what is added, and what comes when the file is rotated."""
    path = pathlib.Path(folder, "grows.jsonl")
    path.write_text("", encoding="utf-8")
    master, end = pty.openpty()
    with subprocess.Popen([MTF, "watch", str(path)], stdin=subprocess.DEVNULL, stdout=end, stderr=end) as process:
        os.close(end)
        shown = b""
        for last, added in [(b"no metrics yet: the file is empty", '{"step":0,"loss":4}\n{"step":1,"loss":2}\n'),
                            (b"step 1, loss 2", '{"step":7,"loss":1.5}\n{"step":8,"lo'), (b"step 7, loss 1.5", None)]:
            while last not in shown:
                shown += os.read(master, 65536)
            if added:
                with open(path, "a", encoding="utf-8") as file:
                    file.write(added)
        path.rename(path.with_name("old.jsonl"))
        time.sleep(1.2)  # it looks twice a second
        path.write_text('{"step":9,"loss":0.5}\n', encoding="utf-8")
        while b"step 9, loss 0.5" not in shown:
            shown += os.read(master, 65536)
        path.write_text('{"step":9,"loss":0.2}\n', encoding="utf-8")  # as long as before
        while b"step 9, loss 0.2" not in shown:
            shown += os.read(master, 65536)
        process.terminate()
    os.close(master)


def check_low_screen(folder):
    """All curves, or the first ones, are on it at once, with their names."""
    names = [f"curve{i}" for i in range(5)]
    lines = [json.dumps({"step": step, **{name: step for name in names}}) for step in range(9)]
    path = pathlib.Path(folder, "many.jsonl")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    for rows, drawn in ((90, 5), (40, 5), (32, 5), (31, 4), (24, 3), (10, 1), (2, 1)):
        master, end = pty.openpty()
        fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 60, 0, 0))
        with subprocess.Popen([MTF, "watch", str(path)], stdin=subprocess.DEVNULL, stdout=end) as process:
            os.close(end)
            shown = b""
            while b"step 8, curve0 8" not in shown or not shown.endswith(b"\n"):
                shown += os.read(master, 65536)
            process.terminate()
        os.close(master)
        text = shown.decode().removeprefix("\x1b[H\x1b[J").replace("\r", "")
        # what is behind the last column goes on in the next row; the cursor has one, too
        taken = sum(max(1, -(-len(line) // 60)) for line in text.splitlines()) + 1
        if [line for line in text.splitlines() if line in names] != names[:drawn] or taken > max(rows, 10):
            fail(f"a screen of {rows} rows", taken, text)
        if (f"{5 - drawn} more;" in text) != (drawn < 5):
            fail(f"what is left out on a screen of {rows} rows", text)


def check_progress(folder):
    pathlib.Path(folder, "s.safetensors").unlink()
    pathlib.Path(folder, "long.mtf").write_text(
        TRAIN.replace("steps = 12", "steps = 600").replace("batch = 8", "batch = 512")
        .replace("d = 16", "d = 512").replace("  print \"{loss:.9g}\"\n", ""), encoding="utf-8")
    shown = on_terminal([MTF, "run", "long.mtf", "--layout", "split"], columns=120, cwd=folder,
                        env=dict(os.environ, TERM="xterm"), status=0)
    if not re.search(r"turn \d+, loss -?\d\S*, [\d,]+ tokens/s", shown):
        fail("the progress line", repr(shown[-400:]))


with tempfile.TemporaryDirectory() as scratch:
    pathlib.Path(scratch, "train.mtf").write_text(TRAIN, encoding="utf-8")
    if crc32c(b"123456789") != 0xE3069283:
        fail("the checksum of this test")
    check_resumed(scratch, 0)
    check_resumed(scratch, 2)
    check_functions(scratch)
    check_earlier_runs(scratch)
    check_microbatches(scratch)
    check_wrong(scratch)
    check_watch(scratch)
    check_progress(scratch)

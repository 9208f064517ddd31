#!/usr/bin/python3
"""Many steps of a small model that saves, evaluates and writes metrics: memory and open files stay what
they were, on ranks of their own and on a simulated mesh.

`soak_test.py MTF [STEPS]`; tests/soak/long_soak for a hundred thousand, which also tells the time of a
step at the begin and at the end. That is not asserted: the machine may be busy.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "launch"))
from processes import ranks_of  # noqa: E402

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from verdict import fail  # noqa: E402

MTF = str(pathlib.Path(sys.argv[1]).resolve())
STEPS = int(sys.argv[2]) if len(sys.argv) > 2 else 4_000
LOGGED = 100 if STEPS < 50_000 else 4  # steps between two lines of a log
KIB = 1024
TRAIN = """\
import optim
dim batch = 8, io = 8, hidden = 16
mesh line = [r: 2]
layout split on line { batch -> r }
model net(x: f32[batch, io]) -> f32[batch, io] {
  param w : f32[io, hidden] = normal(stddev = 0.3)
  param v : f32[hidden, io] = normal(stddev = 0.3)
  return einsum(dropout(relu(einsum(x, w -> [batch, hidden])), rate = 0.1), v -> [batch, io])
}
fn train(x: f32[batch, io]) {
  let loss = mean(square(net(x) - x))
  minimize loss with optim.adam(lr = 0.001)
  return loss
}
fn evaluate(x: f32[batch, io]) { return mean(square(net(x) - x)) }
option steps = 1
option logged = 100
state step : i32[] = zeros
let x = normal([batch, io], seed = 7)
while step < steps {
  let loss = train(x)
  step <- step + 1
  if int(step) % logged == 0 { append("log.csv", "{step}") }  # a unit each time; some thousand are kept
  if int(step) % 100 == 0 {
    metric("found", evaluate(x))
    print "step {step} loss {loss:.4f}, {list(x[io: 0])}"
    save "saved/step_{step}.safetensors", keep = 2
  }
}
"""


def state(process):
    """Resident bytes and open files; an OSError once the process has ended, or is just ending."""
    pages = int(pathlib.Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1])
    files = len(os.listdir(f"/proc/{process}/fd"))
    if pages == 0 or files == 0:
        raise ProcessLookupError(process)
    return pages * os.sysconf("SC_PAGE_SIZE"), files


def steps_done(folder):
    path = pathlib.Path(folder, "log.csv")
    if not path.exists():
        return 0
    with open(path, "rb") as file:
        file.seek(max(0, path.stat().st_size - 100))
        lines = file.read().splitlines()
    return int(lines[-1]) if lines else 0


def watch(folder, process):
    """[(steps, {rank's process: (bytes, files)})], as long as all of them are there."""
    seen = []
    while process.poll() is None:
        done = steps_done(folder)
        try:
            found = {rank: state(rank) for rank in ranks_of(process.pid)}
        except OSError:
            break
        if done >= STEPS // 5 and (not seen or done >= seen[-1][0] + STEPS // 50):
            seen.append((done, found))
        time.sleep(0.02)
    if process.wait() != 0:
        fail(f"status {process.returncode}")
    return seen


def check(folder, launcher):
    command = [*launcher, MTF, "run", "train.mtf", "--layout", "split", "--metrics", "m.jsonl", "--",
               "--steps", str(STEPS), "--logged", str(LOGGED)]
    with open(pathlib.Path(folder, "output"), "wb") as output:
        with subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT) as process:
            seen = watch(folder, process)
    what = " ".join(command[:4])
    if len(seen) < 3:
        fail(f"{what}: it was seen {len(seen)} times only")
    for rank in seen[0][1]:
        files = [found[rank][1] for _, found in seen if rank in found]
        memory = [found[rank][0] for _, found in seen if rank in found]
        early = max(memory[:max(1, len(memory) // 5)])
        late = statistics.median(memory[-max(1, len(memory) // 5):])
        # A log and a checkpoint in progress have files open, and pages are counted while they are written:
        # what is seen may all fall into such moments. A file lost for each of the saves is dozens.
        if max(files) > min(files) + 3:
            fail(f"{what}: open files", files)
        if late > early * 1.02 + 256 * KIB:
            fail(f"{what}: KiB in memory", [size // KIB for size in memory])
        print(f"{what}: {STEPS} steps, {early // KIB} KiB, at the end {int(late) // KIB}; {min(files)} files")
    records = [json.loads(line) for line in pathlib.Path(folder, "m.jsonl").read_text(encoding="utf-8").splitlines()]
    seconds = [record["seconds"] for record in records if "loss" in record]
    if len(seconds) != STEPS:
        fail(f"{what}: metrics of {len(seconds)} steps")
    tenth = STEPS // 10
    early, late = statistics.median(seconds[tenth:2 * tenth]), statistics.median(seconds[-tenth:])
    wall = [record["time"] for record in records if "loss" in record]
    print(f"  a step takes {early * 1e6:.1f} us, at the end {late * 1e6:.1f} us; with all around it "
          f"{(wall[2 * tenth] - wall[tenth]) / tenth * 1e6:.1f} us, {(wall[-1] - wall[-tenth]) / tenth * 1e6:.1f} us")


for own in ([], ["mpirun", "--oversubscribe", "-n", "2"]):
    with tempfile.TemporaryDirectory() as scratch:
        pathlib.Path(scratch, "train.mtf").write_text(TRAIN, encoding="utf-8")
        check(scratch, own)

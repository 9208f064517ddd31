#!/usr/bin/python3
"""kill -9 of a rank at random moments: every checkpoint there is is whole, and what is resumed from the
last one, on another mesh and layout, repeats the unbroken run to the bit.

`kill_test.py MTF [KILLS]`; tests/checkpoint/long_kills for a thousand.
"""

import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

try:
    import numpy  # noqa: F401
except ImportError:
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from programs import TRAIN, checkpoints, fail, line, run  # noqa: E402

KILLS = int(sys.argv[2]) if len(sys.argv) > 2 else 8
STEPS = 150
SETTINGS = f"steps={STEPS},every=1"


def ranks_of(launcher):
    """Processes below mpirun, or the one that was started."""
    below = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1]) == launcher:
                below.append(int(entry.name))
        except (OSError, IndexError):
            pass
    return sorted(below) or [launcher]


def step_of(name):
    return int(name.split("_")[1].split(".")[0])


def killed(folder, command, seconds, choose):
    """Its output, once a rank was killed after so many seconds; whether it still ran."""
    with tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT)
        time.sleep(seconds)
        runs = process.poll() is None
        if runs:
            try:
                os.kill(choose(ranks_of(process.pid)), signal.SIGKILL)
            except ProcessLookupError:
                pass
        process.wait(timeout=120)
        output.seek(0)
        return [text for text in output.read().splitlines() if text.startswith("step ")], runs


def main(folder):
    pathlib.Path(folder, "train.mtf").write_text(TRAIN.replace("keep = 3", f"keep = {STEPS}"), encoding="utf-8")
    unbroken = run(folder, line("both", False, SETTINGS)).stdout.splitlines()
    whole = {name: pathlib.Path(folder, "run", name).read_bytes() for name in checkpoints(folder)}
    if len(whole) != STEPS:
        fail("the unbroken run", len(whole))
    pathlib.Path(folder, "train.mtf").write_text(TRAIN, encoding="utf-8")
    dice = random.Random(os.environ.get("MTF_KILL_SEED", "11"))
    kills, finished = 0, 0
    begins = True
    while kills < KILLS:
        if begins:
            for name in checkpoints(folder):
                pathlib.Path(folder, "run", name).unlink()
        files = [name for name in checkpoints(folder) if name.endswith(".safetensors")]
        newest = max(files, key=step_of, default=None)
        layout = dice.choice(["one", "both", "data", "wide"])
        settings = SETTINGS + (f",from=run/{newest}" if newest else "")
        lines, runs = killed(folder, line(layout, dice.random() < 0.8, settings), dice.uniform(0.4, 2.0),
                             dice.choice)
        kills += runs
        first = step_of(newest) if newest else 0
        if lines[:-1] != unbroken[first:first + len(lines[:-1])]:
            fail(f"resumed at {first} on {layout}", lines, unbroken[first:first + len(lines)])
        files = [name for name in checkpoints(folder) if name.endswith(".safetensors")]
        for name in files:
            if pathlib.Path(folder, "run", name).read_bytes() != whole[name]:
                fail(f"{name} is not what it was, after {kills} kills")
        if newest and (not files or step_of(max(files, key=step_of)) < first):
            fail(f"{newest} is gone", files)
        if len([n for n in checkpoints(folder) if n.endswith(".safetensors")]) > 4:
            fail("keep = 3 leaves", checkpoints(folder))
        begins = f"step_{STEPS}.safetensors" in files
        finished += begins
    print(f"{kills} kills, {finished} runs to the end, {len(checkpoints(folder))} files")


with tempfile.TemporaryDirectory() as scratch:
    main(scratch)

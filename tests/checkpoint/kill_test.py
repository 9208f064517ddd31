#!/usr/bin/python3
"""kill -9 of a rank at random moments: every checkpoint there is is whole, and what is resumed from the
last one, on another mesh and layout (2-D and 1-D, of 4, 2 and 1 ranks), repeats the unbroken run to the
bit, and leaves the metrics of each step once.

`kill_test.py MTF [KILLS]`; tests/checkpoint/long_kills for a thousand.
"""

import json
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

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "launch"))
from processes import ranks_of  # noqa: E402
from programs import RANKS, TRAIN, checkpoints, fail, line, run  # noqa: E402

KILLS = int(sys.argv[2]) if len(sys.argv) > 2 else 8
STEPS = 150
SETTINGS = f"steps={STEPS},every=1"
ALONE = "mesh alone = [s: 1]\nlayout solo on alone { batch -> s }\n"


def trained(folder):
    """[(step, loss)] of the file of metrics; without a last line that is not whole."""
    path = pathlib.Path(folder, "m.jsonl")
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    records = [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]
    return [(record["step"], record["loss"]) for record in records]


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
    program = TRAIN.replace("\nlayout one", f"\n{ALONE}layout one")
    RANKS["solo"] = 1
    pathlib.Path(folder, "train.mtf").write_text(program.replace("keep = 3", f"keep = {STEPS}"), encoding="utf-8")
    metrics = ["--metrics", "m.jsonl"]
    unbroken = run(folder, line("both", False, SETTINGS) + metrics).stdout.splitlines()
    losses = trained(folder)
    whole = {name: pathlib.Path(folder, "run", name).read_bytes() for name in checkpoints(folder)}
    if len(whole) != STEPS or [step for step, _ in losses] != list(range(STEPS)):
        fail("the unbroken run", len(whole), losses)
    pathlib.Path(folder, "train.mtf").write_text(program, encoding="utf-8")
    dice = random.Random(os.environ.get("MTF_KILL_SEED", "11"))
    kills, finished = 0, 0
    begins = True
    while kills < KILLS:
        if begins:
            for name in checkpoints(folder):
                pathlib.Path(folder, "run", name).unlink()
        files = [name for name in checkpoints(folder) if name.endswith(".safetensors")]
        newest = max(files, key=step_of, default=None)
        layout = dice.choice(["one", "both", "data", "wide", "solo"])
        settings = SETTINGS + (f",from=run/{newest}" if newest else "")
        lines, runs = killed(folder, line(layout, dice.random() < 0.8, settings) + metrics,
                             dice.uniform(0.4, 2.0), dice.choice)
        kills += runs
        first = step_of(newest) if newest else 0
        if lines[:-1] != unbroken[first:first + len(lines[:-1])]:
            fail(f"resumed at {first} on {layout}", lines, unbroken[first:first + len(lines)])
        found = trained(folder)
        if lines and found != losses[:len(found)]:
            fail(f"metrics after a run from {first} on", found, losses)
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

#!/usr/bin/python3
"""Ctrl-C and its like where a program saves: the turn ends, it saves and ends with 0, and what is
resumed from there goes on to the bit."""

import pathlib
import re
import shutil
import signal
import sys
import tempfile

try:
    import numpy  # noqa: F401
except ImportError:
    sys.exit(77)

sys.path.append(str(pathlib.Path(__file__).parent.parent / "launch"))
from programs import MTF, TRAIN, checkpoints, fail, line, run  # noqa: E402
from signalled import interrupted  # noqa: E402

SAID = r"mtf: interrupted after step (\d+) \(call \d+ of `train`\); `run/step_(\d+).safetensors` is saved\n"
EVALUATES = TRAIN.replace("state step", "fn evaluate(x: f32[batch, io]) { return mean(net(x)) }\nstate step").replace(
    "  step <- step + 1\n", "  step <- step + 1\n  let seen = evaluate(x)\n")
BESIDE = TRAIN.replace("state step", "fn evaluate(x: f32[batch, io]) { return mean(net(x)) }\nstate step").replace(
    "== 0 { save", '== 0 {\n    let seen = evaluate(x)\n    metric("seen", seen)\n    print "seen {seen}"\n    save')
PRINTS = TRAIN.replace("== 0 { save", '== 0 { print "step {step} is saved"; save')
ENDLESS = "steps=1000000000,every=1000000000"


def check(folder, command, number):
    shutil.rmtree(pathlib.Path(folder, "run"), ignore_errors=True)
    code, output, messages = interrupted(folder, command, number)
    said = re.search(SAID, messages)
    if code != 0 or not said:
        fail(f"{' '.join(command)} and {number}: status {code}", output[-300:], messages)
    step = int(said[2])
    lines = output.splitlines()
    if int(said[1]) != step - 1 or len(lines) != step or checkpoints(folder) != [
            f"step_{step}.safetensors"]:
        fail(f"{' '.join(command)}: {len(lines)} lines of {step} steps", checkpoints(folder), messages)
    more = f"steps={step + 3},every=1000000000"
    rest = run(folder, line("wide", False, f"{more},from=run/step_{step}.safetensors")).stdout
    whole = run(folder, line("one", False, more)).stdout
    if output + rest != whole:
        fail(f"{' '.join(command)}: resumed from step {step}", rest, whole[-300:])


def resumed(folder):
    """What goes on from a checkpoint is told by the steps that metrics have, and so is what goes wrong there."""
    run(folder, line("both", False, "steps=6"))
    settings = f"{ENDLESS},from=run/step_6.safetensors"
    messages = interrupted(folder, line("both", False, settings), signal.SIGINT)[2]
    said = re.search(SAID, messages)
    if not said or int(said[1]) != int(said[2]) - 1 or int(said[1]) < 6:
        fail("resumed, and interrupted again", messages)
    pathlib.Path(folder, "train.mtf").write_text(
        TRAIN.replace("train(x)", "train(x / cast(step < 8, f32))"), encoding="utf-8")
    command = line("both", False, "steps=9,from=run/step_6.safetensors")
    messages = run(folder, [*command, "--metrics", "m.jsonl"]).stderr
    records = pathlib.Path(folder, "m.jsonl").read_text(encoding="utf-8").splitlines()
    if "the loss is nan at step 8 (call 3 of `train`)" not in messages or '"step":8,' not in records[-1]:
        fail("resumed, and no number", messages, records)


def without_such_a_place(folder):
    """A save that changes something else, or stands in an outer loop, is not waited for."""
    for text in [TRAIN.replace("== 0 { save", '== 0 { step <- step + 1; save'),
                 BESIDE.replace("step_{step}", "step_{step}_{seen}"),
                 TRAIN.replace("while step", "for epoch in 0..3 { while step").replace(
                     "  if int(step)", "  }\n  if int(step)").replace("keep = 3 }", "keep = 3 }\n")]:
        pathlib.Path(folder, "train.mtf").write_text(text, encoding="utf-8")
        shutil.rmtree(pathlib.Path(folder, "run"), ignore_errors=True)
        code, output, messages = interrupted(folder, line("both", False, ENDLESS), signal.SIGINT)
        if code != 130 or checkpoints(folder):
            fail(f"status {code}", output[-300:], messages, text)
        if not messages.endswith("`train`); nothing was saved\n"):
            fail("nothing was saved", messages, text)
    saved = TRAIN.replace("while step", 'let first = train(x)\nsave "run/step_0.safetensors"\nwhile step')
    pathlib.Path(folder, "train.mtf").write_text(
        saved.replace("== 0 { save", '== 0 { step <- step + 1; save'), encoding="utf-8")
    messages = interrupted(folder, line("both", False, ENDLESS), signal.SIGINT)[2]
    if not messages.endswith("`train`); nothing was saved since step 0 (call 1 of `train`)\n"):
        fail("nothing was saved since", messages)
    pathlib.Path(folder, "train.mtf").write_text(
        "\n".join(one for one in TRAIN.splitlines() if "save " not in one), encoding="utf-8")
    messages = interrupted(folder, line("both", False, ENDLESS), signal.SIGINT)[2]
    if not messages.endswith("`train`)\n"):
        fail("without a save", messages)
    imported(folder)


def imported(folder):
    """A save that stands in another file is one of the program, too; a restore is none."""
    kept = [one for one in TRAIN.splitlines() if "save " not in one]
    for text, wanted in [('fn keep() { save "run/kept.safetensors" }', "`train`); nothing was saved\n"),
                         ('fn keep() { restore "run/kept.safetensors" }', "`train`)\n")]:
        pathlib.Path(folder, "keeper.mtf").write_text(text + "\n", encoding="utf-8")
        pathlib.Path(folder, "train.mtf").write_text(
            "\n".join(['import "keeper.mtf" as keeper', *kept]), encoding="utf-8")
        messages = interrupted(folder, line("both", False, ENDLESS), signal.SIGINT)[2]
        if not messages.endswith(wanted):
            fail(f"{text} in another file", messages)


with tempfile.TemporaryDirectory() as scratch:
    pathlib.Path(scratch, "train.mtf").write_text(TRAIN, encoding="utf-8")
    settings = ["train.mtf", "--layout", "both", "--set", ENDLESS]
    for wanted in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
        check(scratch, [MTF, "run", *settings], wanted)
    for wanted in (signal.SIGTERM, signal.SIGUSR1):
        check(scratch, [MTF, "run", "-n", "4", *settings], wanted)
    check(scratch, line("both", True, ENDLESS), signal.SIGUSR1)
    pathlib.Path(scratch, "train.mtf").write_text(EVALUATES, encoding="utf-8")  # said is what trains
    check(scratch, [MTF, "run", *settings], signal.SIGTERM)
    pathlib.Path(scratch, "train.mtf").write_text(BESIDE, encoding="utf-8")  # which is left out, and the save is not
    check(scratch, [MTF, "run", *settings], signal.SIGTERM)
    check(scratch, [MTF, "run", "-n", "4", *settings], signal.SIGUSR1)
    pathlib.Path(scratch, "train.mtf").write_text(PRINTS, encoding="utf-8")
    check(scratch, [MTF, "run", *settings], signal.SIGTERM)
    without_such_a_place(scratch)
    pathlib.Path(scratch, "train.mtf").write_text(TRAIN, encoding="utf-8")
    resumed(scratch)

#!/usr/bin/python3
"""`mtf run --profile`: its numbers add up, and are those that `--count` counts. Called with mtf's path."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from verdict import Failures  # noqa: E402

MTF = sys.argv[1]
PROGRAM = "examples/two_layer.mtf"
failures = Failures()
check = failures.check


def run(ranks, *options, program=PROGRAM):
    launcher = ["mpirun", "-q", "--oversubscribe", "-n", str(ranks)] if ranks else []
    done = subprocess.run([*launcher, MTF, "run", program, *options], capture_output=True, text=True,
                          timeout=600, env=dict(os.environ, XDG_CONFIG_HOME="/nonexistent"))
    check(f"{options} on {ranks} ranks: exit status {done.returncode}", done.returncode == 0)
    return done.stdout, done.stderr


def in_order(spread):
    return 0 <= spread["min"] <= spread["mean"] * 1.000001 <= spread["max"] * 1.000002


def check_unit(name, unit, profile):
    parts = [step["seconds"] for step in unit["steps"]]
    check(f"{name}: min, mean and max in order", all(map(in_order, [unit["seconds"], *parts])))
    inside = sum(part["mean"] for part in parts) + unit["agreeing"]["mean"]
    check(f"{name}: steps take {inside} of {unit['seconds']['mean']}",
          inside <= unit["seconds"]["mean"] * 1.000001)
    for step in unit["steps"]:
        check(f"{name}: {step['op']} is done {step['calls']} times", step["calls"] == unit["calls"])
        collective = step["kind"] not in ("kernel", "slice") and not step.get("with_next")
        check(f"{name}: who waits in {step['op']}",
              (step["waited"] is not None or step["hidden"] is not None)
              == (collective and not profile["simulated"]))
        if step["waited"]:
            check(f"{name}: {step['op']} waits longer than it takes",
                  step["waited"]["max"] <= step["seconds"]["max"] * 1.000001)


def check_profile(what, counted, profile, ranks):
    check(f"{what}: {profile['ranks']} ranks", profile["ranks"] == ranks)
    for unit in profile["units"]:
        check_unit(f"{what}: {unit['name']}", unit, profile)
    mine = counted["ranks"][0]
    entries = {entry["entry"]: entry for entry in mine["entries"]}
    units = {unit["name"]: unit for unit in profile["units"] if unit["kind"] == "entry"}
    check(f"{what}: entries", units.keys() == entries.keys())
    for name, unit in units.items():
        entry = entries[name]
        check(f"{what}: calls of {name}", unit["calls"] == entry["calls"])
        flops = sum(step["flops"] * step["calls"] for step in unit["steps"])
        check(f"{what}: flops of {name}", flops == entry["totals"]["flops"])
    groups = {(group["name"], group["calls"], group["bytes"]) for group in profile["collectives"]}
    wanted = {(f"{one['kind']} over {', '.join(one['axes'])}", one["calls"], one["bytes"])
              for one in mine["totals"]["collectives"]}
    check(f"{what}: collectives {groups}, not {wanted}", groups == wanted)
    families = {group["name"] for group in profile["kernels"]}
    check(f"{what}: {families}", {"products", "element-wise chains", "random numbers"} <= families)
    times = [unit["seconds"]["mean"] for unit in profile["units"]]
    check(f"{what}: units take longer than the whole", sum(times) <= profile["seconds"]["mean"])


def check_run(ranks, layout, mesh):
    what = f"{layout} on {ranks or 'simulated'} ranks"
    options = ("--layout", layout) + (("--mesh", mesh) if mesh else ())
    plain, _ = run(ranks, *options)
    out, err = run(ranks, *options, "--profile")
    check(f"{what}: standard output changes", out == plain)
    for words in ("profile of ", "train_step, 10 calls", "einsum(x, w)", "two_layer.mtf:19",
                  "kernels of the whole program", "products"):
        check(f"{what}: no {words!r} in\n{err}", words in err)
    check(f"{what}: predicted without a profile", "predicted" not in err)
    out, _ = run(ranks, *options, "--profile", "--count", "--json")
    report = json.loads(out)
    check(f"{what}: the program's lines are in it", report["output"] == plain.splitlines())
    check_profile(what, report, report["profile"], len(report["ranks"]))


def check_predictions():
    out, _ = run(0, "--profile", "--json", "--hardware", "cpu_core", "--layout", "both")
    profile = json.loads(out.splitlines()[-1])["profile"]
    cost = subprocess.run([MTF, "cost", PROGRAM, "train_step", "--layout", "both", "--hardware",
                           "cpu_core", "--json"], capture_output=True, text=True, timeout=600)
    seconds = json.loads(cost.stdout)["layouts"][0]["seconds"]
    unit = next(unit for unit in profile["units"] if unit["name"] == "train_step")
    check(f"predicted: {unit['predicted']}, not {seconds}",
          abs(unit["predicted"] - seconds) < 1e-9 * seconds)
    steps = sum(step["predicted"] for step in unit["steps"])
    check("predicted: the steps' sum", abs(steps - seconds) < 1e-9 * seconds)


# Of a sum that is read two products later.
FLYING = """\
dim batch = 64, io = 128, hidden = 256
mesh line = [ranks: 2]
layout split on line { batch -> ranks }
fn case(x: f32[batch, io], y: f32[batch, hidden]) {
  let sums = einsum(x, y -> [io, hidden])
  let other = einsum(exp(y), exp(-y) -> [batch])
  return exp(sums), other
}
let x = normal([batch, io], seed = 1)
let y = normal([batch, hidden], seed = 2)
for i in 0..3 {
  let sums, other = case(x, y)
  print mean(other)
}
"""


def check_hidden():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "flying.mtf")
        with open(path, "w", encoding="utf-8") as file:
            file.write(FLYING)
        for ranks in (0, 2):
            _, err = run(ranks, "--layout", "split", "--profile", program=path)
            check(f"hidden on {ranks} ranks:\n{err}", (" hidden" in err) == (ranks == 2))
            out, _ = run(ranks, "--layout", "split", "--profile", "--json", program=path)
            profile = json.loads(out.splitlines()[-1])["profile"]
            unit = next(unit for unit in profile["units"] if unit["name"] == "case")
            reduced = next(step for step in unit["steps"] if step["kind"] == "all_reduce")
            check(f"{ranks} ranks: {reduced}", (reduced["hidden"] is not None) == (ranks == 2))
            check(f"{ranks} ranks: what is hidden takes longer than all",
                  not reduced["hidden"] or reduced["hidden"]["max"] <= unit["seconds"]["max"])


for ranks, layout, mesh in ((0, "both", ""), (0, "three_way", ""), (1, "both", "rows=1,cols=1"),
                            (2, "both", "rows=1,cols=2"), (4, "both", "")):
    check_run(ranks, layout, mesh)
check_predictions()
check_hidden()
failures.end()

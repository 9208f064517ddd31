#!/usr/bin/python3
"""`mtf run --trace`: valid JSON, bars that nest, clocks that agree. Called with the path of mtf."""

import collections
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from verdict import Failures  # noqa: E402

MTF = str(pathlib.Path(sys.argv[1]).resolve())
TWO_LAYER = pathlib.Path("examples/two_layer.mtf").read_text(encoding="utf-8")
SUMMA = pathlib.Path("examples/parallel/feed_forward.mtf").read_text(encoding="utf-8")
FAILING = TWO_LAYER.replace('print "step', 'assert(loss > 0.9)\n  print "step')
failures = Failures()
check = failures.check


def run(folder, text, ranks, *options, status=0):
    launcher = ["mpirun", "-q", "--oversubscribe", "-n", str(ranks)] if ranks else []
    pathlib.Path(folder, "case.mtf").write_text(text, encoding="utf-8")
    done = subprocess.run([*launcher, MTF, "run", "case.mtf", *options], cwd=folder, text=True,
                          capture_output=True, timeout=600)
    check(f"{ranks} ranks, {options}: exit status {done.returncode}\n{done.stderr}",
          done.returncode == status)
    return done


def nanoseconds(micros):
    return round(micros * 1000)


def check_lane(what, bars):
    """In order, and each bar within the ones that are open when it begins."""
    ends = []
    last = 0
    for bar in bars:
        begin = nanoseconds(bar["ts"])
        end = begin + nanoseconds(bar["dur"])
        check(f"{what}: {bar['name']} goes back in time", begin >= last and end >= begin)
        last = begin
        while ends and ends[-1] <= begin:
            ends.pop()
        check(f"{what}: {bar['name']} sticks out of what encloses it", not ends or end <= ends[-1])
        ends.append(end)


def check_collectives(what, lanes):
    """The n-th collective of a rank's program is the same on all its group; they overlap in time, those
    that are asynchronous from the one to the other."""
    found = collections.defaultdict(dict)
    for rank, bars in lanes.items():
        begun = {}
        for bar in bars:
            key = bar["args"].get("op"), bar["args"].get("step")
            if bar["cat"] == "start":
                begun[key] = bar["ts"]
            if bar["cat"] == "finish":
                check(f"{what}: {bar['name']} finishes without a start", key in begun)
                bar["dur"] += bar["ts"] - begun[key]
                bar["ts"] = begun.pop(key)
        check(f"{what}: {begun} never finish", not begun)
        for number, bar in enumerate(bar for bar in bars if bar["cat"] in ("collective", "finish")):
            args = bar["args"]
            check(f"{what}: {bar['name']} says too little",
                  {"kind", "axes", "bytes", "elements", "why", "place", "group", "step"} <= args.keys()
                  and args["why"] and args["place"] and args["bytes"] > 0)
            found[number, tuple(args["group"])][rank] = bar
    for (number, group), bars in found.items():
        check(f"{what}: collective {number} of {group} is done by {sorted(bars)}",
              sorted(bars) == sorted(group))
        check(f"{what}: collective {number} differs", len({bar["name"] for bar in bars.values()}) == 1)
        if next(iter(bars.values()))["args"]["kind"] != "permute":
            begin = max(nanoseconds(bar["ts"]) for bar in bars.values())
            end = min(nanoseconds(bar["ts"]) + nanoseconds(bar["dur"]) for bar in bars.values())
            check(f"{what}: collective {number} of {group} does not overlap: {begin} > {end}",
                  begin <= end)
    return len(found)


def check_trace(what, path, names):
    trace = json.loads(path.read_text(encoding="utf-8"))
    lanes = collections.defaultdict(list)
    labels = {}
    for event in trace["traceEvents"]:
        check(f"{what}: phase {event['ph']}", event["ph"] in "XM")
        if event["ph"] == "X":
            lanes[event["pid"]].append(event)
        elif event["name"] == "process_name":
            labels[event["pid"]] = event["args"]["name"]
    check(f"{what}: {labels}, not {names}", list(labels.values()) == names)
    check(f"{what}: pids {sorted(lanes)}", not lanes or sorted(lanes) == list(range(len(names))))
    for rank, bars in lanes.items():
        check_lane(f"{what}, rank {rank}", bars)
    return lanes


def grid(rows, cols):
    return [f"rank {row * cols + col} (rows {row}, cols {col})"
            for row in range(rows) for col in range(cols)]


def check_run(folder, ranks, rows, cols):
    what = f"{rows}x{cols} on {ranks or 'simulated'} ranks"
    path = pathlib.Path(folder, "out.json")
    mesh = ("--layout", "both", "--mesh", f"rows={rows},cols={cols}")
    plain = run(folder, TWO_LAYER, ranks, *mesh)
    done = run(folder, TWO_LAYER, ranks, *mesh, "--trace", "out.json")
    check(f"{what}: output changes", (done.stdout, done.stderr) == (plain.stdout, plain.stderr))
    lanes = check_trace(what, path, grid(rows, cols))
    for rank, bars in lanes.items():
        runs = [bar for bar in bars if bar["cat"] == "entry"]
        check(f"{what}: rank {rank} has {len(runs)} runs of train_step",
              [bar["name"] for bar in runs] == ["train_step"] * 10)
        check(f"{what}: rank {rank} initialises",
              sum(bar["cat"] == "initialise" for bar in bars) == 3)
        check(f"{what}: rank {rank} packs two of three gradients",
              sum(bar["cat"] == "packing" for bar in bars) == (20 if rows > 1 else 0))
        check(f"{what}: rank {rank} plans", any(bar["cat"] == "planning" for bar in bars))
    groups = (2 * cols if rows > 1 else 0) + (rows if cols > 1 else 0)
    check(f"{what}: collectives", check_collectives(what, lanes) == 10 * groups)
    check(f"{what}: leaves files behind",
          sorted(p.name for p in pathlib.Path(folder).iterdir()) == ["case.mtf", "out.json"])


def check_failing(folder, ranks):
    what = f"failing on {ranks or 'simulated'} ranks"
    path = pathlib.Path(folder, "out.json")
    path.unlink(missing_ok=True)
    done = run(folder, FAILING, ranks, "--layout", "both", "--trace", "out.json", status=1)
    check(f"{what}: says {done.stderr}", "[assertion]" in done.stderr)
    lanes = check_trace(what, path, grid(2, 2))
    runs = [bar for bar in lanes[3] if bar["cat"] == "entry"]
    check(f"{what}: {len(runs)} runs", 1 <= len(runs) < 10)
    check_collectives(what, lanes)


def check_steps(folder, ranks):
    """Of each entry these steps alone, and of the rest what goes on between them."""
    what = f"--steps on {ranks or 'simulated'} ranks"
    path = pathlib.Path(folder, "out.json")
    run(folder, TWO_LAYER, ranks, "--layout", "both", "--trace", "out.json", "--steps", "3..5")
    lanes = check_trace(what, path, grid(2, 2))
    for rank, bars in lanes.items():
        check(f"{what}: rank {rank} runs",
              [bar["args"]["step"] for bar in bars if bar["cat"] == "entry"] == [3, 4])
        check(f"{what}: rank {rank} has other steps",
              {bar["args"]["step"] for bar in bars if "step" in bar["args"]} == {3, 4})
        check(f"{what}: rank {rank} has what came before",
              not {"initialise", "planning"} & {bar["cat"] for bar in bars})
    check(f"{what}: collectives", check_collectives(what, lanes) == 2 * 6)
    run(folder, TWO_LAYER, ranks, "--layout", "both", "--trace", "out.json", "--steps", "0..1")
    lanes = check_trace(what, path, grid(2, 2))
    check(f"{what}: the first step has what comes before it",
          sum(bar["cat"] == "initialise" for bar in lanes[0]) == 3)
    late = run(folder, TWO_LAYER, ranks, "--layout", "both", "--trace", "out.json", "--steps", "100..200")
    check(f"{what}: says nothing of steps that were not run: {late.stderr}",
          "`out.json` has no steps: none was run from step 100 on; the last one was step" in late.stderr)


def check_refused(folder, ranks, name, words):
    before = sorted(pathlib.Path(folder).iterdir())
    done = run(folder, TWO_LAYER, ranks, "--layout", "both", "--trace", name, status=1)
    check(f"{name} on {ranks}: says {done.stderr}", words in done.stderr and "[file]" in done.stderr)
    check(f"{name} on {ranks}: the program ran", done.stdout == "")
    check(f"{name} on {ranks}: leaves files", sorted(pathlib.Path(folder).iterdir()) == before)


def check_others(folder):
    path = pathlib.Path(folder, "out.json")
    run(folder, 'print "no tensors"', 0, "--trace", "out.json", "--profile")
    check_trace("no tensors", path, ["rank 0"])
    run(folder, 'print "no tensors"', 1, "--trace", "out.json", "--profile")
    check_trace("no tensors", path, ["rank 0"])
    run(folder, SUMMA, 0, "--layout", "cube3d", "--trace", "out.json")
    names = [f"rank {r} (x {r // 4}, y {r // 2 % 2}, z {r % 2})" for r in range(8)]
    check_collectives("cube", check_trace("cube", path, names))
    target = pathlib.Path(folder, "target.json")
    target.write_bytes(path.read_bytes())  # an older trace, which gives way
    pathlib.Path(folder, "link.json").symlink_to("target.json")
    run(folder, TWO_LAYER, 0, "--layout", "both", "--trace", "link.json")
    check("a link stays a link", pathlib.Path(folder, "link.json").is_symlink())
    check_trace("through a link", target, grid(2, 2))
    pathlib.Path(folder, "ring.json").symlink_to("ring.json")
    check_refused(folder, 0, "ring.json", "Too many levels of symbolic links")


with tempfile.TemporaryDirectory() as scratch:
    for world, row_count, col_count in ((0, 1, 1), (0, 2, 2), (0, 1, 4), (1, 1, 1), (2, 1, 2), (2, 2, 1),
                                        (4, 2, 2)):
        check_run(scratch, world, row_count, col_count)
    for world in (0, 4):
        check_failing(scratch, world)
        check_steps(scratch, world)
        check_refused(scratch, world, ".", "it is a folder")
        check_refused(scratch, world, "case.mtf", "another file is there, which is no trace")
        check_refused(scratch, world, "missing/out.json", "there is no folder")
        check_refused(scratch, world, "/dev/null", "it is not a regular file")
    check_others(scratch)
failures.end()

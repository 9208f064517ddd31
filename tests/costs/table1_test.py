#!/usr/bin/python3
"""Table 1 of the Mesh-TensorFlow paper, to the value: what a training step of two_layer all-reduces.

Also: what `plan` predicts is what `run --count` counts, for every example, layout and rank, to the
byte. Called with the path of mtf; run from the root of the project.
"""

import glob
import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "exact"))
from runs import ONE_STEP

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from verdict import Failures  # noqa: E402

MTF = sys.argv[1]
TWO_LAYER = "examples/two_layer.mtf"
failures = Failures()
check = failures.check_equal


def mtf(*args):
    done = subprocess.run([MTF, *args], capture_output=True, text=True, timeout=1200)
    if done.returncode != 0:
        raise SystemExit(f"mtf {' '.join(args)}: {done.stderr}")
    return done.stdout


def plan(path, entry, layout, *more):
    return json.loads(mtf("plan", path, entry, "--layout", layout, "--json", *more,
                          *ONE_STEP.get(path, ())))


def counts(path, layout, *more):
    return json.loads(mtf("run", path, "--layout", layout, "--count", "--json", *more,
                          *ONE_STEP.get(path, ())).splitlines()[-1])


def collectives(totals):
    return {(c["kind"], tuple(c["axes"])): c for c in totals["collectives"]}


def elements(totals):
    """{axes: elements handed to all-reduces}"""
    return {axes: c["elements"] for (kind, axes), c in collectives(totals).items()
            if kind == "all_reduce"}


def two_layer(b, io, h, r, c, p):
    """Values all-reduced per rank in one step, the scalar loss included where it is split."""
    loss = 1  # after the sum over io, which leaves one value per example
    return {
        "replicated": {},
        # All gradients: w, v and the bias; and the scalar loss.
        "data_parallel": {("rows",): 2 * io * h + h + loss},
        # y; x needs no gradient.
        "model_parallel": {("cols",): b * io},
        "both": {("cols",): b // r * io, ("rows",): 2 * io * h // c + h // c + loss},
        # Every product all-reduces over one axis; h's two, forward and backward, over planes. Of the
        # loss the blocks of batch are scattered over planes, and their sums join those over rows.
        "three_way": {("planes",): 2 * (b // r) * (h // c),
                      ("cols",): b // r * io // p,
                      ("rows",): 2 * (io // p) * (h // c) + h // c,
                      ("planes", "rows"): loss},
    }


def table_1():
    text = open(TWO_LAYER, encoding="utf-8").read()
    sizes = {name: int(value) for name, value in
             re.findall(r"(batch|io|hidden) = (\d+)", text)}
    declared = re.findall(r"^layout (\w+)", text, re.M)
    check("two_layer declares the paper's five layouts", len(declared), 5)
    for rows, cols, planes in ((2, 2, 2), (4, 2, 2), (2, 4, 8)):
        wanted = two_layer(sizes["batch"], sizes["io"], sizes["hidden"], rows, cols, planes)
        for layout, volumes in wanted.items():
            option = f"rows={rows},cols={cols}"
            if layout == "three_way":
                option += f",planes={planes}"
            found = plan(TWO_LAYER, "train_step", layout, "--mesh", option)
            check(f"{layout} on {option}", elements(found["totals"]), volumes)
            kinds = {c["kind"] for c in found["totals"]["collectives"]}
            check(f"{layout} on {option}: kinds", kinds,
                  {"all_reduce", "reduce_scatter"} if layout == "three_way" else
                  {"all_reduce"} if volumes else set())


COUNTED = ("calls", "messages", "elements", "received", "bytes")


def counted(step, key):
    """Of one collective; a tensor that goes with the next one is no message of its own."""
    return {**step, "calls": 1, "messages": 0 if step.get("with_next") else 1}[key]


def with_trips(planned, calls, flops):
    """The totals of so many calls, where a plan has one trip of each loop: as many trips as flops tell."""
    totals = {**planned["totals"], "flops": calls * planned["totals"]["flops"]}
    if "loops" not in totals:
        totals["collectives"] = [
            {**one, **{key: calls * one[key] for key in COUNTED}}
            for one in totals["collectives"]]
        return totals
    inside = sum(step["flops"] for step in planned["steps"] if "loops" in step)
    trips = (flops - calls * (planned["totals"]["flops"] - inside)) / inside
    check("trips are whole", trips, int(trips))
    totals["flops"] = flops
    totals["collectives"] = [
        {**one, **{key: sum((trips if "loops" in step else calls) * counted(step, key)
                            for step in planned["steps"]
                            if (step["kind"], set(step["axes"])) == (one["kind"], set(one["axes"])))
                   for key in COUNTED}}
        for one in totals["collectives"]]
    return totals


def predicted_is_counted(path, layout):
    counted = counts(path, layout)
    peaks = {}  # of the rank that holds most: on a diagonal they are not alike
    moved = {}  # by the rank that moves most: there, not all take part in each collective
    busiest = {}  # of each entry: bytes received, what was counted then, what the plan says
    diagonal = layout == "cube_diagonal"
    for rank in counted["ranks"]:
        for entry in rank["entries"]:
            if entry["entry"] in ENTRIES[path]:
                predicted = with_trips(plan(path, entry["entry"], layout), entry["calls"],
                                       entry["totals"]["flops"])
                where = f"{path}, {layout}, {entry['entry']}, rank {rank['rank']}"
                check(f"{where}: flops", entry["totals"]["flops"], predicted["flops"])
                peaks[entry["entry"]] = max(peaks.get(entry["entry"], 0), entry["totals"]["peak_bytes"])
                check(f"{where}: peak", entry["totals"]["peak_bytes"] <= predicted["peak_bytes"], True)
                wanted = {key: {k: v for k, v in c.items() if k not in ("kind", "axes")}
                          for key, c in collectives(predicted).items()}
                found = {key: {k: v for k, v in c.items() if k not in ("kind", "axes")}
                         for key, c in collectives(entry["totals"]).items()}
                check(f"{where}: collectives", list(found), list(wanted))
                for key, numbers in wanted.items():
                    if not diagonal and key[0] != "halo_exchange":
                        check(f"{where}: {key}", found[key], numbers)
                    if key[0] == "halo_exchange":  # less at the ends of a dim
                        continue
                    most = moved.setdefault((entry["entry"], key), ({}, numbers))[0]
                    for name, number in found[key].items():
                        most[name] = max(most.get(name, 0), number)
                received = sum(numbers["bytes"] for numbers in found.values())
                if received > busiest.get(entry["entry"], (-1,))[0]:
                    busiest[entry["entry"]] = received, found, wanted
    for (entry, key), (most, numbers) in moved.items():
        check(f"{path}, {layout}, {entry}: {key}", most, numbers)
    for entry, (_, found, wanted) in busiest.items():
        if not diagonal:
            check(f"{path}, {layout}, {entry}: of the busiest rank", found, wanted)
    for entry, peak in peaks.items():
        check(f"{path}, {layout}, {entry}: peak", peak, plan(path, entry, layout)["totals"]["peak_bytes"])


ENTRIES = {}
table_1()
for example in sorted(glob.glob("examples/**/*.mtf", recursive=True)):
    source = open(example, encoding="utf-8").read()
    if "illegal" in example or "/published/" in example:  # too large to run
        continue
    described = json.loads(mtf("plan", example, "--json", *ONE_STEP.get(example, ())))
    ENTRIES[example] = described["entries"]
    for name in re.findall(r"^\s*layout (\w+)", source, re.M):
        predicted_is_counted(example, name)

failures.end()

#!/usr/bin/python3
"""data: each window once before any comes again, another order at each turn and for each seed, the
same on every layout and from every step on; the token behind each is the next one. Each sample before
any comes for the third time, and others twice at each turn."""

import pathlib
import subprocess
import sys
import tempfile

MTF = str(pathlib.Path(sys.argv[1]).resolve())
PROGRAM = """\
import data
option first = 0
option last = 0
option seed = 0
dim batch = 3, length = 5
mesh line = [x: 4]
layout split on line uneven { position -> x }
layout whole on line { }
let tokens = read_bytes("corpus.bin")
fn look(tokens, step: i32[]) {
  let x, y = data.batch_at(tokens, step, batch, length, seed = seed)
  let checked, behind = data.in_order(tokens, step, batch, length)
  return x, y, checked, behind
}
for i in first..last {
  let x, y, checked, behind = look(tokens, i)
  print "{list(x)} {list(y)} {list(checked)} {list(behind)}"
}
let validation = tokens[position: 200..251]
let x, y = data.batch_at(validation, 0, batch, length)
assert all(x >= 200) and all(y == x + 1), "validation sees {x}"
print data.batches(tokens, batch, length)
"""
SAMPLES = """\
import data
option last = 0
option seed = 0
dim sample = COUNT, batch = 3
mesh line = [x: 4]
layout split on line uneven { sample, batch -> x }
layout whole on line { }
let labels = 10 * range(sample)
for i in 0..last { print list(gather(labels, data.samples_at(sample, i, batch, seed = seed), over = sample)) }
"""
SIZE = 251  # bytes, each another one: 50 windows, of which 47 are drawn


def lines(folder, layout, first, last, seed=0, ranks=()):
    done = subprocess.run([MTF, "run", "case.mtf", "--layout", layout, *ranks, "--", "--first", str(first),
                           "--last", str(last), "--seed", str(seed)],
                          cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    *batches, count = done.stdout.splitlines()
    if count != str(47 // 3):
        sys.exit(f"{count} batches")
    return batches


def windows(batches):
    """The first token of each, of which all are checked."""
    firsts = []
    for step, text in enumerate(batches):
        x, y, checked, behind = (eval(part) for part in text.replace("] [[", "]|[[").split("|"))  # pylint: disable=eval-used
        for row, (tokens, following) in enumerate(zip(x, y)):
            if tokens != list(range(tokens[0], tokens[0] + 5)) or following != [t + 1 for t in tokens]:
                sys.exit(f"a window {tokens} and {following}")
            firsts.append(tokens[0])
            if checked[row][0] != (step * 3 + row) % 50 * 5 or behind[row][4] != checked[row][0] + 5:
                sys.exit(f"in order: {checked}")
    return firsts


with tempfile.TemporaryDirectory() as scratch:
    pathlib.Path(scratch, "case.mtf").write_text(PROGRAM, encoding="utf-8")
    pathlib.Path(scratch, "corpus.bin").write_bytes(bytes(range(SIZE)))
    whole = lines(scratch, "whole", 0, 47)
    order = windows(whole)
    turns = [order[47 * i:47 * i + 47] for i in range(3)]
    for turn in turns:
        if sorted(turn) != [5 * i for i in range(47)] or turn == sorted(turn):
            sys.exit(f"a turn: {turn}")
    if turns[0] == turns[1] or turns[1] == turns[2]:
        sys.exit(f"turns are alike: {turns}")
    steps = {(b - a) % 235 for a, b in zip(turns[0], turns[0][1:])}
    if len(steps) < 20:
        sys.exit(f"windows follow each other by {steps}")
    if order[:45] in [windows(lines(scratch, "whole", 0, 15, seed=seed)) for seed in (1, -1, 2**63 - 1)]:
        sys.exit("seeds are alike")
    if lines(scratch, "split", 20, 30) != whole[20:30]:
        sys.exit("split over ranks, and from step 20 on")
    if lines(scratch, "split", 20, 23, ranks=("-n", "4")) != whole[20:23]:
        sys.exit("on ranks of their own")


def samples(folder, count, last, layout, seed=0, ranks=()):
    pathlib.Path(folder, "samples.mtf").write_text(SAMPLES.replace("COUNT", str(count)), encoding="utf-8")
    done = subprocess.run([MTF, "run", "samples.mtf", "--layout", layout, *ranks, "--", "--last", str(last), "--seed",
                           str(seed)], cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    return [label // 10 for line in done.stdout.splitlines() for label in eval(line)]  # pylint: disable=eval-used


with tempfile.TemporaryDirectory() as scratch:
    for count, draws in ((1, 2), (3, 3), (30, 41), (53, 53)):
        drawn = samples(scratch, count, draws, "whole")
        twice = []
        for turn in (drawn[draws * i:draws * i + draws] for i in range(3)):
            often = [turn.count(sample) for sample in range(count)]
            if min(often) < 1 or max(often) > 2 or sum(often) != draws:
                sys.exit(f"of {count} samples: {turn}")
            twice.append(tuple(sample for sample in range(count) if often[sample] == 2))
        if count > draws // 2 > 2 and count != draws and len(set(twice)) == 1:
            sys.exit(f"the same samples come twice: {twice}")
        if count > 3 and drawn[:count] in (sorted(drawn[:count]), samples(scratch, count, draws, "whole", seed=1)[:count]):
            sys.exit(f"in order, or seeds are alike: {drawn}")
        for ranks in ((), ("-n", "4")):
            steps = min(draws, 5)
            if samples(scratch, count, steps, "split", ranks=ranks) != drawn[:3 * steps]:
                sys.exit(f"{count} samples split over ranks")

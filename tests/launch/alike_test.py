#!/usr/bin/python3
"""Ranks that do not see the same files, or were not started alike, as on disks that they do not share.

Each rank runs in a folder of its own. What differs is an error that says where, in place of other numbers or a crash of
MPI; and what may come, go or change while they run, the first rank looks at for all.
"""

import pathlib
import struct
import subprocess
import sys
import tempfile

MTF = str(pathlib.Path(sys.argv[1]).resolve())
MESH = "dim n = 6\nmesh line = [r: 2]\nlayout split on line { n -> r }\n"
PLAIN = MESH + "option scale = 1.0\nprint sum(scale * cast(range(n), f32))\n"
LOAD = MESH + 'let x = load("x.npy", [n])\nprint sum(x)\n'
TABLE = MESH + 'let x = read_csv("x.csv")\nprint sum(x)\n'
IMPORTS = MESH + 'import "lib/mine.mtf" as mine\nprint sum(mine.scaled(range(n)))\n'
MINE = "fn scaled(x) { return SCALE * x }\n"
OUTSIDE = MESH + """\
if exists("here.txt") { print sum(range(n)) }
print max(range(n)) + len(read_text("x.txt"))
"""
SHARED = "all ranks have to see the same files, on a disk that they share [file]\n"
NEEDS = """\
mesh line = [r: 2]
layout split on line { n -> r }
print sum(normal([n: 2, m: 100_000_000], seed = 1))
"""
LIMITED = """\
#!/bin/bash
[ "$OMPI_COMM_WORLD_RANK" = 1 ] && ulimit -v 400000
exec "$@"
"""


def array(dtype, count, code):
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': ({count},), }}"
    header = header.ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{count}{code}", *range(count))


def started(folder, files, *options, before=()):
    """Status, output and messages of two ranks with files, and words behind their program, of their own."""
    line = ["mpirun", "--oversubscribe"]
    for rank in range(2):
        place = pathlib.Path(folder, str(rank))
        place.mkdir(exist_ok=True)
        for name, texts in files.items():
            path = place / name
            path.parent.mkdir(exist_ok=True)
            path.unlink(missing_ok=True)
            text = texts[rank] if isinstance(texts, tuple) else texts
            if text is not None:
                path.write_bytes(text if isinstance(text, bytes) else text.encode())
        words = options[rank] if options else []
        line += [":"] * (rank > 0) + ["-n", "1", "-wdir", str(place), *before, MTF, "case.mtf", *words]
    done = subprocess.run(line, capture_output=True, text=True, timeout=300, check=False)
    return done.returncode, done.stdout, done.stderr


def check(found, status, output, messages, what):
    if found[:2] != (status, output) or not found[2].startswith(messages):
        sys.exit(f"{what}: {found}, not {(status, output, messages)}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        check(started(folder, {"case.mtf": PLAIN}), 0, "15\n", "", "nothing differs")
        check(started(folder, {"case.mtf": (PLAIN, PLAIN.replace("1.0", "2.0"))}), 1, "",
              f"error: `case.mtf` says something else on rank 1 than on rank 0; {SHARED}", "another program")
        check(started(folder, {"case.mtf": IMPORTS, "lib/mine.mtf": (MINE.replace("SCALE", "2"), MINE.replace("SCALE", "3"))}),
              1, "", "error: `lib/mine.mtf` says something else on rank 1", "another import")
        for words in ["--seed", "3"], ["--fast"], ["--count"], ["--", "--scale", "2"]:
            shown = " ".join(["case.mtf", *words])
            check(started(folder, {"case.mtf": PLAIN}, [], words), 1, "",
                  f"error: rank 1 was started as `mtf run {shown}`, and rank 0 as `mtf run case.mtf`; all ranks need the same options",
                  "another option")
        check(started(folder, {"case.mtf": PLAIN}, ["--metrics", "m.csv"], []), 0, "15\n", "", "what may differ")

        four = array("<f4", 6, "f")
        check(started(folder, {"case.mtf": LOAD, "x.npy": (four, array("<f8", 6, "d"))}), 1, "",
              f"case.mtf:4:9: error: `load` gives f32[n 6] on rank 0 and f64[n 6] on rank 1; {SHARED}", "another dtype")
        check(started(folder, {"case.mtf": LOAD.replace("[n]", "[k]"), "x.npy": (four, array("<f4", 7, "f"))}), 1, "",
              "case.mtf:4:9: error: `load` gives f32[k 6] on rank 0 and f32[k 7] on rank 1", "another size")
        check(started(folder, {"case.mtf": TABLE, "x.csv": ("1,2\n3,4\n", "1,2\n")}), 1, "",
              "case.mtf:4:9: error: `read_csv` gives f32[row 2, column 2] on rank 0 and f32[row 1, column 2] on rank 1", "a row less")

        texts = {"case.mtf": OUTSIDE, "x.txt": ("abc", "other")}
        check(started(folder, {**texts, "here.txt": ("", None)}), 0, "15\n8\n", "", "a file that only rank 0 has")
        check(started(folder, {**texts, "here.txt": (None, "")}), 0, "8\n", "", "a file that only rank 1 has")

        script = pathlib.Path(folder, "limited")
        script.write_text(LIMITED, encoding="utf-8")
        script.chmod(0o755)
        found = started(folder, {"case.mtf": NEEDS}, before=[str(script)])
        check(found, 1, "", "case.mtf:3:11: error: this statement needs ", "too little memory of one rank")
        if "are available under `ulimit -v`" not in found[2] or not found[2].endswith("note: on rank 1 of 2\n"):
            sys.exit(f"too little memory of one rank: {found[2]}")


main()

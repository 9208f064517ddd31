#!/usr/bin/python3
"""Random bytes and halves of programs against `mtf repl`: it neither crashes nor hangs.

The same ones for 20 seconds; `fuzz_test.py MTF SECONDS SEED` tries others. Scripts are read whole, so a
session always comes to its last line, which it answers.
"""

import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

MTF = str(pathlib.Path(sys.argv[1]).resolve())
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 20
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
PROGRAMS = [path.read_bytes() for path in
            sorted(pathlib.Path("tests/golden").rglob("*.mtf")) if path.stat().st_size < 4000]
ENDLESS = re.compile(rb"while|[0-9_]{5,}")  # a loop may be as long as it likes
COMMANDS = [b":plan", b":cost", b":why h", b":why memory", b":layout both", b":layout batch -> rows",
            b":what-if batch -> cols", b":undo", b":undo 3", b":vars", b":type x", b":mesh rows=4",
            b":json on", b":json off", b":diff none both", b":expect", b":check", b":reload", b":",
            b":help", b":doc sum", b":l", b":show x", b":time 1", b":load", b":save", b"mtf> 1",
            b"...> 2", b"dim batch = 7", b"let x = 1", b"mesh grid = [rows: 3]"]


def piece(draw):
    """Lines of a program, cut, doubled, shuffled, with commands and noise between them."""
    lines = draw.choice(PROGRAMS).split(b"\n")
    lines = [line for line in lines if not ENDLESS.search(line)]
    for _ in range(draw.randrange(6)):
        at = draw.randrange(len(lines) + 1)
        kind = draw.randrange(6)
        if kind == 0:
            lines.insert(at, draw.choice(COMMANDS))
        elif kind == 1 and lines:
            line = bytearray(lines[at % len(lines)])
            del line[draw.randrange(len(line) + 1):]
            lines[at % len(lines)] = bytes(line)
        elif kind == 2:
            lines.insert(at, draw.randbytes(draw.randrange(40)))
        elif kind == 3 and lines:
            lines.insert(at, draw.choice(lines))
        elif kind == 4:
            lines.insert(at, draw.choice([b"(", b"[", b"{", b"\"", b"x" * 100_000, b"(" * 400, b"\0"]))
        elif lines:
            del lines[at % len(lines)]
    return b"\n".join(lines)


def fail(what, text):
    kept = pathlib.Path(tempfile.gettempdir(), "mtf_repl_fuzz.txt")
    kept.write_bytes(text)
    sys.exit(f"{what}; the input is {kept}")


def main():
    draw = random.Random(SEED)
    end = time.monotonic() + SECONDS
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < end:
            text = b"\n".join(piece(draw) for _ in range(draw.randrange(1, 4)))
            text = text.replace(b":save ", b":vars ").replace(b":quit", b":vars") + b"\nmtf> 1 + 1\n"
            path = pathlib.Path(folder, "case.txt")
            path.write_bytes(text)
            try:
                done = subprocess.run([MTF, "repl", "--script", str(path)], capture_output=True,
                                      cwd=folder, timeout=60, check=False)
            except subprocess.TimeoutExpired:
                fail("it hangs", text)
            if done.returncode not in (0, 1) or b"internal error" in done.stdout + done.stderr:
                fail(f"status {done.returncode}: {done.stderr[-300:]!r}", text)
            if not done.stdout.rstrip().endswith(b"\n2") and b'"print":"2"' not in done.stdout:
                fail(f"no answer to 1 + 1: {done.stdout[-300:]!r}", text)
            count += 1
    print(f"{count} sessions")


main()

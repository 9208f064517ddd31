#!/usr/bin/python3
"""Random bytes and halves of programs against `mtf repl`: it neither crashes nor hangs.

The same ones for 20 seconds; `fuzz_test.py MTF SECONDS SEED` tries others. Scripts are read whole, so a
session always comes to its last line, which it answers; a pipe may end anywhere. What takes long has a
minute of the processor, however busy the machine is.
"""

import pathlib
import random
import re
import resource
import subprocess
import sys
import tempfile
import time

MTF = str(pathlib.Path(sys.argv[1]).resolve())
SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 20
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
PROGRAMS = [path.read_bytes() for path in
            sorted(pathlib.Path("tests/golden").rglob("*.mtf")) if path.stat().st_size < 4000]
PROCESSOR = 60  # seconds
LONG = [b"x", b"1 + ", b"[", b"(", b"f(", b"let a = 1; ", b"\xc3\xbc", b"\"", b"-", b"\x00", b"# ", b"{ "]
ENDLESS = re.compile(rb"while|[0-9_]{5,}")  # a loop may be as long as it likes
KEPT_OUT = re.compile(rb":(q|sa)[a-z]*")  # the end of a session, and files
OTHER_RANKS = re.compile(rb":ra[a-z]* +(?!2\b|off)")  # than two are too many for this
COMMANDS = [b":plan", b":cost", b":why h", b":why memory", b":layout both", b":layout batch -> rows",
            b":what-if batch -> cols", b":undo", b":undo 3", b":vars", b":type x", b":mesh rows=4",
            b":json on", b":json off", b":diff none both", b":expect", b":check", b":reload", b":",
            b":help", b":doc sum", b":l", b":show x", b":show h --width 40", b":show mesh", b":show x * x",
            b":show einsum(x, w) --ascii --rank 1", b":plan --only \"a*\"", b":plan --depth 2 --all",
            b":ranks 2", b":ranks 2", b":ranks off", b":ranks", b":verify", b":time 1", b":load", b":save", b"mtf> 1",
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
            if draw.randrange(10) == 0:
                part = draw.choice(LONG)
                lines[at] = part * (1_000_000 // len(part))
        elif lines:
            del lines[at % len(lines)]
    return b"\n".join(lines)


def fail(what, text):
    kept = pathlib.Path(tempfile.gettempdir(), "mtf_repl_fuzz.txt")
    kept.write_bytes(text)
    sys.exit(f"{what}; the input is {kept}")


def limit_processor():
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR, PROCESSOR + 5))


def session(text, folder, *words, **streams):
    """Its output, unless it crashes or hangs."""
    done = subprocess.run([MTF, "repl", *words], capture_output=True, cwd=folder, check=False,
                          preexec_fn=limit_processor, **streams)
    if done.returncode not in (0, 1) or b"internal error" in done.stdout + done.stderr:
        fail(f"status {done.returncode}: {done.stderr[-300:]!r}", text)
    return done.stdout


def main():
    draw = random.Random(SEED)
    end = time.monotonic() + SECONDS
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        while time.monotonic() < end:
            text = b"\n".join(piece(draw) for _ in range(draw.randrange(1, 4)))
            text = KEPT_OUT.sub(b":vars", text)
            text = OTHER_RANKS.sub(b":vars", text)
            if count % 4 == 3:
                text = text[:draw.randrange(len(text) + 1)]
                session(text, folder, input=text)
            else:
                text += b"\nmtf> 1 + 1\n"
                path = pathlib.Path(folder, "case.txt")
                path.write_bytes(text)
                output = session(text, folder, "--script", str(path))
                if not output.rstrip().endswith(b"\n2") and b'"print":"2"' not in output:
                    fail(f"no answer to 1 + 1: {output[-300:]!r}", text)
            count += 1
    print(f"{count} sessions")


main()

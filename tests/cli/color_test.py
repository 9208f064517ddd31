#!/usr/bin/python3
"""Colours of pictures and of messages: one for each mesh axis, on terminals that have them."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

from terminal import on_terminal

MTF = str(pathlib.Path(sys.argv[1]).resolve())
PROGRAM = """\
dim n = 4, m = 6
mesh grid = [rows: 2, cols: 2]
layout both on grid { n -> rows, m -> cols }
fn step(x: f32[n, m]) { return x }
"""
SHOW = ["show", "case.mtf", "x", "--layout", "both"]
WRONG = ["check", "wrong.mtf"]


def shown(folder, words, **environment):
    kept = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    return on_terminal([MTF, *words], cwd=folder, env=dict(kept, **environment))


def check(what, holds, found):
    if not holds:
        sys.exit(f"{what}: {found!r}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "case.mtf").write_text(PROGRAM, encoding="utf-8")
        pathlib.Path(folder, "wrong.mtf").write_text("let a = b\n", encoding="utf-8")
        picture = shown(folder, SHOW, TERM="xterm")
        of_dim = {text: color for color, text in re.findall(r"\x1b\[(\d+)m([^\x1b]*)\x1b\[0m", picture)}
        check("rows have one colour", of_dim.get("n") == of_dim.get("0..2") is not None, picture)
        check("columns have one", of_dim.get("m") == of_dim.get("3..6") is not None, picture)
        check("and another", of_dim["n"] != of_dim["m"], picture)
        check("a message", "\x1b[" in shown(folder, WRONG, TERM="xterm"), "no colour")
        for words in (SHOW, WRONG):
            for environment in ({"TERM": "dumb"}, {"TERM": ""}, {"TERM": "xterm", "NO_COLOR": "1"}):
                plain = shown(folder, words, **environment)
                check(f"{words} {environment}", "\x1b" not in plain, plain)
            piped = subprocess.run([MTF, *words], cwd=folder, capture_output=True, text=True)
            check(f"{words} in a pipe", "\x1b" not in piped.stdout + piped.stderr, piped)
            forced = subprocess.run([MTF, *words, "--color", "always"], cwd=folder,
                                    capture_output=True, text=True)
            check(f"{words} --color always", "\x1b" in forced.stdout + forced.stderr, forced)


main()

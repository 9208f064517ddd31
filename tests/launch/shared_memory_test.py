#!/usr/bin/python3
"""Ranks run where /dev/shm is too small for what they send each other, as in a container; nothing of it is left behind."""

import os
import pathlib
import subprocess
import sys
import tempfile

MTF = str(pathlib.Path(sys.argv[1]).resolve())
PROGRAM = """\
dim n = 1_000_000
mesh line = [x: 2]
layout split on line { n -> x }
let y = ones([n])
print sum(y)
"""
SMALL = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=64k tmpfs /dev/shm && exec "$0" "$@"']


def main():
    try:
        if subprocess.run([*SMALL, "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
            sys.exit(77)  # only root may, and not everywhere
    except FileNotFoundError:
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "case.mtf").write_text(PROGRAM, encoding="utf-8")
        for launcher in [MTF, "run", "-n", "2"], ["mpirun", "--oversubscribe", "-n", "2", MTF, "run"]:
            done = subprocess.run([*SMALL, *launcher, "case.mtf", "--layout", "split"], cwd=folder, text=True,
                                  capture_output=True, check=False, env=dict(os.environ, TMPDIR=folder))
            if (done.returncode, done.stdout, done.stderr) != (0, "1e+06\n", ""):
                sys.exit(f"{launcher}: status {done.returncode}\n{done.stdout}{done.stderr}")
        left = list(pathlib.Path(folder).rglob("vader_segment.*"))
        if left:
            sys.exit(f"left behind: {left}")


main()

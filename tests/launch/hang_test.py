#!/usr/bin/python3
"""A rank that does not go on: the others say so, name it and what it does, and end all where that is asked for.

A rank is stopped in the middle of a loop; under plain mpirun and by `mtf run -n`, in steps and in
the questions between them.
"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from processes import ranks_of  # noqa: E402

MTF = str(pathlib.Path(sys.argv[1]).resolve())
RANKS = 4
PROGRAM = """\
mesh line = [r: 4]
dim a = 64, b = 64
layout all on line { a -> r }
fn step(x: f32[a, b]) {
  return x + sum(x, over = a) * 0.001
}
var y = ones([a, b])
for i in 0..1_000_000_000 {
  y = step(y)
  if i == 10 { print i }
}
"""
STOPPED = re.compile(r"mtf: ((?:rank|ranks) [\d, and]+) ha(?:s|ve) waited for rank 2 for 3 seconds\n"
                     r"note: rank 2 \(process (\d+)\) is stopped; `kill -CONT \2` has it go on\n"
                     r"note: the last step that rank [013] began is of hang\.mtf:5\n"
                     r"note: this ends all ranks, as `--hang-timeout` says\n")


def rank_of(process):
    for word in pathlib.Path("/proc", str(process), "environ").read_bytes().split(b"\0"):
        if word.startswith(b"OMPI_COMM_WORLD_RANK="):
            return int(word.split(b"=")[1])
    return None


def started_by(process):
    """The ranks, whoever stands between them and the process."""
    below = [one for one in ranks_of(process) if one != process]
    is_rank = os.path.samefile(f"/proc/{process}/exe", MTF) and rank_of(process) is not None
    return ([process] if is_rank else []) + [rank for one in below for rank in started_by(one)]


def stopped(folder, line, number):
    """The process of rank 2, status and messages where that is sent a signal in the middle of the run."""
    pathlib.Path(folder, "hang.mtf").write_text(PROGRAM, encoding="utf-8")
    with subprocess.Popen([*line, "--layout", "all", "--hang-timeout", "3", "hang.mtf"], cwd=folder, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        ranks = started_by(process.pid)
        (rank,) = [one for one in ranks if rank_of(one) == 2]
        os.kill(rank, number)
        try:
            messages = process.communicate(timeout=300)[1]
        except subprocess.TimeoutExpired:
            for one in [*ranks, process.pid]:
                os.kill(one, signal.SIGKILL)
            sys.exit(f"{line}: it hangs")
    deadline = time.monotonic() + 60
    while any(pathlib.Path("/proc", str(one)).exists() for one in ranks):
        if time.monotonic() > deadline:
            sys.exit(f"{line}: ranks have not ended")
        time.sleep(0.1)
    return rank, process.returncode, messages


def main():
    with tempfile.TemporaryDirectory() as folder:
        mpirun = ["mpirun", "--oversubscribe", "-n", str(RANKS)]
        for line in ([MTF, "run", "-n", str(RANKS)], [*mpirun, MTF, "run"],
                     [*mpirun, "sh", "-c", '"$0" "$@"; exit $?', MTF, "run"]):
            rank, status, messages = stopped(folder, line, signal.SIGSTOP)
            said = STOPPED.search(messages)
            if status != 5 or not said or int(said[2]) != rank or messages.count("mtf: ") != 1:
                sys.exit(f"{line}: status {status}\n{messages}")


main()

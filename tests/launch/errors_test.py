#!/usr/bin/python3
"""What is wrong is said once, and mpirun adds nothing: no banner of MPI_Abort, none of its own.

Plain mpirun, as people start it, without `-q`. The message comes from the first rank, the status is
mtf's: 1 for an error in the program, 2 for wrong usage.
"""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

from processes import ranks_of  # noqa: E402

UNKNOWN_NAME = """\
wrong.mtf:1:15: error: no dim `b` is declared; `b: 128` declares it here [unknown-dim]
  let x = ones([b])
                ^
"""
# Found while it runs, on all ranks together.
LATE = """\
mesh line = [x: 4]
layout all on line { a -> x }
let y = max(ones([a: 4]))
assert close(y, 5), "y is {y}"
"""
NOT_FIVE = """\
late.mtf:4:8: error: y is 1 [assertion]
  assert close(y, 5), "y is {y}"
         ^~~~~~~~~~~
"""
NOT_EIGHT = """\
error: layout `all` is for 4 ranks, and 8 ranks were started; `-n 4` would do [mesh-size]
four.mtf:1:6: note: its mesh is `line[x: 4]`
  mesh line = [x: 4]
       ^~~~
"""


def launched(ranks, mtf, words, folder):
    line = ["mpirun", "--oversubscribe", "-n", str(ranks), mtf, *words]
    for _ in range(3):  # mpirun itself fails now and then on a busy machine
        with subprocess.Popen(line, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            try:
                output, messages = process.communicate(timeout=60)
            except subprocess.TimeoutExpired:  # it may wait for ever though all ranks have ended
                left = [rank for rank in ranks_of(process.pid) if rank != process.pid]
                for one in [*left, process.pid]:
                    os.kill(one, signal.SIGKILL)
                if left:
                    sys.exit(f"{line}: {len(left)} ranks have not ended")
                continue
        if process.returncode >= 0 and not re.search(r"PMIX ERROR|^\[warn\] Epoll", messages, re.MULTILINE):
            return subprocess.CompletedProcess(line, process.returncode, output, messages)
    sys.exit(f"{line}: mpirun failed three times")


def check(done, status, text, what):
    if (done.returncode, done.stdout, done.stderr) != (status, "", text):
        sys.exit(f"{what}: status {done.returncode}, not {status}\n{done.stdout}{done.stderr}not\n{text}")


def main():
    mtf = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "wrong.mtf").write_text("let x = ones([b])\n", encoding="utf-8")
        pathlib.Path(folder, "late.mtf").write_text(LATE, encoding="utf-8")
        for ranks in 1, 4:
            for command in "run", "check", "plan":
                check(launched(ranks, mtf, [command, "wrong.mtf"], folder), 1, UNKNOWN_NAME, command)
        for _ in range(10):  # the first rank is done with it when others may not have begun
            check(launched(4, mtf, ["run", "--layot", "a", "wrong.mtf"], folder), 2,
                  "mtf: run: no option `--layot`; did you mean `--layout`?\n", "usage")
        check(launched(4, mtf, ["run", "-n", "2", "wrong.mtf"], folder), 2,
              "mtf: mpirun started 4 ranks; leave `-n` out, or start mtf without it\n", "-n")
        check(launched(4, mtf, ["run", "late.mtf"], folder), 1, NOT_FIVE, "assert")
        # What is wrong is found before there are ranks; here, none could be started.
        pathlib.Path(folder, "four.mtf").write_text(LATE.replace("[b]", "[a: 4]"), encoding="utf-8")
        for words, text in ((["wrong.mtf"], UNKNOWN_NAME), (["-"], UNKNOWN_NAME.replace("wrong.mtf", "<stdin>")),
                            (["four.mtf", "--layout", "all"], NOT_EIGHT)):
            done = subprocess.run([mtf, "run", "-n", "8", *words], cwd=folder, capture_output=True, text=True,
                                  input="let x = ones([b])\n", env={"PATH": "/nonexistent"}, timeout=60, check=False)
            check(done, 1, text, f"run -n 8 {words}")


main()

#!/usr/bin/python3
"""What the ranks of `mtf run -n` print and nobody can take: an error where the disk is full, the end
of the run where its reader has gone; and the order of the two streams in one pipe."""

import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time

from processes import ranks_of

MESH = "mesh line = [x: 2]\nlayout whole on line { }\n"
LINES = MESH + 'for i in 0..30000 { print "line {i}" }\nappend("done", "all")\n'
WRONG = MESH + 'print 1\nassert close(ones([a: 2]), 2), "no"\n'
SLOW = MESH + 'print 0\nvar i = 0\nwhile i < 300_000 { i = i + 1 }\n' + WRONG.removeprefix(MESH)
UNWRITTEN = "mtf: standard output cannot be written\n"


def check(found, wanted, what):
    if found != wanted:
        sys.exit(f"{what}: {found!r}, not {wanted!r}")


def rest_of(run):
    """What a run goes on to print; `communicate` would miss what came together with a line that was read."""
    guard = threading.Timer(120, run.kill)
    guard.start()
    said = run.stdout.read()
    run.wait()
    guard.cancel()
    return said


def main():
    mtf = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        for name, text in ("lines", LINES), ("wrong", WRONG), ("slow", SLOW):
            pathlib.Path(folder, name + ".mtf").write_text(text, encoding="utf-8")

        def started(name, *options, **streams):
            line = [mtf, "run", "-n", "2", *options, name + ".mtf"]
            return subprocess.Popen(line, cwd=folder, text=True, **streams)

        with open("/dev/full", "wb") as full:
            for options in [], ["--json"]:
                run = started("lines", *options, stdout=full, stderr=subprocess.PIPE)
                said = run.communicate(timeout=120)[1]
                check((run.returncode, said), (1, UNWRITTEN), f"a full disk {options}")
                check(pathlib.Path(folder, "done").exists(), True, "what else the run does")
                pathlib.Path(folder, "done").unlink()

        # Streams that were closed before, whose numbers no pipe and no file may get.
        for closed, read in (((0, 1), None), ((0, 1, 2), None), ((0, 2), "line 29999\n"), ((0,), "line 29999\n")):
            run = started("lines", preexec_fn=lambda closed=closed: [os.close(stream) for stream in closed],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            said, errors = run.communicate(timeout=120)
            check((run.returncode, errors), (1 if 1 in closed else 0, UNWRITTEN if closed == (0, 1) else ""), f"without {closed}")
            check(said[-11:] or None, read, f"what comes without {closed}")
            check(pathlib.Path(folder, "done").read_text(encoding="utf-8"), "all\n", f"what a run does without {closed}")
            pathlib.Path(folder, "done").unlink()

        reading, writing = os.pipe()
        run = started("lines", stdout=writing, stderr=subprocess.PIPE)
        os.close(writing)
        check(os.read(reading, 7), b"line 0\n", "its beginning")
        os.close(reading)
        check((run.communicate(timeout=120)[1], run.returncode), ("", -13), "a reader that has gone")

        run = started("wrong", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        said = run.communicate(timeout=120)[0].splitlines()
        check((run.returncode, said[:2]), (1, ["1", "wrong.mtf:4:8: error: no [assertion]"]), "one pipe")

        # Also where mpirun has not looked for a while, and finds both streams full.
        for _ in range(3):
            run = started("slow", stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            check(run.stdout.readline(), "0\n", "its beginning")
            mpirun = ranks_of(run.pid)[0]
            os.kill(mpirun, signal.SIGSTOP)
            time.sleep(1)
            os.kill(mpirun, signal.SIGCONT)
            said = rest_of(run).splitlines()
            check((run.returncode, said[:2]), (1, ["1", "slow.mtf:7:8: error: no [assertion]"]), "a late mpirun")

        # No file can be opened but the three that there are, and one more.
        def starved(*options):
            run = started("wrong", *options, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4)))
            return (*run.communicate(timeout=120), run.returncode)

        none = ("the ranks cannot be started: 2 ranks would need 8 open files of `mpirun`, and this machine allows 4; "
                "start at most 1")
        check(starved(), ("", f"mtf: {none}\n", 1), "no files")
        said, errors, status = starved("--json")
        diag = json.loads(said)["diagnostics"][0]
        check((diag["slug"], diag["text"], errors, status), ("ranks", none, "", 1), "no files")


main()

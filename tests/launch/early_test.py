#!/usr/bin/python3
"""What ends `mtf run -n` is heard by ranks that mpirun starts only later, too."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

# Hands SIGUSR1 on to the rank that there is, as mpirun does; that begins after a while.
LATE = """\
#!/usr/bin/python3
import os, pathlib, signal, subprocess, sys, time
rank = None
def hand_on(number, frame):
    if rank is not None:
        rank.send_signal(number)
signal.signal(signal.SIGUSR1, hand_on)
pathlib.Path("begun").touch()
time.sleep(2)
rank = subprocess.Popen(sys.argv[next(i for i, word in enumerate(sys.argv) if word.endswith("/mtf")):])
code = rank.wait()
sys.exit(code if code >= 0 else 128 - code)
"""
ENDLESS = "var i = 0\nwhile i < 1_000_000_000_000 { i = i + 1 }\n"


def main():
    mtf = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder, "mpirun")
        script.write_text(LATE, encoding="utf-8")
        script.chmod(0o755)
        pathlib.Path(folder, "endless.mtf").write_text(ENDLESS, encoding="utf-8")
        environment = dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}")
        for number in signal.SIGTERM, signal.SIGINT, signal.SIGUSR1:
            begun = pathlib.Path(folder, "begun")
            begun.unlink(missing_ok=True)
            run = subprocess.Popen([mtf, "run", "-n", "1", "endless.mtf"], cwd=folder, env=environment, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            while not begun.exists():
                time.sleep(0.01)
            run.send_signal(number)
            said = run.communicate(timeout=300)[0]
            wanted = 128 + (signal.SIGINT if number == signal.SIGUSR1 else number)
            if run.returncode != wanted or not said.startswith("mtf: interrupted"):
                sys.exit(f"{number}: status {run.returncode}, not {wanted}\n{said}")


main()

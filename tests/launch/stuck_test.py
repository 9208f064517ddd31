#!/usr/bin/python3
"""An mpirun that never ends behind ranks that all have: it is ended, and the run has their status."""

import os
import pathlib
import subprocess
import sys
import tempfile

# Starts one rank and does not ask how it ended.
STUCK = """\
#!/usr/bin/python3
import subprocess, sys, time
rank = subprocess.Popen(sys.argv[next(i for i, word in enumerate(sys.argv) if word.endswith("/mtf")):])
time.sleep(100_000)
"""
PROGRAMS = {"good": ('print "done"\n', 0), "wrong": ("print 1\nassert 1 > 2\n", 1)}


def main():
    mtf = str(pathlib.Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder, "mpirun")
        script.write_text(STUCK, encoding="utf-8")
        script.chmod(0o755)
        environment = dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}")
        runs = {}
        for name, (text, _) in PROGRAMS.items():
            path = pathlib.Path(folder, name + ".mtf")
            path.write_text(text, encoding="utf-8")
            runs[name] = subprocess.Popen([mtf, "run", "-n", "1", str(path)], env=environment, text=True,
                                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for name, (_, wanted) in PROGRAMS.items():
            said = runs[name].communicate(timeout=600)[0]
            if runs[name].returncode != wanted or ("done" in said) != (wanted == 0):
                sys.exit(f"{name}: status {runs[name].returncode}\n{said}")
    print("ok")


main()

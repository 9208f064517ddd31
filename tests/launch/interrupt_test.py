#!/usr/bin/python3
"""Ctrl-C, what batch systems send, and `--timeout`: the run ends after a step, with its profile and its trace.

Simulated, started by `mtf run -n`, and by plain mpirun. A program is interrupted once it has printed
a line; the seconds that it has are far more than a step takes.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import signalled  # noqa: E402
from processes import ranks_of  # noqa: E402

MTF = str(pathlib.Path(sys.argv[1]).resolve())
ENDLESS = pathlib.Path("examples/two_layer.mtf").read_text(encoding="utf-8").replace(
    "0..10", "0..1_000_000_000")
# One run that is long, behind which no other follows for a while.
BUSY = """\
print sum(ones([a: 4]))
var i = 0
while i < 1_000_000_000 { i = i + 1 }
"""
# One run, longer than the time between two signals.
LONG = """\
mesh line = [r: 2]
layout none on line { }
fn count(n: i32[]) {
  var i = 0
  while i < n { i = i + 1 }
  return i
}
print count(1)
print count(6_000_000)
print count(2)
"""
# One run of many steps.
STEPS = """\
dim n = 1024, k = 1024
mesh line = [r: 2]
layout rows on line { n -> r }
fn far(x: f32[n, k]) {
  var y = x
  for i in 0..80_000 { y = tanh(y) }
  return sum(y)
}
print 1
print far(normal([n, k], seed = 1))
"""
STEP = r"mtf: interrupted after step (\d+) \(call (\d+) of `train_step`\)(, within step \d+ \(call \d+ of `train_step`\))?\n"
REPORTS = ["--profile", "--count", "--trace", "out.json", "--steps", "0..3"]


def interrupted(folder, line, text, *signals):
    """Status, output and messages of what is sent the signals after its first line."""
    pathlib.Path(folder, "case.mtf").write_text(text, encoding="utf-8")
    return signalled.interrupted(folder, [*line, "case.mtf"], *signals)


def fail(line, what, messages):
    sys.exit(f"{' '.join(line)}: {what}\n{messages}")


def check(folder, line, number, status, ranks):
    trace = pathlib.Path(folder, "out.json")
    trace.unlink(missing_ok=True)
    code, output, messages = interrupted(folder, line, ENDLESS, number)
    if code != status:
        fail(line, f"status {code}, not {status}", messages)
    said = re.search(STEP, messages)
    if not said or int(said[2]) != int(said[1]) + 1:
        fail(line, "does not say where it was", messages)
    calls = int(said[2])
    lines = re.findall(r"step (\d+) loss", output)
    if len(lines) != calls:
        fail(line, f"{len(lines)} lines of {calls} steps", messages)
    begun = calls + (1 if said[3] else 0)  # the last one may have taken long
    profiled = re.search(r"train_step +([\d,]+) ", messages)
    if not profiled or int(profiled[1].replace(",", "")) != begun:
        fail(line, f"the profile has not {begun} calls", messages)
    if f"train_step, {calls:,} call" not in output:
        fail(line, "nothing was counted", output)
    bars = json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
    entries = [bar["args"]["step"] for bar in bars if bar.get("cat") == "entry"]
    if sorted(entries) != sorted(list(range(min(3, begun))) * ranks):
        fail(line, f"the trace has steps {entries}", messages)


def check_killed(folder):
    """A rank that cannot say what ended it, as mpirun does not where mtf starts it."""
    pathlib.Path(folder, "case.mtf").write_text(ENDLESS, encoding="utf-8")
    line = [MTF, "run", "-n", "2", "--layout", "both", "--mesh", "rows=1,cols=2", "case.mtf"]
    with subprocess.Popen(line, cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        os.kill(ranks_of(ranks_of(process.pid)[0])[1], signal.SIGKILL)
        messages = process.communicate(timeout=300)[1]
    said = re.search(r"mtf: (rank 1|a rank) was ended by signal 9 \(Killed\), as the system does", messages)
    if process.returncode != 137 or not said:
        fail(line, f"status {process.returncode}", messages)
    return said[1] == "rank 1"


def check_mpirun(folder, line):
    """It leaves its ranks a second, which on a busy machine may be too short, and has a status of
    its own."""
    for _ in range(10):
        code, _, messages = interrupted(folder, line, ENDLESS, signal.SIGINT)
        if code == 0 or "internal error" in messages:
            fail(line, f"status {code}", messages)
        if re.search(STEP, messages):
            return
    print(f"{' '.join(line)}: never had the time to say where it was")


def check_twice(folder, line):
    """SIGUSR1 may come from a batch system and from mpirun: the second one ends nothing."""
    code, output, messages = interrupted(folder, line, LONG, signal.SIGUSR1, signal.SIGUSR1)
    if code != 130 or "mtf: interrupted" not in messages or output.endswith("\n2\n"):
        fail(line, f"status {code}, not 130: {output}", messages)


def check_impatient(folder, line, status):
    """Between steps that do not come, the second one counts."""
    code, _, messages = interrupted(folder, line, BUSY, signal.SIGINT, signal.SIGINT)
    if code != status:
        fail(line, f"status {code}, not {status}", messages)


def check_host(folder, line):
    """A loop of the host ends between two of its statements."""
    code, _, messages = interrupted(folder, line, BUSY, signal.SIGINT)
    if code != 130 or not messages.endswith("mtf: interrupted\n"):
        fail(line, f"status {code}, not 130", messages)


def check_long_run(folder, line):
    """It ends between two of its steps."""
    code, output, messages = interrupted(folder, line, STEPS, signal.SIGTERM)
    if code != 143 or not messages.endswith("mtf: interrupted\n") or output != "1\n":
        fail(line, f"status {code}, not 143: {output}", messages)
    for seconds in 2, 10, 50:  # on a busy machine it may begin to run late
        done = subprocess.run([*line, "--timeout", str(seconds), "case.mtf"], cwd=folder, capture_output=True,
                              text=True, check=False)
        if done.stdout and not done.stderr.startswith("case.mtf:6:12: "):  # where the loop is still built
            break
    place = "case.mtf:6:28: error: the time that `--timeout` gives is over here"
    if done.returncode != 1 or not done.stderr.startswith(place) or done.stdout != "1\n":
        fail(line, f"status {done.returncode}: {done.stdout}", done.stderr)


def check_verify(folder):
    """The folder for its checkpoints goes with it, from the host and from a loop of the device."""
    temporary = pathlib.Path(folder, "temporary")
    temporary.mkdir()
    for text, number in (BUSY, signal.SIGINT), (LONG, signal.SIGINT), (LONG, signal.SIGQUIT):
        pathlib.Path(folder, "case.mtf").write_text(text, encoding="utf-8")
        with subprocess.Popen([MTF, "verify", "case.mtf"], cwd=folder, text=True, stderr=subprocess.PIPE,
                              env=dict(os.environ, TMPDIR=str(temporary))) as process:
            while not any(temporary.iterdir()) and process.poll() is None:
                time.sleep(0.01)
            process.send_signal(number)
            messages = process.communicate(timeout=300)[1]
        if process.returncode != 128 + number or messages != "mtf: interrupted\n" or any(temporary.iterdir()):
            fail(["verify"], f"status {process.returncode}, {list(temporary.iterdir())}", messages)


def check_put_back(folder):
    """Files are as they were before `mtf verify`; what cannot be put back is an error, not silence."""
    log, array = pathlib.Path(folder, "log.csv"), pathlib.Path(folder, "array.npy")
    pathlib.Path(folder, "case.mtf").write_text('write("array.npy", ones([n: 4]))\n', encoding="utf-8")
    subprocess.run([MTF, "run", "case.mtf"], cwd=folder, check=True)
    log.write_text("before\n", encoding="utf-8")
    before = array.read_bytes()
    pathlib.Path(folder, "case.mtf").write_text(
        'append("log.csv", "line")\nwrite("array.npy", zeros([n: 5]))\nwrite("new.npy", ones([]))\n', encoding="utf-8")
    for temporary in (tempfile.gettempdir(), "/dev/shm"):
        done = subprocess.run([MTF, "verify", "case.mtf"], cwd=folder, capture_output=True, text=True, check=False,
                              env=dict(os.environ, TMPDIR=temporary))
        if done.returncode != 0 or log.read_text(encoding="utf-8") != "before\n" or array.read_bytes() != before:
            fail(["verify"], f"status {done.returncode}, {log.read_text(encoding='utf-8')}", done.stderr)
        if pathlib.Path(folder, "new.npy").exists():
            fail(["verify"], "what it wrote is there")
    if shutil.which("chattr") is None or subprocess.run(["chattr", "+a", log], stderr=subprocess.DEVNULL,
                                                        check=False).returncode != 0:
        return  # only root may, and not everywhere
    done = subprocess.run([MTF, "verify", "case.mtf"], cwd=folder, capture_output=True, text=True, check=False)
    subprocess.run(["chattr", "-a", log], check=True)
    if done.returncode != 1 or "cannot be put back as it was, 7 bytes: Operation not permitted" not in done.stderr:
        fail(["verify"], f"status {done.returncode}", done.stderr)


def check_killed_verify(folder):
    """What it cannot put back, `mtf doctor` does, and the next `mtf verify` refuses to take it as it is."""
    temporary = pathlib.Path(folder, "killed")
    temporary.mkdir()
    environment = dict(os.environ, TMPDIR=str(temporary), OMPI_ALLOW_RUN_AS_ROOT="1",
                       OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")

    def mtf(*words):
        return subprocess.run([MTF, *words], cwd=folder, capture_output=True, text=True, check=False,
                              env=environment)

    log, array, new = (pathlib.Path(folder, name) for name in ("log.csv", "array.npy", "new.npy"))
    pathlib.Path(folder, "case.mtf").write_text('write("array.npy", ones([n: 4]))\n', encoding="utf-8")
    mtf("run", "case.mtf")
    log.write_text("before\n", encoding="utf-8")
    before = array.read_bytes()
    program = 'write("array.npy", zeros([n: 5]))\nwrite("new.npy", ones([]))\nappend("log.csv", "line")\n'
    pathlib.Path(folder, "case.mtf").write_text(LONG.replace("print count(1)\n", program), encoding="utf-8")
    with subprocess.Popen([MTF, "verify", "case.mtf"], cwd=folder, env=environment) as process:
        while log.read_text(encoding="utf-8") == "before\n" and process.poll() is None:
            time.sleep(0.01)
        if "that was killed left it" in mtf("doctor").stdout:
            fail(["doctor"], "takes a run that goes on for one that was killed", "")
        process.kill()
    written = array.read_bytes()
    said = mtf("doctor").stdout
    if f"`{array}` is as a `mtf verify` that was killed left it" not in said or "fix: mtf doctor --clean" not in said:
        fail(["doctor"], "says nothing of files that are to be put back", said)
    refused = mtf("verify", "case.mtf")
    if refused.returncode != 1 or "`mtf doctor --clean` puts back what was there before" not in refused.stderr:
        fail(["verify"], f"status {refused.returncode}", refused.stderr)
    cleaned = mtf("doctor", "--clean").stdout
    if array.read_bytes() != before or log.read_text(encoding="utf-8") != "before\n" or new.exists():
        fail(["doctor", "--clean"], "does not put all back", cleaned)
    if pathlib.Path(folder, "array.npy~").read_bytes() != written or any(temporary.iterdir()):
        fail(["doctor", "--clean"], f"{list(temporary.iterdir())}", cleaned)


def main():
    run = ["run", "--layout", "both", *REPORTS]
    with tempfile.TemporaryDirectory() as folder:
        check(folder, [MTF, *run], signal.SIGINT, 130, 4)
        check(folder, [MTF, *run], signal.SIGTERM, 143, 4)
        check(folder, [MTF, *run, "-n", "4"], signal.SIGINT, 130, 4)
        check(folder, [MTF, *run, "-n", "4"], signal.SIGTERM, 143, 4)
        check(folder, [MTF, *run, "-n", "4"], signal.SIGUSR1, 130, 4)
        check_twice(folder, [MTF, "run"])
        check_twice(folder, [MTF, "run", "-n", "2"])
        check_mpirun(folder, ["mpirun", "-n", "2", "--oversubscribe", MTF, "run", "--layout", "both",
                              "--mesh", "rows=1,cols=2"])
        if not any(check_killed(folder) for _ in range(5)):  # who looks may come too late now and then
            sys.exit("never says which rank was killed")
        check_host(folder, [MTF, "run"])
        check_host(folder, [MTF, "run", "-n", "1"])
        check_long_run(folder, [MTF, "run", "--layout", "rows"])
        check_long_run(folder, [MTF, "run", "--layout", "rows", "-n", "2"])
        check_verify(folder)
        check_put_back(folder)
        check_killed_verify(folder)
        check_impatient(folder, [MTF, "run", "-n", "1"], 130)


main()

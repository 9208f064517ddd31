#!/usr/bin/python3
"""How far a run has come is shown on a terminal's standard error, in the last line and while it
runs, by one process alone; nowhere else."""

import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

from processes import ranks_of

MTF = str(pathlib.Path(sys.argv[1]).resolve())
# Lines that come more often than a bar is drawn, ten times a second, would leave it no time.
COUNTED = """\
dim n = 4
mesh line = [x: 2]
layout split on line { n -> x }
layout whole on line { }
state s : f32[n] = zeros
fn step() {
  s <- s + 1
  return sum(s)
}
print "begins"
for k in 0..1_000_000_000 {
  let now = step()
  if k % 50_000 == 49_999 { print "after {k + 1}" }
}
"""
BAR = re.compile(r"\r(run \d of 3, )?k [\d,]+ of 1,000,000,000  \[-+\]  0 %[^\r]*\x1b\[K")
ERASED = "\r\x1b[K"


def fail(what, text):
    sys.exit(f"{what}\n{text[-2000:]!r}")


class Run:
    """A program whose standard error is a terminal, or a pipe; its output is a pipe, or both."""

    def __init__(self, folder, words, terminal=True, together=False, **environment):
        self.master, error = pty.openpty() if terminal else os.pipe()
        self.text = ""
        self.changed = threading.Condition()
        self.process = subprocess.Popen(
            [MTF, *words], cwd=folder, stdin=subprocess.DEVNULL, stderr=error,
            stdout=error if together else subprocess.PIPE,
            env={**os.environ, "TERM": "xterm", **environment})
        os.close(error)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        while True:
            try:
                data = os.read(self.master, 65536)
            except OSError:
                data = b""
            with self.changed:
                self.text += data.decode()
                self.text = self.text if data else self.text + "\0"  # the end
                self.changed.notify_all()
            if not data:
                return

    def wait(self, pattern):
        with self.changed:
            if not self.changed.wait_for(
                    lambda: re.search(pattern, self.text) or self.text.endswith("\0"), 300):
                fail(f"no {pattern}", self.text)
            if not re.search(pattern, self.text):
                fail(f"ended without {pattern}", self.text)

    def interrupt(self):
        """What it has shown until it ended."""
        self.process.send_signal(signal.SIGINT)
        guard = threading.Timer(300, self.process.kill)
        guard.start()
        self.process.wait()
        guard.cancel()
        self.wait("\0")
        return self.text


def held_up(mpirun):
    """It finds a line and the next bar at once."""
    for _ in range(3):
        os.kill(mpirun, signal.SIGSTOP)
        time.sleep(1)
        os.kill(mpirun, signal.SIGCONT)
        time.sleep(0.3)


def shown(folder, *words):
    """A bar, and none of it left behind it."""
    for together in (False, True):
        run = Run(folder, words, together=together)
        run.wait(BAR.pattern)
        if together:
            run.wait(r"after \d+\r\n[^\0]*" + BAR.pattern)
        if together and "-n" in words:
            held_up(ranks_of(run.process.pid)[0])
        text = run.interrupt()
        last = text.rfind("\x1b[K")
        if text[last - 1:last + 3] != ERASED:
            fail(f"{words}: the last bar stays", text)
        if together and not all(before.endswith((ERASED, "\n")) or before == "" for before in
                                re.findall(r"([^\0]{0,4}?)(?=after \d+\r\n)", text)):
            fail(f"{words}: output on the line of a bar", text)


def never(folder, words, **how):
    """No bar, where it would have been there for some time."""
    run = Run(folder, words, **how)
    run.process.stdout.readline()  # the program runs
    threading.Event().wait(2.5)
    text = run.interrupt()
    if "\r" in text.replace("\r\n", "\n") or " of 1,000,000,000" in text:
        fail(f"{words} {how}: shows its progress", text)


def main():
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "case.mtf").write_text(COUNTED, encoding="utf-8")
        split = ["run", "case.mtf", "--layout", "split"]
        shown(folder, *split)
        shown(folder, *split, "-n", "2")
        never(folder, split, terminal=False)
        never(folder, [*split, "-n", "2"], terminal=False)
        never(folder, split, TERM="dumb")
        never(folder, [*split, "--format", "jsonl"])
        verify = Run(folder, ["verify", "case.mtf"])
        verify.wait(BAR.pattern)
        verify.process.kill()


main()

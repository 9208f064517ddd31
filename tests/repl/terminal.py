"""A session on a terminal of its own."""

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time

PROMPT = "mtf> "
LIMIT = 120  # seconds, for what hangs


class Failed(Exception):
    """What is not as it should be."""


class Terminal:
    def __init__(self, program, folder):
        self.program = program
        self.folder = folder
        self.process = 0
        self.start(["repl"])

    def start(self, words):
        environment = dict(os.environ, TERM="xterm", HOME=self.folder, LC_ALL="C.UTF-8",
                           XDG_CONFIG_HOME=self.folder + "/config", NO_COLOR="1",
                           XDG_STATE_HOME=self.folder + "/state")
        self.process, self.screen = pty.fork()
        if self.process == 0:
            os.chdir(self.folder)
            os.execve(self.program, [self.program, *words], environment)
        self.resize(80)
        self.seen = ""
        self.wait(PROMPT)

    @staticmethod
    def contains(what, found, wanted):
        if wanted not in found:
            raise Failed(f"{what!r}: no {wanted!r} in {found!r}")

    def resize(self, columns):
        fcntl.ioctl(self.screen, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def send(self, text):
        data = text.encode()
        while data:  # a terminal takes so much at once
            data = data[os.write(self.screen, data[:512]):]

    def wait(self, text):
        """What the screen gets before a text comes, which is taken."""
        until = time.monotonic() + LIMIT
        while text not in self.seen:
            ready, _, _ = select.select([self.screen], [], [], max(0, until - time.monotonic()))
            data = b""
            if ready:
                try:
                    data = os.read(self.screen, 65536)
                except OSError:
                    pass
            if not data:
                raise Failed(f"no {text!r} in {self.seen!r}")
            self.seen += data.decode("utf-8", "replace")
        before, _, self.seen = self.seen.partition(text)
        return before

    def _until(self, what, holds):
        until = time.monotonic() + LIMIT
        while not holds():
            if time.monotonic() > until:
                raise Failed(what)
            time.sleep(0.005)

    def edited(self):
        """Waits until keys are the editor's: the prompt is there a moment earlier."""
        self._until("no line is edited",
                    lambda: not termios.tcgetattr(self.screen)[3] & termios.ICANON)

    def runs(self):
        """Waits until the editor has handed its line on: Ctrl-C is a signal."""
        self._until("no line runs", lambda: termios.tcgetattr(self.screen)[3] & termios.ICANON)

    def sleeps(self):
        """Waits until the session does nothing but wait."""
        path = f"/proc/{self.process}/stat"
        states = []

        def is_asleep():
            with open(path, encoding="utf-8") as file:
                states.append(file.read().rpartition(")")[2].split()[0])
            return states[-10:] == ["S"] * 10
        self._until("it does not sleep", is_asleep)

    def keys(self, text, until=PROMPT):
        self.edited()
        self.send(text)
        return self.wait(until)

    def ask(self, text):
        """What is answered to a line, without the line itself."""
        self.edited()
        self.send(text + "\r")
        self.wait("\r\n")
        return self.wait(PROMPT)

    def ends(self, text, status):
        if text:
            self.edited()
            self.send(text)
        found = []

        def is_over():
            if select.select([self.screen], [], [], 0)[0]:
                try:
                    os.read(self.screen, 65536)  # or it could not write its last words
                except OSError:
                    pass
            done, code = os.waitpid(self.process, os.WNOHANG)
            found.append(code)
            return done
        self._until("it does not end", is_over)
        code = os.waitstatus_to_exitcode(found[-1])
        self.process = 0
        os.close(self.screen)
        if code != status:
            raise Failed(f"status {code}, not {status}")

    def close(self):
        if self.process != 0:
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
            os.close(self.screen)

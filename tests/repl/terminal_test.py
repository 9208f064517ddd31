#!/usr/bin/python3
"""`mtf repl` on a terminal: keys, completion, history, Ctrl-C, Ctrl-D, paste, other widths."""

import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import sys
import tempfile
import termios
import time

MTF = str(pathlib.Path(sys.argv[1]).resolve())
PROMPT = "mtf> "
LIMIT = 60  # seconds, for what hangs


class Terminal:
    """A session on a terminal of its own; `keys` answers with what the screen got up to a text."""

    def __init__(self, folder, *words, columns=80, command="repl"):
        environment = dict(os.environ, TERM="xterm", HOME=folder, LC_ALL="C.UTF-8",
                           XDG_CONFIG_HOME=folder + "/config", XDG_STATE_HOME=folder + "/state",
                           NO_COLOR="1")
        self.process, self.screen = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execve(MTF, [MTF] + ([command] if command else []) + list(words), environment)
        self.resize(columns)
        self.seen = ""
        self.wait(PROMPT)

    def resize(self, columns):
        fcntl.ioctl(self.screen, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def wait(self, text):
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
                sys.exit(f"no {text!r} in {self.seen!r}")
            self.seen += data.decode("utf-8", "replace")
        before, _, self.seen = self.seen.partition(text)
        return before

    def edited(self):
        """Waits until keys are the editor's: the prompt is there a moment earlier."""
        until = time.monotonic() + LIMIT
        while termios.tcgetattr(self.screen)[3] & termios.ICANON:
            if time.monotonic() > until:
                sys.exit("no line is edited")
            time.sleep(0.005)

    def settle(self):
        """All that the screen gets until nothing comes for a second."""
        while select.select([self.screen], [], [], 1)[0]:
            self.seen += os.read(self.screen, 65536).decode("utf-8", "replace")
        seen, self.seen = self.seen, ""
        return seen

    def keys(self, text, until=PROMPT):
        self.edited()
        os.write(self.screen, text.encode())
        return self.wait(until)

    def ask(self, text):
        """What is answered to a line, without the line itself."""
        self.edited()
        os.write(self.screen, (text + "\r").encode())
        self.wait("\r\n")
        return self.wait(PROMPT)

    def end(self, text="\x04"):
        self.edited()
        os.write(self.screen, text.encode())
        until = time.monotonic() + LIMIT
        while time.monotonic() < until:
            done, status = os.waitpid(self.process, os.WNOHANG)
            if done:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.01)
        return sys.exit("it does not end")


def check(what, found, wanted):
    if wanted not in found:
        sys.exit(f"{what}: no {wanted!r} in {found!r}")


def keys(folder):
    term = Terminal(folder)
    check("a value", term.ask("1 + 1"), "2\r\n")
    check("a binding", term.ask("dim größe = 4, batch = 8"), "größe : dim 4\r\nbatch : dim 8\r\n")
    check("UTF-8 erased", term.ask("größe + ü\x7f1"), "5\r\n")
    check("begin of line", term.ask("+ 2\x0140 \x05"), "42\r\n")
    check("word erased", term.ask("40 + wrong\x172"), "42\r\n")
    check("a mistake", term.ask("hiden"), "error: nothing is called `hiden` here")
    check("and on", term.ask("batch"), "8\r\n")
    check("several lines", term.keys("fn f(x) {\r", "...> "), "")
    term.keys("return x + 1\r", "...> ")
    check("are one", term.keys("}\r"), "f : fn(x)")
    check("used", term.ask("f(2)"), "3\r\n")
    check("up", term.keys("\x1b[A\r", "3\r\n"), "f(2)")
    term.wait(PROMPT)
    check("search", term.keys("\x12größe + \r", "5\r\n"), "")
    term.wait(PROMPT)
    check("the end", str(term.end()), "0")


def history(folder):
    """Another session has what was typed in the first."""
    term = Terminal(folder)
    check("before", term.keys("\x12größe + \r", "error:"), "")
    check("quit", str(term.end(":quit\r")), "0")


def completion(folder):
    term = Terminal(folder)
    term.ask("dim batch = 8, hidden_units = 4")
    term.ask("mesh grid = [rows: 2, cols: 2]")
    term.ask("layout wide on grid { batch -> rows }")
    term.ask("let weights = ones([batch, hidden_units])")
    check("a name", term.ask("sum(weig\t)"), "32\r\n")
    check("a dim", term.ask("sum(weights, over = hid\t)"), "f32[batch 8]")
    term.ask("import optim")
    check("a command", term.ask(":va\t"), "weights : f32[batch 8/rows, hidden_units 4]")
    check("a layout", term.ask(":layout wi\t"), "in use: wide")
    listed = term.keys("optim.\t", PROMPT)
    check("members", listed, "optim.sgd")
    check("dropped", term.keys("\x03"), "^C")
    listed = term.keys("sum(weights, o\t", PROMPT)
    check("an option", listed, "over = ")
    term.keys("\x03")
    listed = term.keys("w\t", PROMPT)
    check("with its type", listed, "weights  f32[batch 8/rows, hidden_units 4]")
    check("an operation", listed, "where")
    term.keys("\x03")
    pathlib.Path(folder, "saved_long_name.mtf").write_text("let loaded = 3\n", encoding="utf-8")
    check("a file", term.ask(":load saved_lo\t"), "1 statement")
    check("its name", term.ask("loaded"), "3\r\n")
    check("axes", term.keys(":what-if batch -> c\t", "ols"), "")
    term.keys("\x03")
    check("an indent", term.ask("\t1 + 1"), "2\r\n")
    term.end()


def interrupted(folder):
    """Ctrl-C ends what runs, also a loop without tensors, and the session is as it was."""
    term = Terminal(folder)
    term.ask("dim n = 4")
    term.ask("var i = 5")
    for loop in ("for k in 0..1_000_000_000 { i = i + 1 }",
                 "for k in 0..1_000_000_000 { print sum(ones([n])) }",
                 "while true { }"):
        term.edited()
        os.write(term.screen, (loop + "\r").encode())
        term.wait("\r\n")
        time.sleep(0.5)
        os.write(term.screen, b"\x03")
        check(loop, term.wait(PROMPT), "interrupted; the session is as it was before")
        check("as it was", term.ask("i"), "5\r\n")
    check("a line", term.keys("1 +\x03"), "^C")
    term.keys("fn f(x) {\r", "...> ")
    check("half a function", term.keys("\x03"), "^C")
    check("forgotten", term.ask("1 + 1"), "2\r\n")
    check("the end", str(term.end()), "0")


def pasted(folder):
    term = Terminal(folder)
    os.write(term.screen, b"let a = [1,\r  2,\r  3]\rfn g(x) {\r  return x * 2\r}\rg(21)\r")
    shown = term.settle()
    check("a script", shown, "a : list = [1, 2, 3]")
    check("its answer", shown, "42\r\n")
    os.write(term.screen, b"mtf> let b = 20\rb : int = 20\rmtf> b + \r...> 1\r21\rmtf> b * 2\r40\r")
    shown = term.settle()
    check("a transcript", shown, "21\r\n")
    if "error" in shown:
        sys.exit(f"answers of a transcript are read: {shown!r}")
    check("and on", term.ask("b + 3"), "23\r\n")
    os.write(term.screen, ("x" * 5000 + "\r").encode())
    check("a long line", term.settle(), "error: nothing is called")
    check("and on", term.ask("1 + 1"), "2\r\n")
    term.end()


def widths(folder):
    for columns in (40, 200):
        term = Terminal(folder, columns=columns)
        term.ask("let value = 3")
        listed = term.keys("w\t", PROMPT)
        longest = max(len(line) for line in listed.splitlines())
        if longest > columns:
            sys.exit(f"{longest} columns on {columns}: {listed!r}")
        term.keys("\x03")
        term.resize(100)
        os.kill(term.process, signal.SIGWINCH)
        check("resized", term.ask("value + 1"), "4\r\n")
        term.end()


def settings(folder):
    pathlib.Path(folder, "config/mtf").mkdir(parents=True)
    pathlib.Path(folder, "config/mtf/replrc").write_text("let mine = 11\n", encoding="utf-8")
    pathlib.Path(folder, "program.mtf").write_text("dim n = 3\nprint n\n", encoding="utf-8")
    term = Terminal(folder, "program.mtf")
    check("replrc", term.ask("mine"), "11\r\n")
    check("the file", term.ask("n"), "3\r\n")
    term.end()
    term = Terminal(folder, command="")
    check("mtf alone", term.ask("mine"), "11\r\n")
    check("the end", str(term.end()), "0")


def main():
    with tempfile.TemporaryDirectory() as folder:
        keys(folder)
        history(folder)
    for test in (completion, interrupted, pasted, widths, settings):
        with tempfile.TemporaryDirectory() as folder:
            test(folder)


main()

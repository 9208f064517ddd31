#!/usr/bin/python3
"""`mtf repl` on a terminal: keys, completion, history, Ctrl-C, Ctrl-D, paste, other widths, ranks.

A scenario is a list of steps in a session of its own; `terminal_test.py MTF NAME…` runs some. Each
step waits for what the screen must get; nothing depends on how long that takes.
"""

import os
import pathlib
import signal
import sys
import tempfile

from terminal import PROMPT, Failed, Terminal

MTF = str(pathlib.Path(sys.argv[1]).resolve())
ENDLESS = "1_000_000_000"
MARKS, NO_MARKS = "\x1b[?2004h", "\x1b[?2004l"  # of what is pasted: wanted from the terminal, or not


# ---- steps --------------------------------------------------------------------------------------

def ask(line, *wanted):
    """A line, and what its answer has."""
    return lambda term: [term.contains(line, shown, text) for shown in [term.ask(line)]
                         for text in wanted]


def keys(text, wanted="", until=PROMPT):
    """Keys, and what the screen has before it comes to `until`."""
    return lambda term: term.contains(text, term.keys(text, until), wanted)


def interrupted(line, first=""):
    """Ctrl-C while the line runs, which has printed `first`."""
    def step(term):
        term.edited()
        term.send(line + "\r")
        term.wait("\r\n")
        term.runs()
        if first:
            term.wait(first)
        term.send("\x03")
        shown = term.wait(PROMPT)
        term.contains(line, shown, "interrupted; the session is as it was before")
        _, bar, behind = shown.rpartition(" %")
        if bar:
            term.contains(line, behind, "\x1b[K")  # nothing is left of it
    return step


def dropped(text):
    """Ctrl-C: the line stays on the screen, and the next begins below it, as clean as the first."""
    def step(term):
        shown = term.keys(text + "\x03").replace(NO_MARKS, "").replace(MARKS, "")
        if not shown.endswith("^C\r\n"):
            raise Failed(f"no end of the line in {shown!r}")
        shown = term.keys("40 + 2\r", "\r\n").replace(MARKS, "")
        if shown != "40 + 2":
            raise Failed(f"not clean: {shown!r}")
        term.wait("42\r\n")
        term.wait(PROMPT)
    return step


def pasted(text, *wanted):
    """All at once, and what comes in this order."""
    def step(term):
        term.edited()
        term.send(text)
        for one in wanted:
            term.wait(one)
        term.wait(PROMPT)
    return step


def lists(text, columns, *wanted):
    """Keys that list candidates, in lines that fit; the line is dropped then."""
    def step(term):
        shown = term.keys(text, PROMPT)
        longest = max(len(line) for line in shown.splitlines())
        if longest > columns:
            raise Failed(f"{longest} columns on {columns}: {shown!r}")
        for one in wanted:
            term.contains(text, shown, one)
        term.keys("\x03")
    return step


def resized(columns):
    def step(term):
        term.edited()
        term.resize(columns)
        os.kill(term.process, signal.SIGWINCH)
    return step


def again(*words):
    """Another session of the same user."""
    def step(term):
        term.ends("\x04", 0)
        term.start(words)
    return step


def beside(line):
    """A line in another session of the same user, while this one goes on."""
    def step(term):
        other = Terminal(MTF, term.folder)
        other.ask(line)
        other.close()
    return step


def without_history(term):
    """A folder stands where the history should be."""
    term.ends("\x04", 0)
    path = pathlib.Path(term.folder, "state/mtf/history")
    path.unlink(missing_ok=True)
    path.mkdir(parents=True)
    term.start(["repl"])


def ends(text="\x04", status=0):
    return lambda term: term.ends(text, status)


def file(name, text):
    def step(term):
        path = pathlib.Path(term.folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return step


def children(process):
    text = pathlib.Path(f"/proc/{process}/task/{process}/children").read_text(encoding="utf-8")
    return [int(word) for word in text.split()]


def rank_dies(term):
    mpirun, = children(term.process)
    os.kill(children(mpirun)[1], signal.SIGKILL)


def rank_hangs(term):
    """It never answers again; Ctrl-C waits for it, and once more it is ended."""
    mpirun, = children(term.process)
    os.kill(children(mpirun)[1], signal.SIGSTOP)
    term.edited()
    term.send("if true { print \"begins\"; print sum(v) + 1 }\r")
    term.wait("\r\n")
    term.wait("begins\r\n")
    term.sleeps()
    term.send("\x03")
    term.wait("Ctrl-C again: at once")
    term.send("\x03")
    term.contains("hangs", term.wait(PROMPT), "interrupted; the session is as it was before, and "
                  "runs in this process. Lost, and computed again when it is needed: v")


def ended_by(number, status):
    """A signal, once a program runs that does not end."""
    def step(term):
        term.edited()
        term.send("while true { }\r")
        term.wait("\r\n")
        term.runs()
        os.kill(term.process, number)
        term.ends("", status)
    return step


def suspended(term):
    """Ctrl-Z at a prompt, in a shell that has it go on at once."""
    term.ends("\x04", 0)
    term.program = "/bin/bash"
    term.start(["-mc", f"{MTF} repl; echo stopped; fg"])
    term.edited()
    term.send("40 +\x1a")
    term.wait("stopped\r\n")
    term.wait(PROMPT)
    term.contains("it goes on", term.keys(" 2\r"), "42\r\n")
    term.ends("\x04", 0)


SPLIT = [ask("dim n = 8"), ask("mesh line = [x: 2]"), ask("layout split on line { n -> x }"),
         ask(":layout split", "in use: split"), ask("let v = ones([n])")]
NAMED = [ask("dim batch = 8, hidden_units = 4"), ask("mesh grid = [rows: 2, cols: 2]"),
         ask("layout wide on grid { batch -> rows }"), ask("layout thin on grid { }"),
         ask(":layout wide"), ask("let weights = ones([batch, hidden_units])"), ask("import optim")]
COUNTER = [ask("dim n = 4"), ask("var i = 5")]

# ---- scenarios ----------------------------------------------------------------------------------

SCENARIOS = {
    # Lines and keys.
    "a value": [ask("1 + 1", "2\r\n"), ends()],
    "several bindings": [ask("dim größe = 4, batch = 8", "größe : dim 4\r\nbatch : dim 8\r\n")],
    "a letter of two bytes is erased": [ask("let größe = 4"), ask("größe + ü\x7f1", "5\r\n")],
    "the cursor moves by letters": [ask("let größe = 4"), ask("gröe\x1b[Dß\x05 + 1", "5\r\n")],
    "begin and end of the line": [ask("+ 2\x0140 \x05", "42\r\n")],
    "a word erased": [ask("40 + wrong\x172", "42\r\n")],
    "the rest erased, and back": [ask("40 + 2\x01\x0b\x19", "42\r\n")],
    "a mistake": [ask("hiden", "error: nothing is called `hiden` here"), ask("1 + 1", "2\r\n")],
    "several lines": [keys("fn f(x) {\r", until="...> "), keys("return x + 1\r", until="...> "),
                      keys("}\r", "f : fn(x)"), ask("f(2)", "3\r\n")],
    "a mistake in a block": [ask("var z = 1"), keys("fn f(x) {\r", until="...> "),
                             keys("let y = x +* 2\r", until="...> "), keys("z = 7\r", until="...> "),
                             keys("}\r", "found `*` where an expression was expected"),
                             ask("z", "1\r\n"), ask("f", "nothing is called `f` here")],
    "else": [keys("if false {\r", until="...> "), keys("print 1\r", until="...> "),
             keys("}\r", until="...> "), keys("else {\r", until="...> "),
             keys("print 2\r", until="...> "), keys("}\r", "2\r\n"), ask("1 + 1", "2\r\n")],
    "Ctrl-D where else might follow": [keys("if true {\r", until="...> "),
                                       keys("print 40 + 2 }\r", until="...> "),
                                       keys("\x04", until="42\r\n"), ends("")],
    "Ctrl-C where else might follow": [keys("if true {\r", until="...> "),
                                       keys("print 40 + 2 }\r", until="...> "),
                                       keys("\x03", "^C"), ask("1 + 1", "2\r\n")],
    "by words": [ask("1 + 2\x1b[1;5D\x1b[1;5D4\x1b[1;5C0", "412\r\n"),
                 ask("1 + 2\x1b[1;5D4\x1b[1;5C0", "421\r\n")],
    "keys that mean nothing": [ask("4\x1b[5~\x1b[6~\x1bOP\x1b[15~\x1b[2~2", "42\r\n")],
    # History.
    "up": [ask("20 + 1"), keys("\x1b[A\r", "20 + 1", "21\r\n")],
    "up and down": [ask("20 + 1"), ask("20 + 2"), keys("\x1b[A\x1b[A\x1b[B\r", "20 + 2", "22\r\n")],
    "search": [ask("20 + 1"), ask("1"), keys("\x1220 +\r", until="21\r\n")],
    "history of another session": [ask("20 + 1"), again(), keys("\x1220 +\r", until="21\r\n")],
    "history of two sessions": [ask("20 + 1"), beside("\"größe, \\\\t\" == \"{2 + 3}\""), ask("20 + 2"), again(),
                                keys("\x1b[A\r", "20 + 2", "22\r\n"), keys("\x12größe\r", until="false\r\n"),
                                keys("\x1220 + 1\r", until="21\r\n")],
    "no history": [without_history, ask("20 + 1", "21\r\n"), keys("\x1b[A\r", "20 + 1", "21\r\n"), ends()],
    # Completion.
    "a name": [*NAMED, ask("sum(weig\t)", "32\r\n")],
    "a word of the language": [ask("restor\t \"none.st\"", "`none.st` cannot be opened")],
    "a dim": [*NAMED, ask("sum(weights, over = hid\t)", "f32[batch 8]\r\n")],
    "an axis": [*NAMED, ask(":layout wide"), keys(":what-if batch -> c\t", until="ols")],
    "a command": [*NAMED, ask(":va\t", "weights : f32[batch 8/rows, hidden_units 4]")],
    "a layout": [*NAMED, ask(":layout th\t", "in use: thin")],
    "an option of a command": [*NAMED, lists(":plan --r\t", 80, "--rank", "--rules")],
    "an option's end": [*NAMED, ask(":show weights --asc\t", "weights")],
    "a module to import": [ask("import rec\t", "recurrent"), ask("recurrent.lstm", "lstm")],
    "members of a module": [*NAMED, lists("optim.\t", 80, "optim.sgd")],
    "an option of an operation": [*NAMED, lists("sum(weights, o\t", 80, "over = ")],
    "with its type": [*NAMED, lists("w\t", 80, "weights  f32[batch 8/rows, hidden_units 4]", "where")],
    "of two letters the same half": [ask("dim q_ö = 2, q_ü = 3"), lists("q_\t", 80, "q_ö", "q_ü"),
                                     ask("q_ü", "q_ü 3\r\n")],
    "in the braces of a string": [*NAMED, ask("print \"\\\" {1} {sum(weig\t)}\"", "32\r\n")],
    "behind a comment": [*NAMED, ask("40 + 2 # \" weig\t", "42\r\n")],
    "a command behind blanks": [*NAMED, ask("  :layout th\t", "in use: thin")],
    "of a command in short": [*NAMED, ask(":l thi\t", "short for several"), ask(":lay th\t", "in use: thin"),
                              lists(":p --r\t", 80, "--rank", "--rules")],
    "what a command takes": [
        *NAMED, ask(":help wha\t", ":what-if RULES"), ask(":json of\t"), ask(":ranks of\t", "in this process"),
        keys(":mesh c\t", until="ols"), keys("\x03"), keys(":why coll\t", until="ectives"), keys("\x03"),
        ask(":vars s\t"), keys(":undo s\t", until="\x07"), keys("\x03")],
    "a file": [file("saved_long_name.mtf", "let loaded = 3\n"),
               ask(":load saved_lo\t", "1 statement"), ask("loaded", "3\r\n")],
    "an indent": [ask("\t1 + 1", "2\r\n")],
    # Ctrl-C and Ctrl-D.
    "Ctrl-C in a loop": [*COUNTER, interrupted(f"for k in 0..{ENDLESS} {{ i = i + 1 }}"),
                         ask("i", "5\r\n"), ends()],
    "Ctrl-C in a loop of tensors": [
        *COUNTER, interrupted(f"for k in 0..{ENDLESS} {{ print sum(ones([n])) }}", "4\r\n"),
        ask("i", "5\r\n")],
    "Ctrl-C again": [
        *COUNTER, lambda term: (term.edited(), term.send("let big = sum(sort(normal([m: 20_000_000], seed = 3), over = m))\r"),
                                term.edited(), term.send("big\r"), term.wait("big\r\n"), term.runs(),
                                term.send("\x03"), term.wait("Ctrl-C again ends the session at once\r\n"))],
    "progress of a loop": [
        *COUNTER, interrupted(f"for k in 0..{ENDLESS} {{ i = i + 1 }}",
                              f" of {ENDLESS.replace('_', ',')}  [-"), ask("i", "5\r\n")],
    "progress of two loops": [
        *COUNTER, interrupted(f"for a in 0..2 {{ for b in [1, 2] {{\nwhile true {{ i = i + 1 }} }} }}",
                              "\ra 0 of 2, b 0 of 2, turn "), ask("i", "5\r\n")],
    "progress on ranks": [
        *SPLIT, ask(":ranks 2", "runs on 2 MPI ranks"), ask("state s : f32[n] = zeros"),
        interrupted(f"for k in 0..{ENDLESS} {{ s <- s + v }}", f" of {ENDLESS.replace('_', ',')}  [-"),
        ask("sum(s)", "0\r\n"), ends()],
    "Ctrl-C in an endless loop": [*COUNTER, interrupted("while true { }"), ask("i", "5\r\n")],
    "Ctrl-C on ranks": [
        *SPLIT, ask(":ranks 2", "runs on 2 MPI ranks"), ask("state s : f32[n] = zeros"),
        ask("s <- s + v"),
        interrupted(f"for k in 0..{ENDLESS} {{ s <- s + v\nprint sum(v) }}", "8\r\n"),
        ask("sum(s)", "8\r\n"), ask(":ranks", "runs on 2 MPI ranks"), ends()],
    "Ctrl-C while it plans": [
        *COUNTER, keys("fn big(x) {\r", until="...> "), keys("var y = x\r", until="...> "),
        keys("for k in 0..60_000 { y = relu(y) + x }\r", until="...> "),
        keys("return y }\r", "big : fn"), interrupted("let z = big(ones([n]))"),
        ask("z", "nothing is called `z`"), ask("i", "5\r\n")],
    "Ctrl-C drops a line": [keys("1 +\x03", "^C"), ask("1 + 1", "2\r\n")],
    "Ctrl-C in a line": [dropped("let half = 1"), dropped("in the middle\x1b[D\x1b[D"), dropped(""),
                         keys("fn f(x) {\r", until="...> "), dropped("  return x")],
    "Ctrl-C drops half a function": [keys("fn f(x) {\r", until="...> "), keys("\x03", "^C"),
                                     ask("1 + 1", "2\r\n")],
    "Ctrl-Z": [suspended],
    "Ctrl-D": [ends()],
    "Ctrl-D in half a function": [
        keys("fn f(x) {\r", until="...> "),
        keys("\x04", until="dropped, as it was not finished: `fn f(x) {`\r\n"), ends("")],
    ":quit": [ends(":quit\r")],
    "a batch system's signal": [ended_by(signal.SIGTERM, 143)],
    "a terminal that goes": [ended_by(signal.SIGHUP, 129)],
    # Paste.
    "a script": [pasted("let a = [1,\r  2,\r  3]\rfn g(x) {\r  return x * 2\r}\rg(21)\r",
                        "a : list = [1, 2, 3]", "g : fn(x)", "42\r\n"), ask("g(2)", "4\r\n")],
    "a tab in what is pasted": [
        keys("\x1b[200~let lay\t= 4\rlet mes\t= 5\r\x1b[201~", "lay : int = 4", "mes : int = 5\r\n"),
        ask("la\t + 1", "5\r\n")],
    "a script with a mistake": [ask("var z = 1"),
                                pasted("fn f(x) {\r  let y = x +* 2\r  z = 7\r  return y\r}\rz\r",
                                       "found `*` where an expression was expected", "1\r\n"),
                                ask("z + 2", "3\r\n")],
    "a transcript": [pasted("mtf> let b = 20\rb : int = 20\rmtf> b + \r...> 1\r21\rmtf> b * 2\r40\r"
                            "mtf> b * 3\r", "b : int = 20", "21\r\n", "40\r\n", "60\r\n"),
                     ask("b + 3", "23\r\n")],
    "a long line": [pasted("x" * 5000 + "\r", "error: nothing is called"), ask("1 + 1", "2\r\n")],
    # Widths.
    "40 columns": [resized(40), *NAMED, lists("w\t", 40, "weights"), ask("1 + 1", "2\r\n")],
    "200 columns": [resized(200), *NAMED, lists("w\t", 200, "weights  f32[batch 8/rows, hidden_units 4]")],
    "a window resized": [*NAMED, lists("w\t", 80, "where"), resized(40), lists("w\t", 40, "where"),
                         resized(120), lists("w\t", 120, "where"), ask("1 + 1", "2\r\n")],
    # What it begins with.
    "settings": [file("config/mtf/replrc", "let mine = 11\n"), again(), ask("mine", "11\r\n")],
    "a program": [file("program.mtf", "dim n = 3\nprint n\n"), again("repl", "program.mtf"),
                  ask("n", "3\r\n")],
    "mtf alone": [again(), ask("1 + 1", "2\r\n"), ends()],
    # Ranks.
    "ranks on a terminal": [*SPLIT, ask(":ranks 2", "runs on 2 MPI ranks"), ask("sum(v)", "8\r\n"),
                            ask(":ranks off", "runs in this process"), ask("sum(v)", "8\r\n"),
                            ends()],
    "a rank that hangs": [
        *SPLIT, ask(":ranks 2", "runs on 2 MPI ranks"), ask("sum(v)", "8\r\n"), rank_hangs,
        ask("sum(v)", "8\r\n"), ask("1 + 1", "2\r\n"), ask(":ranks 2", "runs on 2 MPI ranks"),
        ask("sum(v)", "8\r\n"), ends()],
    "a rank that dies": [
        *SPLIT, ask(":ranks 2", "runs on 2 MPI ranks"), ask("sum(v)", "8\r\n"), rank_dies,
        ask("print sum(v) + 1", "was killed by signal 9 (Killed); the session is as it was",
            "runs in this process. Lost, and computed again when it is needed: v"),
        ask("sum(v)", "8\r\n"),
        ask(":ranks 2", "runs on 2 MPI ranks"), ask("sum(v)", "8\r\n"), ends()],
}


def main():
    failures = 0
    chosen = sys.argv[2:] or list(SCENARIOS)
    for name in chosen:
        with tempfile.TemporaryDirectory() as folder:
            term = Terminal(MTF, folder)
            try:
                for step in SCENARIOS[name]:
                    step(term)
            except Failed as failed:
                failures += 1
                print(f"{name}: {failed}", flush=True)
            term.close()
    print(f"{len(chosen)} scenarios, {failures} failed")
    return min(failures, 1)


sys.exit(main())

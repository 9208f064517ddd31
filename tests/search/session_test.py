"""Searches in a session: `auto` is searched for what was typed, `:search` answers, `:layout found` takes it over."""

import json
import os
import re
import subprocess
import sys
import tempfile

PROGRAM = """dim batch = 24, io = 32, hidden = 128
mesh grid = [rows: 2, cols: 3]
model net(x: f32[batch, io]) -> f32[batch, io] {
  param w : f32[io, hidden] = normal(stddev = 0.1)
  return einsum(relu(einsum(x, w -> [batch, hidden])), w -> [batch, io])
}
"""
AUTO = "layout quick on grid auto { batch -> rows }\n"
SUM = "sum(net(normal([batch, io], seed = 7)))\n"


class Sessions:
    def __init__(self, binary, folder):
        self.binary = binary
        self.env = dict(os.environ, XDG_CACHE_HOME=folder)

    def say(self, text, *words):
        done = subprocess.run([self.binary, "repl", *words], input=text, capture_output=True, text=True,
                              env=self.env, timeout=120, check=False)
        return done.returncode, done.stdout, done.stderr


def numbers(text):
    return re.findall(r"^-?[0-9.]+$", text, re.MULTILINE)


def check_auto(sessions):
    status, output, errors = sessions.say(PROGRAM + AUTO + SUM, "--locked")
    assert status == 1 and "no answer for this program" in errors, errors
    status, output, errors = sessions.say(AUTO + PROGRAM)
    assert status == 1 and "no mesh `grid`" in errors, errors
    # It may be declared before there is anything to search for, but is used behind it.
    early = "mesh grid = [rows: 2]\n" + AUTO
    status, output, errors = sessions.say(early + ":layout\n")
    assert status == 0 and not errors and "auto { batch -> rows }   searched where it is used" in output, output
    for used in ("use layout quick\n", ":layout quick\n", "with layout quick { sum(ones([batch: 4])) }\n"):
        status, output, errors = sessions.say(early + used)
        assert status == 1 and errors.count("error:") == 1 and "use it when there is one" in errors, errors
    # Declared anew, a dim asks another question; the answers stay for the next session.
    session = PROGRAM + AUTO + SUM + "dim hidden = 48\n" + SUM
    status, output, errors = sessions.say(session)
    assert status == 0 and not errors and output.count("found layout quick on grid {") == 2, output
    status, again, errors = sessions.say(session, "--locked")
    assert status == 0 and not errors and "found layout" not in again, again
    assert numbers(output) == numbers(again) and len(numbers(again)) == 2, (output, again)
    # What a session finds is what a file would.
    rules = re.search(r"found (layout quick on grid \{.*\})", output).group(1)
    done = subprocess.run([sessions.binary, "search", "-", "--layout", "quick"], input=PROGRAM + AUTO,
                          capture_output=True, text=True, check=True)
    assert rules in done.stdout, (rules, done.stdout)


def check_early(sessions, folder):
    """Declared before the functions, it is searched for all that there are when something computes."""
    mesh = PROGRAM.index("model")
    early = PROGRAM[:mesh] + AUTO + PROGRAM[mesh:]
    more = "fn other(x: f32[batch, io]) { return sum(exp(net(x))) }\n"
    path = os.path.join(folder, "early.mtf")
    with open(path, "w", encoding="utf-8") as file:
        file.write(early + more + "print " + SUM)
    # In a file, a session finds what a run does; and asks the same question.
    run = subprocess.run([sessions.binary, "run", path], capture_output=True, text=True, env=sessions.env, check=True)
    status, output, errors = sessions.say(":layout\n", path, "--locked")
    found = re.search(r"found layout quick on grid (\{.*\})  ", run.stderr).group(1)
    assert status == 0 and not errors and run.stdout in output and "in use: quick" in output, (output, errors)
    # Typed, too: commands and statements agree, and what is added later changes nothing.
    last = early + more + ":cost other\n" + SUM + ":layout\n" + more.replace("other", "third") + SUM + ":layout\n"
    status, output, errors = sessions.say(last, "--locked")
    shown = re.findall(r"^quick : .*  in use$", output, re.MULTILINE)
    assert status == 0 and not errors and len(shown) == 2 and shown[0] == shown[1], (output, errors)
    assert found.count("->") == shown[0].count("->") and "illegal" not in output, (found, output)
    assert numbers(output) == [run.stdout.strip()] * 2, output
    # What was computed on one rank moves when there is a function; without it, it moves back.
    status, output, errors = sessions.say(PROGRAM[:mesh] + AUTO + "let a = ones([batch])\nsum(a)\n:type a\n" +
                                          PROGRAM[mesh:] + ":type a\nsum(a)\n:undo 2\n:type a\n")
    assert status == 0 and re.findall(r"^f32.*", output, re.MULTILINE) == [
        "f32[batch 24]   24, 96 B", "f32[batch 24/rows]   12 a rank, 48 B", "f32[batch 24]   24, 96 B"], output
    # What a rule would change is asked of what was found.
    status, output, errors = sessions.say(PROGRAM.replace("cols: 3", "cols: 2") + "layout best on grid auto { }\n" +
                                          ":what-if io -> cols\n:what-if io -> rows\n")
    same, other = output.split("net: best on ")[1:]
    assert status == 0 and not errors and "io -> cols; params { hidden -> " in output, (output, errors)
    assert " x " not in same and "= 3 as before" in same and "~  %0" in other, output
    # Where it is asked for and nothing is left to search for, that is said, and one rank goes on.
    status, output, errors = sessions.say(PROGRAM + AUTO + "use layout quick\nfn net(x) { return x }\n")
    assert status == 1 and "use it when there is one" in errors and "left out now: `use layout quick`" in errors, errors
    assert output.endswith("in use: one rank, until something computes: `quick` is searched then\n"), output


def check_file(sessions, folder):
    """A program that begins with its layouts, as files do, is taken as it is."""
    path = os.path.join(folder, "net.mtf")
    mesh = PROGRAM.index("model")
    with open(path, "w", encoding="utf-8") as file:
        file.write(PROGRAM[:mesh] + AUTO + "use layout quick\n" + PROGRAM[mesh:] + "print " + SUM)
    status, output, errors = sessions.say(":layout\n", path)
    assert status == 0 and not errors and "quick on grid" in output, (output, errors)


def check_search(sessions):
    plain = numbers(sessions.say(PROGRAM + SUM)[1])
    status, output, errors = sessions.say(PROGRAM + SUM + ":search --budget 1\n:layout found\n" + SUM + ":layout\n")
    assert status == 0 and not errors, errors
    assert numbers(output) == plain * 2, output
    assert "in use: found on grid[rows: 2, cols: 3]" in output.splitlines()[-1], output
    # Onto another mesh, in the place of the first one; `:undo` takes the command back as a whole.
    status, output, errors = sessions.say(PROGRAM + ":search --write --budget 1\n:search --ranks 4 --write --budget 1\n" +
                                          SUM + ":undo 2\n:layout\n:save /dev/stdout\n")
    assert status == 0 and "in use: found on grid_4[" in output, (output, errors)
    behind = output[output.rindex("taken back"):]
    assert "in use: found on grid[" in behind and "grid_4" not in behind, behind
    assert re.search(r"layout found on grid (infer )?\{", behind) and "use layout found" in behind, behind
    status, output, errors = sessions.say(PROGRAM + ":layout found\n")
    assert status == 1 and "no layout `found`" in errors, errors
    # Without a function, about what the top level binds.
    status, output, errors = sessions.say("mesh m = [a: 4]\nlet x = ones([n: 64])\nlet y = exp(x)\n:search --budget 1\n")
    assert status == 0 and "session: the least time on 4 ranks" in output, (output, errors)


def check_json(sessions):
    status, output, _ = sessions.say(PROGRAM + ":json on\n" + AUTO.replace("quick", "other") +
                                     ":search --write --budget 1\n:search nothing\n")
    assert status == 1, output
    objects = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    assert any("best" in one and one["best"]["source"].startswith("layout found") for one in objects), objects
    assert any(one.get("in_use", "").startswith("found on grid") for one in objects), objects
    assert any("layout other on grid" in one.get("found", "") for one in objects), objects


def main():
    with tempfile.TemporaryDirectory() as folder:
        sessions = Sessions(sys.argv[1], folder)
        check_auto(sessions)
        check_early(sessions, folder)
        check_file(sessions, folder)
        check_search(sessions)
        check_json(sessions)
        # Nothing can be kept: a session asks once all the same.
        sessions.env["XDG_CACHE_HOME"] = "/proc/none"
        status, output, errors = sessions.say(PROGRAM + AUTO + SUM + "dim io = 16\ndim io = 32\n" + SUM)
        assert status == 0 and output.count("found layout quick") == 2, (output, errors)
    print("searched as they are typed")


if __name__ == "__main__":
    main()

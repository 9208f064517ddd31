#!/usr/bin/python3
"""`--json` gives one JSON object on standard output whatever happens, nothing on standard error, and
the status that there is without it; `-` is the program of standard input, for every command."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading

MTF = str(pathlib.Path(sys.argv[1]).resolve())
FINE = """\
dim n = 4, k = 2
mesh m = [x: 2]
layout rows on m { n -> x }
layout cols on m { k -> x }
fn f(v: f32[n, k]) { return sum(v, over = n) }
print f(ones([n, k]))
print "two lines"
"""
WRONG = "dim n = 4\nmesh m = [x: 2]\nlayout rows on m { n -> x }\nlet y = nothing\n"
LATE = FINE + 'let t = sum(f(ones([n, k])))\nassert t < 0, "t is {t}"\n'
ENDLESS = FINE + "var i = 0\nwhile true { i = i + 1\n print sum(f(ones([n, k]))) }\n"
SIMULATED = ["--layout", "rows"]
RANKS = ["--layout", "rows", "-n", "2"]
COMMANDS = [["run", *SIMULATED], ["run", *RANKS], ["run", *SIMULATED, "--count"],
            ["run", *SIMULATED, "--emit", "ir"], ["check"], ["check", "--strict", "--lint"],
            ["check", "--emit", "ast"], ["plan"], ["plan", *SIMULATED, "--emit", "spmd"], ["cost"],
            ["verify"], ["verify", "--fast"]]


def run(words, text="", folder=None, **more):
    return subprocess.run([MTF, *words], input=text, cwd=folder, text=True, capture_output=True,
                          timeout=120, **more)


def fail(words, what, done):
    sys.exit(f"mtf {' '.join(words)}: {what}\n{done.stdout}{done.stderr}")


def object_of(words, done):
    try:
        found = json.loads(done.stdout)
    except json.JSONDecodeError as error:
        fail(words, f"no JSON object: {error}", done)
    if not isinstance(found, dict) or done.stderr:
        fail(words, "something else than one object", done)
    return found


def check(words, folder):
    plain = run(words, "", folder)
    words = [*words, "--json"]
    done = run(words, "", folder)
    found = object_of(words, done)
    if done.returncode != plain.returncode:
        fail(words, f"status {done.returncode}, not {plain.returncode}", done)
    errors = [one for one in found.get("diagnostics", []) if one["severity"] == "error"]
    if (done.returncode != 0) != bool(errors) and not (words[0] == "verify" or "--strict" in words):
        fail(words, f"status {done.returncode} with {len(errors)} errors", done)
    for one in errors:
        if one["text"] not in plain.stderr or one["line"] > 0 and (
                f"{one['file']}:{one['line']}:{one['column']}: error: " not in plain.stderr):
            fail(words, f"standard error does not have {one}", plain)
    if words[0] == "run" and "--count" not in words:
        if found["output"] != plain.stdout.splitlines():
            fail(words, "the output is another", plain)
    return found


def check_all(folder):
    for name, text in [("fine", FINE), ("wrong", WRONG), ("late", LATE), ("empty", "")]:
        path = pathlib.Path(folder, name + ".mtf")
        path.write_text(text, encoding="utf-8")
        asked = [[*words, path.name] for words in COMMANDS]
        asked += [["why", path.name, "v"], ["diff", path.name, "rows", "none"]]
        for words in asked:
            found = check(words, folder)
            if name == "fine" and found.get("diagnostics"):
                sys.exit(f"mtf {' '.join(words)} says {found['diagnostics']}")
            given = ["-" if word == path.name else word for word in words] + ["--json"]
            done = run(given, text, folder)
            renamed = json.loads(json.dumps(found).replace(path.name, "<stdin>"))
            if object_of(given, done) != renamed:
                fail(given, f"is not\n{renamed}", done)


def check_lines(folder):
    """`--format jsonl`: each line an object, the last one with the status."""
    for name, status in [("fine", 0), ("late", 1), ("wrong", 1)]:
        for where in SIMULATED, RANKS:
            words = ["run", name + ".mtf", *where]
            plain = run(words, "", folder)
            done = run([*words, "--format", "jsonl"], "", folder)
            lines = [json.loads(line) for line in done.stdout.splitlines()]
            output = [line["output"] for line in lines if "output" in line]
            if done.returncode != status or lines[-1].get("status") != status or done.stderr:
                fail(words, "its last line has not the status", done)
            if output != plain.stdout.splitlines() or ("diagnostics" in lines[-1]) != (status != 0):
                fail(words, f"does not stream\n{plain.stdout}", done)


def check_interrupted(folder):
    pathlib.Path(folder, "endless.mtf").write_text(ENDLESS, encoding="utf-8")
    for where in SIMULATED, RANKS:
        line = [MTF, "run", "endless.mtf", *where, "--format", "jsonl"]
        with subprocess.Popen(line, cwd=folder, text=True, stdout=subprocess.PIPE) as process:
            guard = threading.Timer(60, process.kill)
            guard.start()
            first = process.stdout.readline()
            process.send_signal(signal.SIGINT)
            rest = process.stdout.read()
            guard.cancel()
        last = json.loads((first + rest).splitlines()[-1])
        slugs = [one["slug"] for one in last.get("diagnostics", [])]
        if process.returncode != 130 or last["status"] != 130 or slugs != ["interrupted"]:
            sys.exit(f"{' '.join(line)}: status {process.returncode}, last line {last}")


def check_no_mpirun(folder):
    words = ["run", "fine.mtf", *RANKS, "--json"]
    done = run(words, "", folder, env=dict(os.environ, PATH=folder))
    found = json.loads(done.stdout)
    if done.returncode != 1 or [one["slug"] for one in found["diagnostics"]] != ["ranks"]:
        fail(words, "without mpirun", done)
    if "openmpi-bin" not in done.stderr:
        fail(words, "does not say what is missing", done)


def check_usage(folder):
    for words in [["run"], ["run", "a.mtf", "b.mtf"], ["plan", "--rank", "x", "a.mtf"], ["chek"],
                  ["ops", "einsun"], ["verify", "fine.mtf", "--lint"], ["diff", "fine.mtf"]]:
        plain = run(words, "", folder)
        done = run([*words, "--json"], "", folder)
        one, = object_of(words, done)["diagnostics"]
        if done.returncode != 2 or one["slug"] != "usage" or plain.stderr != f"mtf: {one['text']}\n":
            fail(words, f"status {done.returncode}, {plain.stderr}", done)


def check_ops():
    listed = object_of(["ops"], run(["ops", "--json"]))
    names = {one["name"] for one in listed["operations"]}
    text = run(["ops"]).stdout
    for one in listed["operations"] + listed["language"]:
        if f"\n  {one['name']}" not in text or not one["summary"] or not one["example"]:
            sys.exit(f"mtf ops has not {one}")
    if not {"einsum", "softmax"} <= names or len(names) < 50:
        sys.exit(f"mtf ops --json has {names}")
    einsum, = object_of(["ops"], run(["ops", "einsum", "--json"]))["operations"]
    roles = {one["dim"]: one["role"] for one in einsum["dims"]}
    if roles != {"batch": "kept", "hidden": "kept", "io": "reduced"}:
        sys.exit(f"the dims of einsum are {roles}")
    if [one["name"] for one in einsum["parameters"]] != ["x", "over", "->", "terms", "as_written",
                                                          "dtype"]:
        sys.exit(f"the parameters of einsum are {einsum['parameters']}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        check_all(folder)
        check_lines(folder)
        check_interrupted(folder)
        check_no_mpirun(folder)
        check_usage(folder)
    check_ops()


main()

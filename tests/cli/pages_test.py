#!/usr/bin/python3
"""What `mtf` says of itself is true: the examples of its pages run, its completions complete, its
manual page is one.

Each command's page has two examples, which are run by bash in the project's folder, but for what
takes minutes. Shells that are not installed are left out; bash is always there.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

MTF = pathlib.Path(sys.argv[1]).resolve()
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LONG = {"calibrate"}


def run(line, folder=ROOT, **more):
    environment = dict(os.environ, PATH=f"{MTF.parent}:{os.environ['PATH']}")
    return subprocess.run(line, cwd=folder, env=environment, text=True, capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=600, **more)


def fail(what, done=None):
    sys.exit(what + ("" if done is None else f": status {done.returncode}\n{done.stdout}{done.stderr}"))


def page(*words):
    done = run([str(MTF), *words])
    if done.returncode != 0 or done.stderr:
        fail(" ".join(words), done)
    return done.stdout


def check_examples(command, folder):
    text = page(command, "--help")
    if not text.startswith(f"mtf {command}"):
        fail(f"the page of {command} begins\n{text}")
    examples = re.findall(r"^  # .+\n  (.+)$", text.partition("\nexamples\n")[2], re.MULTILINE)
    if len(examples) != 2 or len(set(examples)) != 2:
        fail(f"the page of {command} has not two examples\n{text}")
    for line in examples:
        if f"mtf {command}" not in line:
            fail(f"the page of {command} has an example of something else: {line}")
        if command not in LONG:
            done = run(["bash", "-o", "pipefail", "-c", line], folder)
            if done.returncode != 0 or done.stderr and "--profile" not in line:
                fail(line, done)


def check_bash(folder):
    """Pairs of a command line, whose last word is being typed, and words that it may become."""
    pathlib.Path(folder, "mine.mtf").write_text(
        "dim n = 4\nmesh m = [x: 2]\nlayout both on m { n -> x }\nlayout bare on m { }\n"
        "fn step(x: f32[n]) { return x }\nfn other(x) { return x }\n", encoding="utf-8")
    pathlib.Path(folder, "notes.txt").touch()
    cases = [("mtf pl", {"plan"}), ("mtf plan --ra", {"--rank"}), ("mtf run --nan ", {"warn", "error"}),
             ("mtf check m", {"mine.mtf"}), ("mtf check --emit s", {"sharded", "spmd"}),
             ("mtf mine.mtf --prof", {"--profile"}), ("mtf ops einsu", {"einsum"}),
             ("mtf help dif", {"diff"}), ("mtf completion ba", {"bash"}),
             ("mtf run mine.mtf --layout b", {"both", "bare"}), ("mtf mine.mtf --layout bo", {"both"}),
             ("mtf plan mine.mtf ", {"step"}), ("mtf plan --layout both mine.mtf s", {"step"}),
             ("mtf diff mine.mtf both ba", {"bare"}), ("mtf plan mi", {"mine.mtf"}),
             ("mtf plan --layout b", set()), ("mtf plan gone.mtf s", set()),
             ("mtf run --trace no", {"notes.txt"}), ("mtf run --seed ", set()),
             ("mtf run n", set())]
    script = 'source <(mtf completion bash) || exit\n'
    for line, _ in cases:
        words = line.split(" ")
        script += (f"COMP_WORDS=({' '.join(word or repr('') for word in words)})\n"
                   f"COMP_CWORD={len(words) - 1}\n_mtf\necho \"${{COMPREPLY[*]}}\"\n")
    done = run(["bash", "-c", script], folder)
    if done.returncode != 0 or done.stderr:
        fail("completion of bash", done)
    for (line, wanted), found in zip(cases, done.stdout.splitlines(), strict=True):
        if set(found.split()) != wanted:
            fail(f"bash completes `{line}` as {found!r}, not {wanted}")


def check_fish(folder):
    for line, wanted in [("mtf pl", "plan"), ("mtf plan --ra", "--rank"), ("mtf run --nan e", "error"),
                         ("mtf check mi", "mine.mtf"), ("mtf ops einsu", "einsum"),
                         ("mtf plan mine.mtf ", "step"), ("mtf run mine.mtf --layout bo", "both")]:
        done = run(["fish", "--no-config", "-c",
                    f"mtf completion fish | source; complete -C '{line}'"], folder)
        found = {entry.split("\t")[0] for entry in done.stdout.splitlines()}
        if done.returncode != 0 or done.stderr or wanted not in found:
            fail(f"fish completes `{line}` as {found}", done)


def check_zsh(folder):
    """That the script loads, and hands zsh what a command takes; a terminal of zsh is no test."""
    script = """
compdef() { }
_arguments() { print -rl -- "$@" }
_describe() { print -rl -- "${(P@)2}" }
_files() { print -r -- files "$@" }
source <(mtf completion zsh)
compadd() { print -r -- compadd $@[1,-3] ${(P)@[-1]} }
words=(mtf plan mine.mtf) CURRENT=4
print -r -- "== names"
_mtf_names -X NAME layouts  # as `_arguments` calls it
for line in "mtf pl" "mtf plan x.mtf" "mtf x.mtf --nan" "mtf ops e"; do
  words=(${=line}) CURRENT=${#words}
  print -r -- "== $line"
  _mtf
done
"""
    done = run(["zsh", "-f", "-c", script], folder)
    parts = dict(re.findall(r"^== (.*)\n((?:(?!== ).*\n)*)", done.stdout, re.MULTILINE))
    for line, wanted in [("names", "compadd -X NAME both bare"),
                         ("mtf pl", "plan:show what one rank does"), ("mtf pl", "files -g *.mtf"),
                         ("mtf plan x.mtf", "--rank=[the rank to show]:N: "),
                         ("mtf plan x.mtf", "::ENTRY:_mtf_names entries"),
                         ("mtf x.mtf --nan", "]:WHAT:(warn error)"),
                         ("mtf x.mtf --nan", ":FILE:_files -g"), ("mtf ops e", " einsum ")]:
        if done.returncode != 0 or done.stderr or wanted not in parts.get(line, ""):
            fail(f"zsh is not told {wanted!r} for `{line}`", done)


def check_manual():
    text = page("man")
    for tool in [["mandoc", "-T", "lint", "-W", "warning"], ["groff", "-Kutf8", "-man", "-Tutf8", "-ww", "-z"]]:
        if shutil.which(tool[0]):
            done = run_with_input(tool, text)
            if done.stdout or done.stderr:
                fail(tool[0], done)
    for command in commands():
        if f'.SS "mtf {command}' not in text:
            fail(f"the manual page lacks {command}")


def run_with_input(line, text):
    return subprocess.run(line, input=text, text=True, capture_output=True, timeout=600)


def check_environment():
    wrong = [("MTF_THREADS", threads, "is no number of threads") for threads in ("abc", "0", "-1", "2x", "")]
    wrong += [("MTF_ISA", isa, "names no instructions") for isa in ("sse", "AVX2", "")]
    for name, value, text in wrong:
        done = subprocess.run([MTF, "ops"], capture_output=True, text=True, check=False,
                              env=dict(os.environ, **{name: value}))
        if done.returncode != 2 or f"`{name}={value}` {text}" not in done.stderr:
            fail(f"{name}={value}", done)


def commands():
    return re.findall(r"^  mtf ([a-z]+)", page("--help"), re.MULTILINE)


def main():
    if len(commands()) < 10:
        fail("`mtf --help` lists too few commands")
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "examples").symlink_to(ROOT / "examples")
        for command in commands():
            check_examples(command, folder)
        check_bash(folder)
        for shell, check in [("fish", check_fish), ("zsh", check_zsh)]:
            if shutil.which(shell):
                check(folder)
    check_manual()
    check_environment()
    versions = page("--version")
    if not re.fullmatch(r"mtf \S+\nOpen MPI \d[\w.]*\noneDNN \d[\w.]*\nANTLR runtime \d[\w.]*\n"
                        r"Eigen \d[\w.]*\n", versions):
        fail(f"`mtf --version` says\n{versions}")


main()

#!/usr/bin/env python3
"""The grammars for editors know each keyword, dtype and operation, and read every program; no network."""
import importlib.util
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from textmate import Grammar
from words import EDITORS, KEYWORD_LINES, NAME_LINES, dtypes, keywords, operations, programs

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from verdict import check  # noqa: E402

OPERATIONS = operations(str(pathlib.Path(sys.argv[1]).resolve()))


def hold(name, classes):
    """`classes(text)`: (word, class) pairs; the class begins with what kind of word it is."""
    def class_of(line, word):
        return [kind for text, kind in classes(line) if text == word]

    check(set(keywords()) == set(KEYWORD_LINES), "words.py has a line for each keyword")
    for word, line in KEYWORD_LINES.items():
        found = class_of(line, word)
        check(any(kind == "keyword" for kind in found), name, "takes", word, "for", found, "in:", line)
    for word, line in NAME_LINES.items():
        check("keyword" not in class_of(line, word), name, "takes", word, "for a keyword in:", line)
    for word in dtypes():
        for line in (f"param w : {word}[a] = zeros", f"let y = cast(x, {word})"):
            check(class_of(line, word) == ["type"], name, "takes", word, "for", class_of(line, word))
    for word in OPERATIONS:
        check(class_of(f"let y = 1 + {word}(x)", word) == ["function"], name, "does not know", word)
    check(class_of("let y = 1.5e-3 # dim", "dim") == ["comment"], name, "comments")
    check(class_of('print "dim {sum(x):.3f}"', "dim") == ["string"], name, "strings")
    check(class_of('print "dim {sum(x):.3f}"', "sum") == ["function"], name, "holes in strings")
    check(class_of("let y = 1_000", "1_000") == ["number"], name, "numbers")


TEXTMATE = {"comment": "comment", "string": "string", "constant.numeric": "number",
            "support.type": "type", "support.function": "function", "keyword.operator.word": "keyword",
            "keyword.operator.mtf": "operator", "keyword": "keyword", "storage": "keyword",
            "constant.language": "keyword"}


def textmate():
    grammar = Grammar(EDITORS / "vscode/syntaxes/mtf.tmLanguage.json")
    check(grammar.compile_all() > 20, "patterns")

    def classes(text):
        for word, scope in grammar.scopes(text):
            kind = next((TEXTMATE[start] for start in TEXTMATE if (scope or "").startswith(start)), None)
            yield word, kind

    hold("the TextMate grammar", classes)
    for name, text in programs():
        for word, scope in grammar.scopes(text):
            known = scope or re.match(r"[^\W\d]\w*$|[()\[\]{},;:.]$", word)
            check(known, "the TextMate grammar has nothing for", word, "of", name)


def extension():
    folder = EDITORS / "vscode"
    package = json.loads((folder / "package.json").read_text())["contributes"]
    named = [package["languages"][0]["configuration"], package["grammars"][0]["path"],
             package["snippets"][0]["path"]]
    for path in named:
        check((folder / path).exists(), path)
    settings = json.loads((folder / package["languages"][0]["configuration"]).read_text())
    for pattern in settings["indentationRules"].values():
        re.compile(pattern)
    check(settings["comments"]["lineComment"] == "#", settings)
    mtf = str(pathlib.Path(sys.argv[1]).resolve())
    for name, snippet in json.loads((folder / package["snippets"][0]["path"]).read_text()).items():
        body = "\n".join(snippet["body"])
        filled = re.sub(r"\$\{\d+:([^}]*)\}", r"\1", re.sub(r"\$\{\d+:([^{}]*\{[^{}]*\}[^{}]*)\}", r"\1", body))
        text = filled.replace("$0", "x").replace("$", "") + "\n"
        done = subprocess.run([mtf, "fmt", "--stdin"], input=text, capture_output=True, text=True)
        check(done.returncode == 0 and done.stdout == text, "snippet", name, text, done.stdout, done.stderr)


def pygments():
    if importlib.util.find_spec("pygments") is None:
        return
    spec = importlib.util.spec_from_file_location("mtf_lexer", EDITORS / "pygments/mtf_lexer.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    from pygments.token import Comment, Error, Keyword, Name, Number, Operator, String
    kinds = [(Comment, "comment"), (String.Interpol, "hole"), (String, "string"), (Number, "number"),
             (Keyword.Type, "type"), (Keyword, "keyword"), (Operator.Word, "keyword"),
             (Name.Function, "function")]

    def classes(text):
        for token, value in module.MtfLexer().get_tokens(text):
            kind = next((kind for of, kind in kinds if token in of), None)
            for word in re.findall(r"\w+", value):
                yield word, kind

    hold("the Pygments lexer", classes)
    for name, text in programs():
        for token, value in module.MtfLexer().get_tokens(text):
            check(token is not Error, "the Pygments lexer cannot read", repr(value), "of", name)


VIM = {"mtfComment": "comment", "mtfTodo": "comment", "mtfString": "string", "mtfNumber": "number",
       "mtfType": "type", "mtfDeclaration": "keyword", "mtfStatement": "keyword",
       "mtfConnective": "keyword", "mtfModifier": "keyword", "mtfWordOperator": "keyword",
       "mtfBoolean": "keyword", "mtfCall": "function", "mtfFunctionName": "function"}


def vim_groups(vim, text):
    """(word, syntax group) of each word, as Vim colours it."""
    script = """
set nocompatible nomore encoding=utf-8
let &runtimepath = '%s,' . $VIMRUNTIME
syntax on
edit program.mtf
set filetype=mtf
let out = []
for number in range(1, line('$'))
  let text = getline(number)
  let at = match(text, '\\k\\+')
  while at >= 0
    call add(out, number . ' ' . matchstr(text, '\\k\\+', at) . ' ' . synIDattr(synID(number, at + 1, 1), 'name'))
    let at = match(text, '\\k\\+', matchend(text, '\\k\\+', at))
  endwhile
endfor
call writefile(out, 'out')
qall!
"""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "program.mtf").write_text(text)
        (folder / "look.vim").write_text(script % (EDITORS / "vim"))
        subprocess.run([vim, "-N", "-u", "NONE", "-i", "NONE", "-n", "-es", "-S", "look.vim"], cwd=folder,
                       stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
        check((folder / "out").exists(), "Vim says nothing")
        for line in (folder / "out").read_text().splitlines():
            number, word, *group = line.split(" ")
            yield int(number), word, VIM.get("".join(group))


def vim_by_text():
    """Without Vim: each word stands in a rule of its kind."""
    text = (EDITORS / "vim/syntax/mtf.vim").read_text()
    rules = re.findall(r"^syn (?:match|keyword) (\w+)(?: contained)? (.*)$", text, re.M)
    kinds = {}
    for group, rule in rules:
        for word in re.findall(r"[a-z]\w*", rule):
            kinds.setdefault(word, set()).add(VIM.get(group))
    for word in keywords():
        check("keyword" in kinds.get(word, ()), "the Vim syntax does not know", word)
    for word in dtypes():
        check("type" in kinds.get(word, ()), "the Vim syntax does not know", word)


def vim():
    vim_by_text()
    program = shutil.which("vim")
    features = program and subprocess.run([program, "--version"], capture_output=True, text=True).stdout
    if not features or "+syntax" not in features or "+eval" not in features:
        return
    asked = list(KEYWORD_LINES.values()) + list(NAME_LINES.values())
    asked += [line for word in dtypes()
              for line in (f"param w : {word}[a] = zeros", f"let y = cast(x, {word})")]
    asked += [f"let y = 1 + {word}(x)" for word in OPERATIONS]
    asked += ["let y = 1.5e-3 # dim", 'print "dim {sum(x):.3f}"', "let y = 1_000"]
    asked = list(dict.fromkeys(asked))
    found = {}
    for number, word, kind in vim_groups(program, "\n".join(asked) + "\n"):
        found.setdefault(asked[number - 1], []).append((word, kind))
    hold("the Vim syntax", lambda line: found.get(line, []))
    vim_indent(program)


def vim_indent(program):
    """Indented anew, formatted programs stay as they are."""
    command = [program, "-N", "-u", "NONE", "-i", "NONE", "-n", "-es", "--cmd", f"set rtp^={EDITORS}/vim",
               "-c", "filetype plugin indent on", "-c", "edit program.mtf", "-c", "normal gg=G", "-c", "wq"]
    for name, text in programs():
        if not name.startswith(("examples", "stdlib")):
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "program.mtf")
            path.write_text(text)
            subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
            check(path.read_text() == text, "Vim indents otherwise:", name)


def main():
    textmate()
    extension()
    pygments()
    vim()


main()

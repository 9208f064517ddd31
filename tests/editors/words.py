"""What the three grammars of grammar/editors must know, taken from where it is defined."""
import json
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
EDITORS = ROOT / "grammar/editors"

# A line in which each keyword is one; `params` and `at` stand within rules.
KEYWORD_LINES = {
    "import": "import nn", "dim": "dim batch = 2", "mesh": "mesh m = [x: 2]",
    "layout": "layout both on m { batch -> x }", "use": "use layout both",
    "with": "minimize loss with optim.sgd(lr = 1)", "recompute": "recompute { f(x) }",
    "gradient": "gradient x, y { f(x) }", "expect": "expect step { all_reduce = 1 }",
    "fn": "fn f(x) { return x }", "model": "model f(x: f32[a]) { return x }", "let": "let a = 1",
    "var": "var a = 1", "option": "option a = 1", "param": "param w : f32[a] = zeros", "state": "state n = 0",
    "for": "for i in 0..3 { f(i) }", "while": "while x > 1 { f(x) }", "if": "if a { b() }",
    "else": "if a { b() } else { c() }", "return": "return x", "print": "print x",
    "assert": "assert x > 1", "minimize": "minimize loss with f()", "save": 'save "a"',
    "restore": 'restore "a"', "params": "layout l on m { params { a -> x } }",
    "at": 'layout l on m { at "w" { a -> x } }', "break": "for i in 0..3 { break }",
    "continue": "for i in 0..3 { continue }", "precision": "with precision bf16 { f(x) }",
    "as": "import nn as n", "in": "for i in 0..3 { }",
    "on": "layout l on m { }", "of": "mesh m = [x: 2] of tpu_v2", "infer": "layout l on m infer { }",
    "auto": "layout l on m auto { }", "uneven": "layout l on m uneven { }",
    "where": "layout l on m { k -> (y, x) where y == z }", "step": "for i in 0..9 step 2 { }",
    "and": "let a = b and c", "or": "let a = b or c", "not": "let a = not b", "true": "let a = true",
    "false": "let a = false",
}

# And where it is a name: as a dim, an argument, a value.
NAME_LINES = {
    "state": "let y = f(state = 3)", "layout": "let y = ones([layout: 3])", "step": "let y = step * 2",
    "model": "let y = sum(x, over = model)", "on": "dim on = 3", "in": "let in = 3",
    "where": "let y = where(c, a, b)", "use": "use = 3", "param": "param = 3",
    "precision": "let y = f(precision = 3)",
}


def keywords():
    text = (ROOT / "grammar/Mtf.g4").read_text()
    part = text[text.index("IMPORT :"):text.index("EQUAL :")]
    return re.findall(r"^[A-Z]+ : '([a-z]+)' ;", part, re.M)


def dtypes():
    return re.findall(r'\.name = "(\w+)"', (ROOT / "ir/dtype.cpp").read_text())


def operations(mtf):
    found = json.loads(subprocess.run([mtf, "ops", "--json"], capture_output=True, text=True,
                                      check=True).stdout)
    return [one["name"] for one in found["operations"] if "." not in one["name"]]  # no part of a loop


def programs():
    """Each .mtf of the project that parses, and the programs of the reference."""
    for folder in ("examples", "stdlib", "tests/golden"):
        for path in sorted((ROOT / folder).rglob("*.mtf")):
            if not path.name.startswith("fail_"):
                yield str(path.relative_to(ROOT)), path.read_text()
    text = (ROOT / "grammar/LANGUAGE.md").read_text()
    for number, body in enumerate(re.findall(r"^```mtf\n(.*?)^```", text, re.M | re.S)):
        yield f"LANGUAGE.md, program {number}", body

#!/usr/bin/env python3
"""`mtf doc`: every page has what a page needs, its example runs, and the site holds together."""
import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests"), str(ROOT / "tests/editors")]
import words  # noqa: E402
from verdict import check  # noqa: E402

MTF = str(pathlib.Path(sys.argv[1]).resolve())
VOID = {"meta", "link", "input"}


def mtf(*args, cwd=None, text=None):
    return subprocess.run([MTF, *args], capture_output=True, text=True, input=text, cwd=cwd,
                          timeout=600)


def modules():
    done = mtf("doc", "--json")
    check(done.returncode == 0, done.stderr)
    return json.loads(done.stdout)["modules"]


def pages(found, folder):
    examples = 0
    listing = mtf("doc").stdout
    for module in found:
        check(re.search(rf"^{module['name']} +\S", listing, re.M), "listed with its purpose:", module["name"])
        check(module["contents"], module["name"], "has pages")
        for page in module["contents"]:
            name = f"{module['name']}.{page['name']}"
            check(page["purpose"] and "\n" not in page["purpose"], name, "has a purpose")
            check(page["signature"].startswith(name), name, page["signature"])
            text = mtf("doc", name).stdout
            check(text.startswith(page["signature"]) and page["text"].split("\n")[0] in text, name, text)
            check(text == mtf("doc", module["name"], page["name"]).stdout, name)
            if page["example"]:
                examples += 1
                (folder / "example.mtf").write_text(page["example"])
                done = mtf("run", "example.mtf", cwd=folder)
                check(done.returncode == 0, name, done.stderr)
                check("print" not in page["example"] or done.stdout, name, "prints nothing")
                done = mtf("fmt", "--check", "example.mtf", cwd=folder)
                check(done.returncode == 0, name, "has an example that `mtf fmt` would change")
    check(examples >= 50, examples, "examples")


def language():
    """Each section of the reference by its title, and each keyword by `mtf help`."""
    text = (ROOT / "grammar/LANGUAGE.md").read_text()
    titles = [line.lstrip("#").strip() for line in text.split("\n") if re.match("##+ ", line)]
    sections = json.loads(mtf("doc", "language", "--json").stdout)["sections"]
    check([one["title"] for one in sections] == titles, "sections", [one["title"] for one in sections])
    listing = mtf("doc", "language").stdout
    for title in titles:
        check(re.search(rf"^ +{re.escape(title)}$", listing, re.M), "listed:", title)
        done = mtf("doc", "language", title.upper())
        check(done.stdout.startswith(title + "\n\n") and "```" not in done.stdout, title, done)
        for part in re.findall('^`mtf doc language "(.*)"`$', done.stdout, re.M):
            check(part in titles, title, "names", part)
    for word in words.keywords() + words.dtypes():
        said = mtf("help", word)
        page = re.search("`mtf ((?:doc language|ops) .*)` explains it", said.stderr)
        check(page is not None, word, "is explained nowhere:", said.stderr)
        check(mtf(*page[1].split()).returncode == 0, word, page[1])
    shown = mtf("doc", "language", "uneven").stdout
    check(shown.startswith("Sizes that do not divide\n\n") and "\n    dim batch = 10" in shown, shown)
    check(shown == mtf("doc", "language.uneven").stdout == mtf("doc", "language", "divide").stdout, shown)
    check("\n  | page.mtf:3:1: error" in mtf("doc", "language", "errors").stdout, "what a program prints")
    for asked, hint in {"lyout": "did you mean `layout`?", "zzz": "`mtf doc language` lists them"}.items():
        done = mtf("doc", "language", asked)
        check(done.returncode == 2 and hint in done.stderr, done)
    typed = mtf("repl", text=":doc layout\n:doc language uneven\n").stdout
    check(typed == mtf("doc", "language", "layout").stdout + shown, typed)


def own_file(folder):
    (folder / "lib").mkdir()
    (folder / "lib/mine.mtf").write_text("""# My layers. They are few.
import optim

# ---- simple ----

let rate = optim.cosine
let none = optim.nothing

# Twice x. It has `batch`.
#
# More of it.
# Example:
#   print mine.twice(3)
fn twice(x,
         y = 2) { return y * x }

fn hidden(x) { return x }
""")
    done = mtf("doc", "lib/mine.mtf", cwd=folder)
    check(done.returncode == 0 and "My layers. They are few." in done.stdout, done)
    check("simple\n  rate   From lr to `to` along half a cosine, in `steps` steps\n  twice  Twice x\n" in done.stdout and "hidden" not in done.stdout, done.stdout)
    done = mtf("doc", "lib/mine.mtf", "twice", cwd=folder)
    check(done.stdout == """mine.twice(x,
           y = 2)
  Twice x. It has `batch`.

  More of it.

example
  import "lib/mine.mtf" as mine
  print mine.twice(3)
""", done.stdout)
    done = mtf("doc", "lib/mine.mtf", "rate", cwd=folder)
    check(done.stdout.startswith("mine.rate(step, lr, steps, to = 0.0)\n  From lr to"), done.stdout)
    check("print mine.rate(" in done.stdout, done.stdout)
    done = mtf("doc", "lib/mine.mtf", "none", cwd=folder)
    check(done.returncode == 2 and "no page of `mine.none`" in done.stderr, done)
    done = mtf("doc", "lib/mine.mtf", "twise", cwd=folder)
    check(done.returncode == 2 and "no page of `mine.twise`; did you mean `twice`?" in done.stderr, done)


def errors(folder):
    done = mtf("doc", "optin")
    check(done.returncode == 2 and "no module `optin`; did you mean `optim`?" in done.stderr, done)
    done = mtf("doc", "einsum")
    check(done.returncode == 2 and "no module `einsum`; `mtf ops einsum` explains it" in done.stderr, done)
    done = mtf("doc", "restore")
    check(done.returncode == 2 and "`mtf ops restore` explains it" in done.stderr, done)
    for words in (("doc", "adam"), ("ops", "adam")):
        done = mtf(*words)
        check(done.returncode == 2 and "which `mtf doc optim.adam` explains" in done.stderr, done)
    done = mtf("doc", "optim.adan")
    check(done.returncode == 2 and "did you mean `adam`" in done.stderr, done)
    done = mtf("doc", "nn.zzz")
    check(done.returncode == 2 and "`mtf doc nn` lists what there is" in done.stderr, done)
    done = mtf("doc", "none.mtf", cwd=folder)
    check(done.returncode == 1 and "`none.mtf` cannot be read: there is no such file" in done.stderr, done)
    (folder / "wrong.mtf").write_text("let = 1\n")
    done = mtf("doc", "wrong.mtf", cwd=folder)
    check(done.returncode == 1 and "wrong.mtf:1:5: error:" in done.stderr, done)
    (folder / "file").write_text("")
    done = mtf("doc", "--html", "file/site", cwd=folder)
    check(done.returncode == 1 and done.stderr.count("cannot be written") == 1, done)
    done = mtf("doc", "nn", "--html", "site", cwd=folder)
    check(done.returncode == 2, done)


class Page(html.parser.HTMLParser):
    """Open elements, ids and links of a page; a wrong nesting ends the test."""

    def __init__(self, name, text):
        super().__init__()
        self.name, self.open, self.ids, self.links = name, [], set(), []
        self.feed(text)
        self.close()
        check(not self.open, name, "leaves open", self.open)

    def handle_starttag(self, tag, attributes):
        if tag not in VOID:
            self.open.append(tag)
        for key, value in attributes:
            if key == "id":
                check(value not in self.ids, self.name, "has twice the id", value)
                self.ids.add(value)
            elif key in ("href", "src"):
                self.links.append((tag, value))

    def handle_endtag(self, tag):
        check(self.open and self.open.pop() == tag, self.name, "closes", tag, "at", self.getpos())


def site(found, folder):
    done = mtf("doc", "--html", "a/site", cwd=folder)
    check(done.returncode == 0 and done.stdout == "wrote a/site/index.html\n", done)
    place = folder / "a/site"
    parsed = {p.name: Page(p.name, p.read_text()) for p in place.glob("*.html")}
    check(set(parsed) == {"index.html", "language.html", "operations.html"}
          | {m["name"] + ".html" for m in found}, parsed.keys())
    script = (place / "search.js").read_text()
    index = json.loads(script[len("const INDEX = "):script.index(";\n", script.rindex("]]"))])
    links = [(page.name, tag, where) for page in parsed.values() for tag, where in page.links]
    links += [("search.js", "a", entry[1]) for entry in index]
    for page, tag, where in links:
        if where.startswith("http"):
            check(tag == "a", page, "loads", where, "from the network")
            continue
        name, _, anchor = where.partition("#")
        check((place / (name or page)).exists(), page, "links to", where)
        check(not anchor or anchor in parsed[name or page].ids, page, "links to", where)
    titles = {entry[0] for entry in index}
    for module in found:
        check({f"{module['name']}.{p['name']}" for p in module["contents"]} <= titles, module["name"])
    operations = json.loads(mtf("ops", "--json").stdout)
    for one in operations["operations"] + operations["language"]:
        check(one["name"] in titles and one["name"] in parsed["operations.html"].ids, one["name"])
    search(place)


# The search as a browser would run it, on a document of the three elements that it uses.
SEARCH = """
const listeners = {};
const element = () => ({children: [], append(...c) { this.children.push(...c); },
                        replaceChildren() { this.children = []; },
                        addEventListener(name, f) { listeners[name] = f; }});
const box = element(), list = element();
global.document = {getElementById: (id) => id === "search" ? box : list, createElement: element,
                   addEventListener() {}, activeElement: null};
eval(require("fs").readFileSync(process.argv[1], "utf8") +
     `for (const word of ["einsum", "nn.dense", "softmax", "zzzzqq", "<b>"]) {
        box.value = word; listeners.input();
        console.log(JSON.stringify(list.children.map((i) => i.children[0]?.textContent ?? i.textContent)));
      }`);
"""


def search(place):
    node = shutil.which("node")
    if node is None:
        return
    done = subprocess.run([node, "-e", SEARCH, str(place / "search.js")], capture_output=True, text=True,
                          timeout=60)
    check(done.returncode == 0, done.stderr)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    check(answers[0][0] == "einsum" and answers[1][0] == "nn.dense", answers)
    check(len(answers[2]) > 2 and answers[3] == ["nothing found"], answers)


FOUND = modules()
language()
with tempfile.TemporaryDirectory() as one:
    pages(FOUND, pathlib.Path(one))
for part in (own_file, errors, lambda folder: site(FOUND, folder)):
    with tempfile.TemporaryDirectory() as one:
        part(pathlib.Path(one))

#!/usr/bin/env python3
"""The TextMate grammar read by `vscode-textmate`, as VS Code does: all programs. Needs node, and the
npm packages vscode-textmate and vscode-oniguruma in the folder MTF_NODE_MODULES or where `npm root -g` says."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from words import EDITORS, KEYWORD_LINES, NAME_LINES, dtypes, operations, programs

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from verdict import check  # noqa: E402

SCRIPT = """
const fs = require("fs"), path = require("path");
const [modules, grammarPath] = process.argv.slice(1);
const {Registry, parseRawGrammar, INITIAL} = require(path.join(modules, "vscode-textmate"));
const oniguruma = require(path.join(modules, "vscode-oniguruma"));
(async () => {
  await oniguruma.loadWASM(fs.readFileSync(path.join(modules, "vscode-oniguruma/release/onig.wasm")).buffer);
  const registry = new Registry({
    onigLib: Promise.resolve({createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
                              createOnigString: (text) => new oniguruma.OnigString(text)}),
    loadGrammar: async () => parseRawGrammar(fs.readFileSync(grammarPath, "utf8"), grammarPath)});
  const grammar = await registry.loadGrammar("source.mtf");
  const texts = JSON.parse(fs.readFileSync(0, "utf8"));
  const answers = texts.map((text) => {
    let state = INITIAL;
    const found = [];
    for (const line of text.split("\\n")) {
      const result = grammar.tokenizeLine(line, state);
      state = result.ruleStack;
      for (const token of result.tokens)
        found.push([line.slice(token.startIndex, token.endIndex), token.scopes.slice(1)]);
    }
    return [found, state.depth];
  });
  console.log(JSON.stringify(answers));
})().catch((error) => { console.error(error); process.exit(1); });
"""


def modules():
    folders = [os.environ.get("MTF_NODE_MODULES", "")]
    if shutil.which("npm"):
        folders.append(subprocess.run(["npm", "root", "-g"], capture_output=True, text=True).stdout.strip())
    for folder in folders:
        if folder and all((pathlib.Path(folder) / name).is_dir()
                          for name in ("vscode-textmate", "vscode-oniguruma")):
            return folder
    return None


FOLDER = modules()
if FOLDER is None or shutil.which("node") is None:
    print("node or its packages vscode-textmate and vscode-oniguruma are not here")
    sys.exit(77)

OPERATIONS = operations(str(pathlib.Path(sys.argv[1]).resolve()))
PROGRAMS = list(programs())
LINES = (list(KEYWORD_LINES.values()) + list(NAME_LINES.values())
         + [f"let y = cast(x, {word})" for word in dtypes()] + [f"let y = {word}(x)" for word in OPERATIONS])
done = subprocess.run(["node", "-e", SCRIPT, FOLDER, str(EDITORS / "vscode/syntaxes/mtf.tmLanguage.json")],
                      input=json.dumps([text for _, text in PROGRAMS] + LINES), capture_output=True,
                      text=True, timeout=300)
check(done.returncode == 0, done.stderr)
ANSWERS = json.loads(done.stdout)

for (name, text), (found, depth) in zip(PROGRAMS, ANSWERS):
    check(depth == 1, name, "ends within a string")
    check("".join(token for token, _ in found) == text.replace("\n", ""), name)
    for token, scopes in found:
        known = scopes or re.fullmatch(r"[\w\s()\[\]{},;:.]*", token)
        check(known, "nothing is known of", repr(token), "in", name)

KINDS = dict(zip(LINES, ANSWERS[len(PROGRAMS):]))


def scopes_of(line, word):
    return [scopes[-1] if scopes else "" for token, scopes in KINDS[line][0] if token.strip() == word]


for word, line in KEYWORD_LINES.items():
    kinds = ("keyword", "storage", "constant.language")
    check(any(scope.startswith(kinds) for scope in scopes_of(line, word)), word, scopes_of(line, word))
for word, line in NAME_LINES.items():
    check(not any(scope.startswith(("keyword.decl", "keyword.control")) for scope in scopes_of(line, word)),
          word, "is a name in:", line)
for word in dtypes():
    check(scopes_of(f"let y = cast(x, {word})", word) == ["support.type.mtf"], word)
for word in OPERATIONS:
    check(scopes_of(f"let y = {word}(x)", word) == ["support.function.mtf"], word)
print(len(PROGRAMS), "programs")

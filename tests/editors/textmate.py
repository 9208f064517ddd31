"""As much of TextMate's way of reading a grammar as ours needs: match, begin and end, include, captures."""
import json
import re


def _pattern(text):
    # Python's `re` has no \p{…}; its letters and digits are those of Unicode.
    return re.compile(text.replace(r"[\p{L}_][\p{L}\p{M}\p{N}_]*", r"[^\W\d]\w*"))


class Grammar:
    def __init__(self, path):
        self.top = json.loads(path.read_text())
        self.compiled = {}

    def regex(self, text):
        if text not in self.compiled:
            self.compiled[text] = _pattern(text)
        return self.compiled[text]

    def compile_all(self):
        """How many patterns there are; one that is wrong raises."""
        def visit(node):
            if isinstance(node, dict):
                for key, value in node.items():
                    if key in ("match", "begin", "end"):
                        self.regex(value)
                    visit(value)
            elif isinstance(node, list):
                for one in node:
                    visit(one)
        visit(self.top)
        return len(self.compiled)

    def rules(self, patterns):
        for one in patterns:
            if "include" in one:
                target = self.top["repository"][one["include"][1:]]
                yield from self.rules([target] if "match" in target or "begin" in target
                                      else target["patterns"])
            else:
                yield one

    def scopes(self, text):
        """(word or sign, its innermost scope) for each line of a text; None: no scope."""
        stack = []
        for line in text.split("\n"):
            marks = [[stack[-1].get("name")] if stack else [None] for _ in line]
            at = 0
            while at <= len(line):
                inner = stack[-1] if stack else None
                end = self.regex(inner["end"]).search(line, at) if inner else None
                best, rule = end, None
                for one in self.rules(inner["patterns"] if inner else self.top["patterns"]):
                    found = self.regex(one.get("match") or one["begin"]).search(line, at)
                    if found and (best is None or found.start() < best.start()):
                        best, rule = found, one
                for i in range(at, best.start() if best else len(line)):
                    marks[i] = [inner.get("name") if inner else None]
                if best is None:
                    break
                scope = (rule or inner).get("name")
                for i in range(best.start(), best.end()):
                    marks[i] = [scope]
                for number, capture in ((rule or {}).get("captures") or {}).items():
                    for i in range(*best.span(int(number))):
                        marks[i] = [capture["name"]]
                if rule is None:
                    stack.pop()
                elif "begin" in rule:
                    stack.append(rule)
                if best.end() == at and rule is not None and "match" in rule:
                    at += 1
                elif best.end() == at and best.end() >= len(line):
                    break
                else:
                    at = best.end()
            for word in re.finditer(r"\w+|[^\w\s]", line):
                yield word[0], marks[word.start()][0]

"""Every collective of every example says why: an operation with its line, and a rule with its line.

All layouts and entries are asked, those of gradients too, and layouts that are inferred from a few
rules. A cited line has to hold the cited rule: its dim, and its axis, `*` or `all`. What is held at
the peak adds up to the peak, and the entry's totals are those of its plan.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

MTF = sys.argv[1]
INFERRED = {
    "two_layer.mtf": ["layout i1 on grid infer { batch -> rows }",
                      'layout i2 on cube infer { at "two_layer/w" { hidden -> cols, io -> planes }; batch -> rows }'],
    "mnist.mtf": ["layout i1 on grid infer { batch -> rows, hidden -> cols }"],
    "feed_forward.mtf": ["layout i1 on line infer { ff -> t }",
                         'layout i2 on grid infer { batch -> r; at "block/up/w" { ff -> c, embed -> r } }'],
    "transformer.mtf": ["layout i1 on line infer { batch -> t }",
                        'layout i2 on grid infer { batch -> r; at "layer/*/w_in" { heads, ff -> c } }'],
}


def mtf(*arguments, fails=False):
    done = subprocess.run([MTF, *map(str, arguments)], capture_output=True, text=True)
    assert (done.returncode == 1 if fails else done.returncode == 0), (arguments, done.stderr)
    return done.stderr if fails else json.loads(done.stdout)


def check_rule(place, hop):
    """The cited line says what the hop says."""
    assert hop["line"] > 0, (place, hop)
    text = pathlib.Path(hop["file"]).read_text().splitlines()[hop["line"] - 1]
    if hop["cause"] == "where the variable is kept":  # since an earlier call made it
        assert hop["value"].strip("`").split("/")[-1] in text, (place, hop, text)
        return
    rule = re.search(r"`(?:@ \[)?(\w+) -> ([^`\]]*)", hop["cause"])
    assert rule, (place, hop)
    assert re.search(rf"\b{rule[1]}\b", text), (place, hop, text)
    assert re.search(rf"\b({hop['axis']}|all)\b|\*", text), (place, hop, text)


def check_path(place, path):
    for hop in path[:-1]:
        assert hop["cause"].startswith("`infer`") and hop["line"] > 0, (place, hop)
    check_rule(place, path[-1])


def check_collective(place, collective):
    assert collective["because"], (place, collective)
    for reason in collective["because"]:
        assert reason["text"] and reason["line"] > 0, (place, collective)
    paths = [side["path"] for side in collective["had"] + collective["wanted"] if side["path"]]
    assert paths, (place, collective)
    assert collective["had"] and collective["wanted"], (place, collective)
    for path in paths:
        check_path(place, path)
    for other in collective["otherwise"]:
        assert other["text"] and other["bytes"] >= 0, (place, collective)


def check_entry(file, layout, entry):
    place = f"{file} {layout} {entry}"
    plan = mtf("plan", file, entry, "--layout", layout, "--json")
    there = [s for s in plan["steps"] if s["kind"] not in ("kernel", "slice")]
    answer, = mtf("why", file, "collectives", entry, "--layout", layout, "--json")["answers"]
    asked = answer["collectives"]
    assert [(s["kind"], s["value"], s["bytes"]) for s in there] == \
           [(c["kind"], c["value"], c["bytes"]) for c in asked], place
    for collective in asked:
        check_collective(place, collective)
    assert all(" by `" in step["why"] for step in there), place
    answer, = mtf("why", file, "memory", entry, "--layout", layout, "--json")["answers"]
    memory = answer["memory"]
    assert memory["peak_bytes"] == plan["totals"]["peak_bytes"], place
    assert sum(held["bytes"] for held in memory["held"]) == memory["peak_bytes"], place
    answer, = mtf("why", file, "*", entry, "--layout", layout, "--json")["answers"]
    for value in answer["values"]:
        for axis in value["axes"]:
            assert axis.get("why_not") or axis["path"], (place, value)
            if "path" in axis:
                check_path(place, axis["path"])
    return len(asked)


def check_file(file):
    text = file.read_text()
    layouts = re.findall(r"^layout +(\w+)", text, re.M)
    entries = mtf("plan", file, "--layout", layouts[-1], "--json")["entries"]
    models = re.findall(r"^model (\w+)\((?!.*\.\.)", text, re.M)  # `..` is not a type of an entry
    count = 0
    for layout in layouts:
        refused = subprocess.run([MTF, "plan", file, "--layout", layout], capture_output=True)
        if file.name == "illegal.mtf" and refused.returncode == 1:
            continue
        count += sum(check_entry(file, layout, e) for e in dict.fromkeys(entries + models))
    return count


total = 0
for example in sorted(pathlib.Path("examples").rglob("*.mtf")):
    total += check_file(example)
    for lines in filter(None, [INFERRED.get(example.name)]):
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder) / example.name
            added = "\n".join(lines) + "\n\n"
            copy.write_text(re.sub(r"^(fn|model) ", added + r"\1 ", example.read_text(), 1, re.M))
            total += check_file(copy)
print(total, "collectives asked")
assert total > 400, total

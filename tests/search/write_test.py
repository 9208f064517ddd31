"""`mtf search --write`: the file still checks, its comments are intact, and it costs what was promised."""

import itertools
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

from programs import drawn, mtf

PROGRAM = """# A comment at the top.
import optim   # another one
dim batch = 64, io = 32, hidden = 128

mesh grid = [rows: 2, cols: 2]   # four ranks
# what a person wrote
layout mine on grid auto { batch -> rows }   # behind it
layout other on grid { hidden -> cols }

fn step(x: f32[batch, io]) {
  param w : f32[io, hidden] = normal(stddev = 0.1)
  let loss = mean(square(einsum(x, w -> [batch, hidden])))   # the loss
  minimize loss with optim.sgd(lr = 0.1)
  return loss
}
"""


# Three layers, of which a few rules say all.
DEEP = """dim batch = 96, io = 64, a = 256, b = 384
mesh grid = [rows: 2, cols: 4]
let slow = hardware_profile(flops = 1e12, memory_bandwidth = 1e11, latency = 1e-6, bandwidth = 1e9)
fn step(x: f32[batch, io]) {
  param u : f32[io, a] = normal(stddev = 0.1)
  param v : f32[a, b] = normal(stddev = 0.1)
  param w : f32[b, io] = normal(stddev = 0.1)
  let h = relu(einsum(relu(einsum(x, u -> [batch, a])), v -> [batch, b]))
  return mean(square(einsum(h, w -> [batch, io])))
}
"""

# Of the answer, a block of rules for what a `let` named is left out, and more than it said follows.
EMPTIED = """import optim
import attention
dim batch = 32, length = 8, d = 16, heads = 4, head = 4, vocab = 64
fn block_0(h) {
  let p = pool(h -> [batch, l2: 8, d], window = length, size = 3, stride = 1, padding = "same", by = "mean")
  return h + 0.5 * rename(p, l2 -> length)
}
fn block_2(h) {
  var v = h
  for i in 0..3 while mean(square(v)) > 0.5 { v = 0.6 * v }
  return h + v
}
fn block_3(h) {
  let o = one_hot(argmax(h, over = d), vocab)
  param t = normal([vocab, d], stddev = 0.3)
  return h + einsum(o, t -> [batch, length, d])
}
fn block_4(h) {
  let y = attention.self_attention(h, length, d, heads, head, causal = true, window = 2)
  return h + y
}
model net(x: f32[batch, length, d]) {
  param first : f32[d] = ones
  var h = x * first
  let t0 = block_0(h @ [length -> x, d -> y]) as "b0"
  h = t0
  let t2 = block_2(h @ [batch -> (y, x)]) as "b2"
  h = t2
  recompute {
    let t3 = block_3(h) as "b3"
    h = t3
  }
  h = block_4(h) as "b4"
  return h
}
fn step(x: f32[batch, length, d]) {
  let loss = mean(square(net(x) - 1))
  minimize loss with optim.adafactor(lr = 0.01)
}
mesh g = [x: 2, y: 1, z: 2] of tpu_v3
layout mine on g { batch -> (y); params { batch -> (z); d -> (z) }; at let "net/t0" { batch -> (x, z, y) } }
"""


# A dim is over one axis in a half of the program and over another one in the other half.
FOLLOWED = """dim batch = 480, width = 240, hidden = 40
mesh tiles = [x: 2, y: 2] of tpu_v3
fn step(a: f32[batch, width]) {
  param w : f32[width, hidden] = normal(stddev = 0.1)
  let first = exp(tanh(a) * 2) @ [batch -> x, width -> y]
  let second = tanh(square(first) + 1) @ [batch -> y, width -> x]
  return einsum(exp(second * 3), w -> [batch, hidden])
}
"""


def comments(text):
    lines = [re.sub(r'"[^"]*"', "", line) for line in text.splitlines()]
    return [line[line.index("#"):] for line in lines if "#" in line]


def written(binary, folder, text, *words, name=None):
    path = os.path.join(folder, "net.mtf")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    svg = os.path.join(folder, "all.svg")
    status, found, errors = mtf(binary, "search", path, "step", "--write", "--svg", svg, "--json",
                                *words)
    assert status == 0, (errors, found)
    assert xml.parse(svg).getroot().tag.endswith("svg")
    with open(path, encoding="utf-8") as file:
        after = file.read()
    assert comments(after) == comments(text), after
    assert mtf(binary, "check", path, "--json")[0] == 0, after
    name = name or ("mine" if "mine" in words else "found")
    hardware = words[words.index("--hardware"):][:2] if "--hardware" in words else ()
    _, costs, _ = mtf(binary, "cost", path, "step", "--layout", name, "--json", *hardware)
    row = costs["layouts"][0]
    best = found["best"]
    assert row["legal"], after
    assert abs(row["seconds"] - best["seconds"]) < 1e-9 * row["seconds"], (row, best)
    assert row["totals"]["peak_bytes"] == best["peak_bytes"], (row, best)
    assert row["received_bytes"] == best["received_bytes"], (row, best)
    return after


def rules_of(best):
    """Each rule of an answer by itself, those of `params` behind the others."""
    def one(rule):
        axes = list(rule["axes"]) + (["*"] if rule["rest"] else [])
        return f"{rule['dim']} -> ({', '.join(axes)})"
    own = [rule for block in best["variables"] for rule in block["rules"]]
    # Axes of one rank split nothing.
    return ([one(rule) for rule in best["rules"]], [one(rule) for rule in own])


def check_shortest(binary, folder, text, *words):
    """No fewer rules, from which the others follow, cost the same; how many were left out."""
    path = os.path.join(folder, "net.mtf")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    status, found, errors = mtf(binary, "search", path, "step", "--write", "--json", *words)
    assert status == 0, (errors, found)
    best = found["best"]
    plain, own = rules_of(best)
    count = len(plain) + len(own)
    wording = found["wording"]
    assert wording in open(path, encoding="utf-8").read(), wording
    layouts = []
    for size in range(count):
        for kept in itertools.combinations(range(count), size):
            rules = [plain[i] for i in kept if i < len(plain)]
            params = [own[i - len(plain)] for i in kept if i >= len(plain)]
            block = "; ".join(rules + (["params { " + "; ".join(params) + " }"] if params else []))
            extra = "".join(f"; {word}" for word in (["stream = " + str(best["stream"])] if best["stream"] > 1 else
                                                    ["gather = again"] if best["gather"] == "again" else [])
                            + (["recompute = none"] if best["recompute"] == "none" else []))
            layouts.append((size, f"infer {{ {block}{extra} }}"))
    mesh = re.search(r"mesh (\w+)", text).group(1)
    declared = "".join(f"layout l{i} on {mesh} {rules}\n" for i, (_, rules) in enumerate(layouts))
    _, costs, _ = mtf(binary, "cost", "-", "step", "--json", *words[:2], text=text + declared)
    same = [size for (size, _), row in zip(layouts, costs["layouts"])
            if row["legal"] and abs(row["seconds"] - best["seconds"]) <= 1e-9 * row["seconds"]
            and row["totals"]["peak_bytes"] == best["peak_bytes"]
            and sum(one["bytes"] for one in row["totals"]["collectives"]) == best["received_bytes"]]
    fewest = min(same, default=count)
    inside = re.sub(r"(stream|gather|recompute) = \w+", "", wording[wording.index("{"):])
    says = sum(len(part.split("->")[0].replace("params", "").strip(" {;").split(","))
               for part in re.findall(r"[^;{}]*->", inside))
    assert says == (fewest if count > 1 else count), (wording, best["source"], fewest, says)
    assert (" infer " in wording) == (says < count), wording
    return count - says


def check_refused(binary, folder):
    """What another entry cannot have is not written."""
    other = PROGRAM + "fn total(y: f32[io]) { return sum(y) }\nexpect total { collectives = 0 }\n"
    path = os.path.join(folder, "net.mtf")
    with open(path, "w", encoding="utf-8") as file:
        file.write(other)
    status, found, errors = mtf(binary, "search", path, "step", "--write", "--keep-whole", "batch,hidden", "--over",
                                "none", "--json", "--objective", "memory")
    assert status == 1 and "another part of the file does not fit it" in found["diagnostics"][0]["text"], found
    assert found["best"] and not found["wording"], found  # what was found is shown all the same
    with open(path, encoding="utf-8") as file:
        assert file.read() == other


# What stands in a layout, beside it, and on the line of its mesh.
CROWDED = """import optim
dim batch = 64, io = 32, hidden = 128
let found = 1
mesh grid = [rows: 2, cols: 2]; fn twice(x) {
  return 2 * x
}
layout mine on grid auto {   # why
  batch -> rows   # and this
  at "a#b/*" { io -> cols }
}

fn step(x: f32[batch, io]) {
  param w : f32[io, hidden] = normal(stddev = 0.1)
  let loss = mean(square(twice(einsum(x, w -> [batch, hidden]))))
  minimize loss with optim.sgd(lr = 0.1)
  return loss
}
"""


def check_standard_input(binary):
    """There is no file to write into, which is said before anything is searched."""
    status, found, _ = mtf(binary, "search", "-", "--write", "--json", text=PROGRAM)
    assert status == 1 and "best" not in found, found
    assert "read from standard input" in found["diagnostics"][0]["text"], found


def check_own_sizes(binary, folder):
    """A layout for sizes of the command line that those of the file do not fit: it is said."""
    text = PROGRAM.replace("dim batch", "option width = 32\ndim batch").replace("io = 32", "io = width")
    text = text.replace("[rows: 2, cols: 2]", "[rows: 3]").replace("{ hidden -> cols }", "{ }").replace(
        "{ batch -> rows }", "{ }")
    path = os.path.join(folder, "net.mtf")
    for width, fits in ((33, False), (32, True)):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        status, found, _ = mtf(binary, "search", path, "--write", "--objective", "memory", "--json", "--", "--width",
                               str(width))
        said = [one["text"] for one in found.get("diagnostics", []) if one["severity"] == "warning"]
        assert status == 0 and found["wording"], found
        assert fits == (not said) and all("`found` is for the values of this command line" in one for one in said), said
        assert (mtf(binary, "check", path, "--json")[0] == 0) == fits


def check_crowded(binary, folder):
    """Comments of a layout that is replaced, a function that begins on the line of the mesh, a name that is
    taken, and ends of lines as other systems write them."""
    mine = written(binary, folder, CROWDED, "--layout", "mine")
    assert "}\n# why\n# and this\nlayout mine on grid {" in mine, mine
    other = written(binary, folder, CROWDED.replace("auto ", ""), name="found_2")
    assert "}\nlayout found_2 on grid {" in other, other
    path = os.path.join(folder, "net.mtf")
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(PROGRAM.replace("\n", "\r\n"))
    assert mtf(binary, "search", path, "--write", "--json")[0] == 0
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    assert text.count("\r\n") == text.count("\n") and "\r\r" not in text, repr(text)


def check_kept(binary, folder):
    """How a person wants what is gathered stays, as rules do."""
    again = PROGRAM.replace("{ batch -> rows }", "{ batch -> rows; gather = again }")
    assert "gather = again" in written(binary, folder, again, "--layout", "mine")


def check_followed(binary, folder):
    """What an `@` says is followed where that is better, in what is written and in an `auto` layout that is kept."""
    objective = ("--objective", "bytes", "--budget", "2")
    for extra in ((), ("--keep-whole", "hidden"), ("--memory", "1MiB")):
        text = written(binary, folder, FOLLOWED, *objective, *extra)
        assert re.search(r"layout found on tiles infer \{", text), text
        assert not extra or extra[0] != "--keep-whole" or "hidden -> ()" in text, text
    path = os.path.join(folder, "net.mtf")
    _, ruled, _ = mtf(binary, "search", path, "step", "--json", "--over", "params,rest,gather", *objective)
    _, found, _ = mtf(binary, "search", path, "step", "--json", *objective)
    assert found["best"]["infer"] and found["best"]["received_bytes"] < ruled["best"]["received_bytes"], found
    with open(path, "w", encoding="utf-8") as file:
        file.write(FOLLOWED + "layout mine on tiles auto { }\n")
    _, found, _ = mtf(binary, "search", path, "step", "--json")
    assert found["best"]["infer"], found
    os.environ["XDG_CACHE_HOME"] = folder
    for locked in ((), ("--locked",)):
        _, costs, _ = mtf(binary, "cost", path, "step", "--layout", "mine", "--json", *locked)
        assert abs(costs["layouts"][0]["seconds"] / found["best"]["seconds"] - 1) < 1e-9, (costs, found)


def check_standard(binary, folder):
    """What was in the standard layout of text still is."""
    path = os.path.join(folder, "net.mtf")
    with open(path, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    subprocess.run([binary, "fmt", path], check=True)
    assert mtf(binary, "search", path, "--write", "--json")[0] == 0
    subprocess.run([binary, "fmt", "--check", path], check=True)


def check_meshes(binary, folder):
    """A mesh of other sizes is declared once: anew where no other layout is on it, else under another name."""
    once = written(binary, folder, PROGRAM, "--ranks", "16", "--axes", "1", "--objective", "bytes")
    assert re.search(r"mesh grid_16 = \[\w+: 16\]\n", once), once
    again = written(binary, folder, once, "--ranks", "16", "--hardware", "cpu_core")
    assert re.search(r"mesh grid_16 = \[rows: \d+, cols: \d+\]", again) and again.count("mesh") == 2, again
    shared = once.replace("layout found on grid_16", "layout kept on grid_16 { }\nlayout found on grid_16")
    other = written(binary, folder, shared, "--ranks", "16", "--hardware", "cpu_core")
    assert "mesh grid_16_2 = [rows: " in other and "layout found on grid_16_2" in other, other
    same = written(binary, folder, PROGRAM, "--ranks", "4", "--objective", "memory", "--over", "none")
    assert same.count("mesh ") == 1 or "[rows: 2, cols: 2]" not in same.split("mesh grid_4")[1], same
    path = os.path.join(folder, "net.mtf")
    without = "".join(line for line in PROGRAM.splitlines(True) if not line.startswith(("mesh", "layout")))
    with open(path, "w", encoding="utf-8") as file:
        file.write(without)
    done = subprocess.run([binary, "search", path, "--ranks", "4", "--write"], capture_output=True, text=True, check=True)
    shown, put = done.stdout.split("written into")
    declared = re.search(r"mesh (\w+) = \[.*\]", shown)
    with open(path, encoding="utf-8") as file:
        assert declared.group(0) in put and declared.group(0) in file.read(), done.stdout
    assert f"layout found on {declared.group(1)} " in put, put


def main():
    binary = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        once = written(binary, folder, PROGRAM)
        assert once.replace(next(line for line in once.splitlines(True) if "layout found" in line),
                            "", 1) == PROGRAM, once
        assert written(binary, folder, once) == once  # it takes the place of the first
        written(binary, folder, EMPTIED, "--layout", "mine", "--ranks", "32", "--objective", "memory", "--budget", "1")
        mine = written(binary, folder, PROGRAM, "--layout", "mine")
        assert "auto" not in mine and re.search(r"layout mine on grid (infer )?\{ batch -> rows", mine), mine
        many = written(binary, folder, PROGRAM, "--ranks", "16")
        assert "mesh grid_16 = [" in many and "layout found on grid_16" in many, many
        for seed in range(40, 52):
            program, _ = drawn(seed)
            written(binary, folder, "# first\n" + program + "# last\n", "--budget", "1")
        left_out = check_shortest(binary, folder, DEEP, "--hardware", "slow", "--budget", "2", "--objective", "memory")
        for seed in (61, 63, 73, 76, 81, 88, 117, 144):
            left_out += check_shortest(binary, folder, drawn(seed)[0], "--hardware", "cpu_core", "--budget", "1",
                                       "--objective", "memory")
        for seed in (76, 89):
            left_out += check_shortest(binary, folder, drawn(seed)[0], "--hardware", "cpu_core", "--budget", "1",
                                       "--objective", "bytes")
        assert left_out > 0
        check_refused(binary, folder)
        check_standard_input(binary)
        check_own_sizes(binary, folder)
        check_crowded(binary, folder)
        check_kept(binary, folder)
        check_followed(binary, folder)
        check_standard(binary, folder)
        check_meshes(binary, folder)
    print(f"written, checked and priced; {left_out} rules follow from others")


if __name__ == "__main__":
    main()

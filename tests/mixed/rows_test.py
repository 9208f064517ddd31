"""Programs over many rows, whose chains go band by band and compute things again: counted as planned, with equal bits.

The other programs of this folder are too small for that. `rows_test.py build/mtf 0 100` draws 100 programs.
"""

import json
import os
import random
import sys
import tempfile

from mixed_test import check_counts, mtf

LAYERS = (
    """  let y{i} = nn.dense(h, d, ff) as "up_{i}"
  h = h + nn.dense(tanh(y{i}), ff, d) as "down_{i}\"""",
    """  h = nn.batch_norm(h, d, [n]) as "norm_{i}\"""",
    """  h = nn.layer_norm(h, d) as "norm_{i}\"""",
    """  param bias_{i} : f32[d] = normal
  h = gelu(h + bias_{i})""",
    """  h = softmax(h, over = {dim}) + 0.5 * h""",
    """  h = h - mean(h, over = {dim})""",
    """  h = cast(cast(h, bf16), f32) * tanh(h)""",
    """  with precision bf16 {{
    let y{i} = nn.dense(h, d, ff) as "up_{i}"
    h = cast(nn.dense(gelu(y{i}), ff, d) as "down_{i}", f32) + h
  }}""",
    """  recompute {{
    let y{i} = nn.dense(h, d, ff) as "up_{i}"
    h = h + nn.dense(gelu(y{i}), ff, d) as "down_{i}"
  }}""",
)
MESHES = ("x: 2, y: 2", "x: 4", "x: 2", "x: 2, y: 2, z: 2")
ODD_MESHES = ("x: 3, y: 2", "x: 5", "x: 7")
OPTIMIZERS = ("sgd(lr = 0.1)", "adam(lr = 0.01)", "momentum(lr = 0.05)", "adafactor(lr = 0.01)")


def layout(draw, name, axes, uneven):
    parts = []
    for dim in ("n", "d", "ff"):
        own = draw.sample(axes, draw.randint(0, len(axes))) + ["*"] * (draw.random() < 0.25)
        if own and draw.random() < 0.6:
            parts.append(f"{dim} -> ({', '.join(own)})")
    others = draw.choice(["gather = again", f"stream = {draw.choice([2, 3, 4])}", "recompute = none"])
    for share, part in ((0.3, f"params {{ {draw.choice(['d', 'ff'])} -> {draw.choice([*axes, '*'])} }}"),
                        (0.4, others)):
        parts += [part] * (draw.random() < share)
    return f"layout {name} on g {'uneven ' if uneven else ''}{{ {'; '.join(parts)} }}"


def drawn(seed, uneven):
    draw = random.Random(3 * seed + uneven)
    mesh = draw.choice(ODD_MESHES if uneven else MESHES)
    axes = [axis.split(":")[0] for axis in mesh.split(", ")]
    rows = draw.choice([512, 1024, 2048, 4096]) + (draw.choice([0, 1, -3, 17]) if uneven else 0)
    layers = [draw.choice(LAYERS).format(i=i, dim=draw.choice("nd")) for i in range(draw.randint(1, 4))]
    lines = ["import nn", "import optim",
             f"dim n = {rows}, d = {draw.choice([16, 64, 128])}, ff = {draw.choice([64, 256])}", f"mesh g = [{mesh}]",
             *(layout(draw, f"l{i}", axes, uneven) for i in range(4)),
             "model net(x: f32[n, d]) {", "  param first : f32[d] = ones", "  var h = x * first", *layers,
             "  return h", "}",
             "fn step(x: f32[n, d]) {", "  let loss = mean(square(net(x) - 1))",
             f"  minimize loss with optim.{draw.choice(OPTIMIZERS)}", "  return loss", "}",
             "let x = normal([n, d], seed = 1)", "for i in 0..2 { print step(x) }"]
    return "\n".join(lines) + "\n"


def check(binary, folder, seed, uneven):
    text = drawn(seed, uneven)
    path = os.path.join(folder, "rows.mtf")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    status, out, errors = mtf(binary, "cost", path, "step", "--json")
    assert status == 0, (seed, out, errors)
    names = [row["layout"] for row in json.loads(out)["layouts"] if row["legal"]]
    if not uneven:
        _, out, errors = mtf(binary, "verify", path)
        rows = [line for line in out.splitlines() if not line.startswith(" ")]
        wrong = [row for row in rows if "equal bits" not in row and "does not fit" not in row]
        assert not wrong and rows, (seed, wrong, errors)
    return sum(check_counts(binary, path, seed, name) for name in names)


def main():
    binary = sys.argv[1]  # then, for more programs: the first one and how many
    first, count = (int(word) for word in sys.argv[2:4]) if len(sys.argv) > 3 else (0, 8)
    with tempfile.TemporaryDirectory() as folder:
        counted = sum(check(binary, folder, seed, seed % 3 == 0) for seed in range(first, first + count))
    assert counted > count, counted
    print(f"{counted} layouts of {count} programs: counted as planned")


if __name__ == "__main__":
    main()

#!/usr/bin/python3
"""Plans that a person can read: 24 layers of a Transformer's training step in at most 80 lines under
every layout, as wide as the terminal, and all of it where that is asked for."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

from terminal import on_terminal

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from verdict import check_equal as check  # noqa: E402

MTF = sys.argv[1]
ROOT = pathlib.Path(__file__).parents[2]
LAYERS = 24
LAYOUTS = ["data_parallel", "fsdp", "megatron", "megatron_sequence", "summa", "tesseract", "cube3d"]


def program(scope):
    """The example's layer, so many times."""
    text = (ROOT / "examples/parallel/transformer.mtf").read_text(encoding="utf-8")
    text = text.replace('"layer/', '"*/').replace("layer(x)", "network(x)")
    head, rest = text.split("model layer")
    body = rest[rest.index("{"):rest.index("fn train_step")]
    return (f"{head}fn layer(x) {body}"
            "model network(x: f32[batch, length, embed]) -> f32[batch, length, embed] {\n"
            f'  var y = x\n  for i in 0..{LAYERS} {{\n    y = layer(y) as "{scope}_{{i}}"\n  }}\n'
            "  return y\n}\n\n" + rest[rest.index("fn train_step"):])


def mtf(*words):
    done = subprocess.run([MTF, *words], capture_output=True, text=True, timeout=600)
    check(f"{words} {done.stderr}", done.returncode, 0)
    return done.stdout


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "deep.mtf")
        path.write_text(program("block"), encoding="utf-8")
        for layout in LAYOUTS:
            words = ["plan", str(path), "train_step", "--layout", layout]
            page = mtf(*words)
            lines = page.splitlines()
            check(f"{layout}: {len(lines)} lines are too many", len(lines) <= 80, True)
            check(f"{layout} folds", f"{LAYERS} times: block_1 … block_23 as block_0" in page, True)
        whole = mtf(*words, "--all")
        steps = json.loads(mtf(*words, "--json"))["steps"]
        moves = [step for step in steps if re.match("all_|reduce_scatter", step["kind"])]
        shown = re.findall(r"(?:all_gather|all_reduce|all_to_all|reduce_scatter)\(", whole)
        check("all collectives are there", len(shown), len(moves))
        only = mtf(*words, "--all", "--only", "collectives")
        check("nothing but collectives", "einsum(" in only, False)
        for columns in 40, 60, 80, 120, 200:
            page = on_terminal([MTF, *words, "--depth", "4"], columns, status=0)
            check(f"fits in {columns}", max(map(len, page.splitlines())) <= columns, True)


main()

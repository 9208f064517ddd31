#!/usr/bin/python3
"""The published volumes of 1-D, 2-D and 3-D parallelism, to the element (examples/parallel/README.md).

examples/parallel/transformer.mtf with `heads * head = embed = h` and `ff = 4h`, planned forward on many
meshes: what the four weight products of the layer receive per rank. Called with the path of mtf.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from verdict import Failures  # noqa: E402

MTF = sys.argv[1]
LAYER = pathlib.Path("examples/parallel/transformer.mtf").read_text(encoding="utf-8")
failures = Failures()
check = failures.check_equal


def layer(batch, length, heads, head):
    h = heads * head
    dims = (f"dim batch = {batch}, length = {length}, embed = {h}, heads = {heads}, head = {head}, "
            f"ff = {4 * h}")
    return re.sub(r"^dim .*$", dims, LAYER, flags=re.M)


def plan(text, entry, layout, mesh, *more):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "layer.mtf")
        path.write_text(text, encoding="utf-8")
        done = subprocess.run([MTF, "plan", path, entry, "--layout", layout, "--mesh", mesh, "--json",
                               *more], capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        raise SystemExit(f"{layout} on {mesh}: {done.stderr}")
    return json.loads(done.stdout)


def product_volume(text, layout, mesh):
    """Elements received for the products with weights: the lines that name one."""
    weights = {number for number, line in enumerate(text.splitlines(), 1)
               if re.search(r"einsum\(\w+, w_(in|out)", line)}
    return sum(step["received"] for step in plan(text, "layer", layout, mesh)["steps"]
               if step["kind"] != "kernel" and step["line"] in weights and "`add`" not in step["why"])


def cube():
    for x, y, z in ((2, 2, 2), (2, 3, 4), (1, 4, 1), (4, 1, 1), (1, 2, 2), (4, 4, 4), (2, 4, 8)):
        b, s, heads, head = 4 * x * y * z, 5, 12 if y == 3 else 8, 2 * x * z
        h = heads * head
        found = product_volume(layer(b, s, heads, head), "cube3d", f"x={x},y={y},z={z}")
        bsh = b * s * h
        wanted = ((4 * (y - 1) + 12 * (z - 1)) * bsh + 12 * (x - 1) * h * h) // (x * y * z)
        check(f"3-D on {x}x{y}x{z}", found, wanted)


def diagonal():
    """The 3-D paper's vectors: N/p² elements on the p² ranks of a diagonal, N/p received to fetch one."""
    for p in (2, 4):
        text = layer(4 * p ** 3, 2, 4 * p, p)
        mesh = f"x={p},y={p},z={p}"
        sizes = {"gain": 4 * p * p, "b_in": 16 * p * p, "b_out": 4 * p * p}
        fetched = sum(step["received"] for step in plan(text, "layer", "cube_diagonal", mesh)["steps"]
                      if "where" in step["why"] or "broadcast" == step["kind"])
        vectors = 4 * sizes["gain"] + 2 * sizes["b_out"] + sizes["b_in"] + 3 * 4 * p * p
        check(f"vectors fetched from a diagonal of {p}x{p}", fetched, vectors // p)
        for rank in range(p ** 3):
            y, z = rank // p % p, rank % p
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "layer.mtf")
                path.write_text(text, encoding="utf-8")
                page = subprocess.run([MTF, "plan", path, "layer", "--layout", "cube_diagonal", "--mesh",
                                       mesh, "--rank", str(rank), "--all"], capture_output=True, text=True,
                                      timeout=600).stdout
            held = re.findall(r"f32\[(?:qkv 3, )?\w+ (\d+)/(\d+)(?:, head \d+)?\] .*where y == z +param .*holds (\w+)",
                              page)
            check(f"vectors on {p}x{p}x{p}", len(held), 8)
            check(f"who holds them, rank {rank}", {what != "nothing" for *_, what in held}, {y == z})
            check("their parts", {int(whole) // int(part) for part, whole, _ in held}, {p * p})


def megatron():
    for ranks in (2, 4, 8, 64):
        b, s, h = 64, 3, ranks * 4
        text = layer(b, s, ranks, 4)
        for layout in ("megatron", "megatron_sequence"):
            check(f"{layout} on {ranks}", product_volume(text, layout, f"t={ranks}"),
                  4 * (ranks - 1) * b * s * h // ranks)
        check(f"data parallel on {ranks}", product_volume(text, "data_parallel", f"t={ranks}"), 0)
        # Every weight is gathered once.
        check(f"fsdp on {ranks}", product_volume(text, "fsdp", f"t={ranks}"),
              12 * (ranks - 1) * h * h // ranks)


def summa():
    """Weights and activations of one size on 2x2; elsewhere it is cheaper to move one of them less."""
    for q, s in ((2, 4), (2, 1), (2, 8), (3, 4), (4, 4), (8, 2)):
        b, heads, head = 4 * q, 2 * q, 8
        h = heads * head
        found = product_volume(layer(b, s, heads, head), "summa", f"r={q},c={q}")
        published = (q - 1) * (7 * b * s * h + 12 * h * h) // (q * q)
        check(f"2-D on {q}x{q}", found if (q, s) == (2, 4) else found <= published,
              published if (q, s) == (2, 4) else True)


def product():
    """C[M, K] = A[M, N] B[N, K] on 2x2x2: 64 + 16 + 128 = 208 elements received per rank."""
    text = """
dim m = 64, n = 8, k = 16
mesh cube = [x: 2, y: 2, z: 2]
layout cube3d on cube { m -> (x, *), n -> (z, *), k -> (y, *) }
fn layer(a: f32[m, n], b: f32[n, k]) { return einsum(a, b -> [m, k]) }
"""
    totals = plan(text, "layer", "cube3d", "x=2,y=2,z=2")["totals"]
    found = {(c["kind"], *c["axes"]): c["received"] for c in totals["collectives"]}
    check("a product on a cube", found,
          {("all_gather", "x"): 16, ("all_gather", "y"): 64, ("reduce_scatter", "z"): 128})


TABLE = (("data_parallel", "0; backward 2·(P-1)/P·W"),
         ("fsdp", "(P-1)/P·W; backward twice that when gathered again"),
         ("megatron", "4·(P-1)/P·bsh"), ("megatron_sequence", "4·(P-1)/P·bsh"),
         ("summa", "(q-1)/q²·(7bsh + 12h²)"), ("tesseract", "(q-1)/q²·(7bsh/d + 12h²)"),
         ("cube3d", "[(4(y-1) + 12(z-1))·bsh + 12(x-1)·h²]/P"),
         ("cube_diagonal", "the same; of a vector of n, n/p for each fetch"))


def table():
    """What `examples/parallel/README.md` shows."""
    text = layer(32, 4, 8, 8)
    meshes = {"summa": "r=2,c=2", "tesseract": "d=2,r=2,c=2", "cube3d": "x=2,y=2,z=2",
              "cube_diagonal": "x=2,y=2,z=2"}
    rows = ["| layout | ranks | forward | step | memory | published, forward |",
            "|---|---|---|---|---|---|"]
    for layout, published in TABLE:
        mesh = meshes.get(layout, "t=4")
        forward = plan(text, "layer", layout, mesh)["totals"]
        step = plan(text, "train_step", layout, mesh)["totals"]
        received = [sum(c["received"] for c in totals["collectives"]) for totals in (forward, step)]
        ranks = 8 if mesh.count(",") == 2 else 4
        rows.append(f"| {layout} | {ranks} | {received[0]:,} | {received[1]:,} "
                    f"| {step['peak_bytes'] / 1024:.0f} KiB | {published} |")
    return "\n".join(rows)


def readme():
    page = pathlib.Path("examples/parallel/README.md").read_text(encoding="utf-8")
    check("the table of examples/parallel/README.md", re.search(r"(^\|.*\n)+", page, re.M)[0].strip(),
          table())


if sys.argv[2:] == ["--table"]:
    print(table())
    sys.exit(0)
readme()
cube()
diagonal()
megatron()
summa()
product()
failures.end()

"""Single operations beside PyTorch's, one thread each: `./dev bench operations`.

A row is a name, an mtf program whose function `step` is what is timed, and a function that sets up
the same for PyTorch and returns what to call. Both are measured in turn, several times; mtf by the
median of `step` in `mtf run --profile`, which leaves out start-up and the making of inputs.
"""

import json
import math
import os
import statistics
import subprocess
import time
from typing import Callable, NamedTuple

CALLS = 9  # of the operation in each round
ROUNDS = 3


class Row(NamedTuple):
    name: str
    program: str  # makes the inputs and defines `step`
    call: str
    torch: Callable  # of the module: sets up, and returns what to call
    options: tuple = ()  # of `mtf run`
    counted: bool = True  # among what the goal is for


def vocabulary(torch):
    generator = torch.Generator().manual_seed(1)
    return (torch.randn(50257, 512, generator=generator),
            torch.randint(0, 50257, (16384,), generator=generator),
            torch.randn(16384, 512, generator=generator))


def torch_gather(torch):
    table, ids, _ = vocabulary(torch)
    return lambda: torch.nn.functional.embedding(ids, table)


def torch_scatter(torch):
    _, ids, rows = vocabulary(torch)
    return lambda: torch.zeros(50257, 512).index_add_(0, ids, rows)


def table_of(torch):
    return torch.randn(4096, 1024, generator=torch.Generator().manual_seed(1))


def torch_softmax(torch):
    x = table_of(torch)
    return lambda: torch.softmax(x, 1)


def torch_layer_norm(torch):
    x, scale, shift = table_of(torch), torch.ones(1024), torch.zeros(1024)
    return lambda: torch.nn.functional.layer_norm(x, (1024,), scale, shift)


def torch_cumsum(torch):
    x = torch.randn(10_000_000, generator=torch.Generator().manual_seed(1))
    return lambda: torch.cumsum(x, 0)


def torch_sort(torch):
    x = torch.randn(10_000_000, generator=torch.Generator().manual_seed(1))
    return lambda: torch.sort(x, stable=True).values


def torch_product(torch):
    generator = torch.Generator().manual_seed(1)
    x, w = (torch.randn(1024, 1024, generator=generator).bfloat16() for _ in range(2))
    return lambda: x @ w


PRODUCT = """\
dim row = 1024, inner = 1024, column = 1024
let x = normal([row, inner], dtype = bf16, seed = 1)
let w = normal([inner, column], dtype = bf16, seed = 2)
fn step(x: bf16[row, inner], w: bf16[inner, column]) { return einsum(x, w -> [row, column]) }
"""

TABLE = """\
dim row = 4096, column = 1024
let x = normal([row, column], seed = 1)
"""

LINE = """\
dim place = 10_000_000
let x = normal([place], seed = 1)
"""

VOCABULARY = """\
dim vocab = 50257, width = 512, places = 16384
let ids = integers([places], low = 0, high = 50257, seed = 2)
"""

ROWS = [
    Row("gather 16,384 of 50,257 x 512", VOCABULARY + """\
let table = normal([vocab, width], seed = 1)
fn step(table: f32[vocab, width], ids: i32[places]) { return gather(table, ids, over = vocab) }
""", "step(table, ids)", torch_gather),
    Row("scatter_add 16,384 to 50,257 x 512", VOCABULARY + """\
let rows = normal([places, width], seed = 1)
fn step(rows: f32[places, width], ids: i32[places]) { return scatter_add(rows, ids, over = vocab) }
""", "step(rows, ids)", torch_scatter),
    Row("softmax 4,096 x 1,024", TABLE + """\
fn step(x: f32[row, column]) { return softmax(x, over = column) }
""", "step(x)", torch_softmax),
    Row("layer norm 4,096 x 1,024", TABLE + """\
let scale = ones([column])
let shift = zeros([column])
fn step(x: f32[row, column], scale: f32[column], shift: f32[column]) {
  let centred = x - mean(x, over = column)
  return centred * rsqrt(mean(square(centred), over = column) + 1e-5) * scale + shift
}
""", "step(x, scale, shift)", torch_layer_norm),
    Row("cumsum of 10,000,000", LINE + """\
fn step(x: f32[place]) { return cumsum(x, over = place) }
""", "step(x)", torch_cumsum),
    Row("bf16 product of 1,024 cubed, --fast", PRODUCT, "step(x, w)", torch_product, ("--fast",)),
    Row("the same, exact (sums of f32)", PRODUCT, "step(x, w)", torch_product, counted=False),
    Row("sort of 10,000,000", LINE + """\
fn step(x: f32[place]) { return sort(x, over = place) }
""", "step(x)", torch_sort),
]


def mtf_seconds(mtf, folder, row):
    path = os.path.join(folder, "operation.mtf")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{row.program}for i in 0..{CALLS} {{ let y = {row.call} }}\n")
    out = subprocess.run([mtf, "run", path, "--profile", "--json", *row.options], check=True,
                         capture_output=True, text=True).stdout
    units = json.loads(out)["profile"]["units"]
    return next(unit["median"] for unit in units if unit["name"] == "step")


def torch_seconds(call):
    times = []
    for _ in range(CALLS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def run(mtf, folder, rows=None):
    try:
        import torch
    except ImportError:
        print("PyTorch is not installed")
        return
    torch.set_num_threads(1)
    rows = ROWS if rows is None else rows
    width = max(len(row.name) for row in rows)
    print(f"{'':{width}}  {'mtf ms':>9}  {'torch ms':>9}  {'ratio':>6}   (goal 1.10 in the mean, "
          "1.50 for each)")
    ratios = []
    for row in rows:
        call = row.torch(torch)
        call()  # takes its memory
        times = [(mtf_seconds(mtf, folder, row), torch_seconds(call)) for _ in range(ROUNDS)]
        mine, other = (statistics.median(side) for side in zip(*times))
        ratio = statistics.median(a / b for a, b in times)
        ratios += [ratio] if row.counted else []
        print(f"{row.name:{width}}  {mine * 1e3:9.3f}  {other * 1e3:9.3f}  {ratio:6.2f}", flush=True)
    mean = math.exp(statistics.fmean(math.log(ratio) for ratio in ratios))
    print(f"{'geometric mean':{width}}  {'':9}  {'':9}  {mean:6.2f}")

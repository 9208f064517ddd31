"""Operations on tables of many shapes beside PyTorch's, one thread each: `./dev bench shapes`.

What is fast on one shape may be slow on another, whose rows are short or whose sizes have no common
divisor with the canonical blocks. A row is an operation, a column a shape, a number the time of mtf
by that of PyTorch; those above `HIGH` are marked, where they are more than a few microseconds.
"""

import operations

HIGH = 2
SHORT = 2e-5  # seconds, of which the rest of a statement is a part

TABLES = [(100_000, 2), (100_000, 3), (20_000, 10), (10_000, 33), (2_000, 100), (1_000, 257),
          (200, 1_000), (10, 20_000)]
IMAGES = [(64, 4, 10, 3), (64, 3, 28, 28), (32, 3, 32, 32), (128, 1, 28, 28), (16, 12, 20, 20),
          (100, 2, 9, 50)]

# Of y over n and m, and r over m, in mtf and in PyTorch.
OF_TABLES = [
    ("sum over n", "sum(y, over = n)", lambda t, y, r: y.sum(0)),
    ("sum over m", "sum(y, over = m)", lambda t, y, r: y.sum(1)),
    ("sum of all", "sum(y)", lambda t, y, r: y.sum()),
    ("mean squared error", "mean((y - r) ** 2)", lambda t, y, r: ((y - r) ** 2).mean()),
    ("max over m", "max(y, over = m)", lambda t, y, r: y.max(1).values),
    ("max over n", "max(y, over = n)", lambda t, y, r: y.max(0).values),
    ("argmax over m", "argmax(y, over = m)", lambda t, y, r: y.argmax(1)),
    ("softmax over m", "softmax(y, over = m)", lambda t, y, r: y.softmax(1)),
    ("softmax over n", "softmax(y, over = n)", lambda t, y, r: y.softmax(0)),
    ("logsumexp over m", "logsumexp(y, over = m)", lambda t, y, r: y.logsumexp(1)),
    ("variance over m", "variance(y, over = m)", lambda t, y, r: y.var(1, unbiased=False)),
    ("norm over m", "norm(y, over = m)", lambda t, y, r: y.norm(dim=1)),
    ("cumsum over n", "cumsum(y, over = n)", lambda t, y, r: y.cumsum(0)),
    ("cumsum over m", "cumsum(y, over = m)", lambda t, y, r: y.cumsum(1)),
    ("sort over m", "sort(y, over = m)", lambda t, y, r: y.sort(1).values),
    ("transpose", "transpose(y, [m, n])", lambda t, y, r: y.t().contiguous()),
    ("add a row", "y + r", lambda t, y, r: y + r),
    ("concat over m", "concat([y, y], over = m)", lambda t, y, r: t.cat([y, y], 1)),
    ("reverse over m", "reverse(y, over = m)", lambda t, y, r: y.flip(1)),
    ("times a vector", "einsum(y, r -> [n])", lambda t, y, r: y @ r),
    ("y ** 3", "y ** 3", lambda t, y, r: y ** 3),
    ("erf", "erf(y)", lambda t, y, r: t.erf(y)),
]

# Of y over n, c, h and w.
OF_IMAGES = [
    ("sum of all", "sum(y)", lambda t, y: y.sum()),
    ("sum but over c", "sum(y, over = [n, h, w])", lambda t, y: y.sum((0, 2, 3))),
    ("sum but over n", "sum(y, over = [c, h, w])", lambda t, y: y.sum((1, 2, 3))),
    ("sum over h and w", "sum(y, over = [h, w])", lambda t, y: y.sum((2, 3))),
    ("mean square", "mean(square(y))", lambda t, y: (y * y).mean()),
    ("channels last", "transpose(y, [n, h, w, c])",
     lambda t, y: y.permute(0, 2, 3, 1).contiguous()),
    ("roll over w", "roll(y, w, 1)", lambda t, y: y.roll(1, 3)),
]


def table_row(torch, name, expression, call, shape):
    n, m = shape
    program = (f"dim n = {n}, m = {m}\nlet y = normal([n, m], seed = 1)\n"
               "let r = normal([m], seed = 2)\n"
               f"fn step(y: f32[n, m], r: f32[m]) {{ return {expression} }}\n")
    y, r = torch.randn(n, m), torch.randn(m)
    return operations.Row(name, program, "step(y, r)", None), lambda: call(torch, y, r)


def image_row(torch, name, expression, call, shape):
    n, c, h, w = shape
    program = (f"dim n = {n}, c = {c}, h = {h}, w = {w}\nlet y = normal([n, c, h, w], seed = 1)\n"
               f"fn step(y: f32[n, c, h, w]) {{ return {expression} }}\n")
    y = torch.randn(n, c, h, w)
    return operations.Row(name, program, "step(y)", None), lambda: call(torch, y)


def ratio_text(mtf, folder, row, call):
    call()  # takes its memory
    mine, other = operations.mtf_seconds(mtf, folder, row), operations.torch_seconds(call)
    is_high = mine > HIGH * other and mine > SHORT
    return f"{mine / other:.2f}{'*' if is_high else ' '}"


def run(mtf, folder):
    try:
        import torch
    except ImportError:
        print("PyTorch is not installed")
        return
    torch.set_num_threads(1)
    for shapes, cases, row_of in ((TABLES, OF_TABLES, table_row), (IMAGES, OF_IMAGES, image_row)):
        names = ["x".join(str(size) for size in shape) for shape in shapes]
        print(f"{'':20}" + "".join(f"{name:>13}" for name in names), flush=True)
        for name, expression, call in cases:
            texts = [ratio_text(mtf, folder, *row_of(torch, name, expression, call, shape))
                     for shape in shapes]
            print(f"{name:20}" + "".join(f"{text:>13}" for text in texts), flush=True)
    print(f"times of mtf by PyTorch's; *: more than {HIGH}, and more than {SHORT * 1e6:.0f} us")

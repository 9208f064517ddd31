#!/usr/bin/python3
"""Convolutions and pooling, and their gradients, against PyTorch, on drawn sizes and windows.

    torch_test.py MTF      exits with 77 (skipped) where PyTorch is missing
"""

import os
import random
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import torch
except ImportError:
    sys.exit(77)

SPACE, TAPS = ["h", "w", "z"], ["f_h", "f_w", "f_z"]
CASES = 40
MANY_CHANNELS = 12  # more cases
STORED = {"f64": torch.float64, "f32": torch.float32, "bf16": torch.bfloat16}
# What may be wrong of a number, and of the largest one.
CLOSE = {"f64": (1e-9, 1e-9), "f32": (0, 2e-5), "bf16": (2**-8, 2e-5)}


class Case:
    """A call on [n, c, space], in an order of its own, and the same for PyTorch."""

    dtype = "f64"

    def __init__(self, draw):
        pick = draw.choice
        self.rank = pick([1, 2, 2, 3])
        each = range(self.rank)
        self.groups = pick([1, 1, 2, 3])
        self.n, self.c, self.o = pick([1, 3]), self.groups * pick([1, 2, 4]), self.groups * pick([1, 3])
        self.taps = [pick([1, 2, 3, 5]) for _ in each]
        self.stride = [pick([1, 1, 2, 3]) for _ in each]
        self.dilation = [pick([1, 1, 2]) for _ in each]
        self.padding = [pick([0, 1, 2]) for _ in each]
        self.size = [draw.randint(max(1, (t - 1) * d + 1 - 2 * p), 14)
                     for t, d, p in zip(self.taps, self.dilation, self.padding)]
        self.last = draw.random() < 0.5  # channels
        self.space, self.kernel = SPACE[:self.rank], TAPS[:self.rank]
        self.by = pick(["conv", "conv", "conv_transpose", "max", "sum"])

    def values(self, *size):
        return torch.randn(*size, dtype=torch.float64).to(STORED[self.dtype]).to(torch.float64)

    def dims(self, channels, space):
        return ["n", *space, channels] if self.last else ["n", channels, *space]

    def call(self, out):
        lists = {"stride": self.stride, "dilation": self.dilation, "padding": self.padding}
        text = "".join(f", {name} = {numbers}" for name, numbers in lists.items())
        window = f"window = [{', '.join(self.space)}]"
        if self.by in ("max", "sum"):
            return f'pool(x -> {out}, {window}, size = {self.taps}{text}, by = "{self.by}")'
        return (f"{self.by}(x, k -> {out}, {window}, taps = [{', '.join(self.kernel)}]{text}, "
                f"groups = {self.groups}" + (", dtype = f32)" if self.dtype == "bf16" else ")"))


class ManyChannels(Case):
    """One that is done in Winograd's products."""

    def __init__(self, draw):
        super().__init__(draw)
        self.dtype = draw.choice(["f32", "bf16"])
        self.by = draw.choice(["conv", "conv_transpose"])
        self.rank, self.groups = 2, 1
        self.n, self.c, self.o = draw.choice([1, 3]), draw.choice([64, 96]), draw.choice([32, 40])
        self.taps, self.stride, self.dilation = [3, 3], [1, 1], [1, 1]
        self.padding = [draw.choice([0, 1, 2]) for _ in range(2)]
        self.size = [draw.randint(6, 14) for _ in range(2)]
        self.space, self.kernel = SPACE[:2], TAPS[:2]


def functional(name, rank):
    return getattr(torch.nn.functional, f"{name}{rank}d")


def reference(case):
    """x, k and y with the names of their dims, or None where PyTorch refuses."""
    draw = lambda *size: case.values(*size).requires_grad_()
    x = draw(case.n, case.c, *case.size)
    options = {"stride": case.stride, "padding": case.padding, "dilation": case.dilation}
    x_names, y_names = ["n", "c", *case.space], ["n", "o", *(name + "2" for name in case.space)]
    if case.by == "conv":
        k = draw(case.o, case.c // case.groups, *case.taps)
        y = functional("conv", case.rank)(x, k, groups=case.groups, **options)
        return (x, x_names), (k, ["o", "part", *case.kernel]), (y, y_names)
    if case.by == "conv_transpose":
        case.groups = 1  # PyTorch's kernel has the groups in the other dim
        k = draw(case.c, case.o, *case.taps)
        y = functional("conv_transpose", case.rank)(x, k, **options)
        return (x, x_names), (k, ["part", "o", *case.kernel]), (y, y_names)
    y_names[1] = "c"
    if case.by == "sum":
        case.groups = case.c  # of a kernel of ones
        ones = torch.ones(case.c, 1, *case.taps, dtype=torch.float64)
        y = functional("conv", case.rank)(x, ones, groups=case.c, **options)
    elif any(2 * p > t for p, t in zip(case.padding, case.taps)):
        return None
    else:
        y = functional("max_pool", case.rank)(x, case.taps, **options)
    return (x, x_names), None, (y, y_names)


def ordered(tensor, names, order):
    return tensor.detach().permute(*(names.index(name) for name in order)).contiguous().numpy()


def wrong_in(case, mtf, folder):
    try:
        found = reference(case)
    except RuntimeError:
        found = None
    if found is None or min(found[2][0].shape) < 1:
        return None
    (x, x_names), kernel, (y, y_names) = found
    weight = case.values(*y.shape)
    k, k_names = kernel if kernel else (x, x_names)
    tensors = [x, k] if kernel else [x]
    gradients = torch.autograd.grad((y * weight).sum(), tensors)
    own = "part" if case.groups > 1 else "c"
    k_names = [own if name == "part" else name for name in k_names]
    x_order, y_order = case.dims("c", case.space), case.dims(y_names[1], y_names[2:])
    k_order = [*case.kernel, own, "o"] if case.last else ["o", own, *case.kernel]
    sizes = {}
    for tensor, names in ((x, x_names), (y, y_names), *([(k, k_names)] if kernel else [])):
        sizes.update(zip(names, tensor.shape))
    expected = {"y": ordered(y, y_names, y_order), "dx": ordered(gradients[0], x_names, x_order)}
    files = {"x": ordered(x, x_names, x_order), "weight": ordered(weight, y_names, y_order)}
    shape = lambda order: "[" + ", ".join(order) + "]"
    text = f"dim {', '.join(f'{name} = {size}' for name, size in sizes.items())}\n"
    load = lambda name, order, dtype: f'let {name} = cast(load("{name}.npy", {shape(order)}), {dtype})\n'
    wide = "f32" if case.dtype == "bf16" else case.dtype
    text += load("x", x_order, case.dtype) + load("weight", y_order, wide)
    if kernel:
        files["k"] = ordered(k, k_names, k_order)
        expected["dk"] = ordered(gradients[1], k_names, k_order)
        text += load("k", k_order, case.dtype)
    inputs = "x, k, weight" if kernel else "x, weight"
    text += (f"fn f({inputs}) {{\n  let y = {case.call(shape(y_order))}\n  let l = sum(y * weight)\n"
             f"  return {'y, grad(l, x), grad(l, k)' if kernel else 'y, grad(l, x)'}\n}}\n"
             f"let {', '.join(expected)} = f({inputs})\n")
    text += "".join(f'write("{name}.npy", cast({name}, f64))\n' for name in expected)
    for name, array in files.items():
        np.save(os.path.join(folder, name + ".npy"), array)
    with open(os.path.join(folder, "case.mtf"), "w", encoding="utf-8") as file:
        file.write(text)
    done = subprocess.run([mtf, "run", "case.mtf"], cwd=folder, capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        return text + done.stdout + done.stderr
    for name, wanted in expected.items():
        mine = np.load(os.path.join(folder, name + ".npy"))
        of_number, of_largest = CLOSE[wide if name == "y" else case.dtype]
        room = of_largest * np.abs(wanted).max(initial=1)
        if mine.shape != wanted.shape or not np.allclose(mine, wanted, rtol=of_number, atol=room):
            return f"{text}{name}:\n{mine}\nPyTorch:\n{wanted}"
    return ""


def main():
    mtf = os.path.abspath(sys.argv[1])
    torch.manual_seed(1)
    draw = random.Random(1)
    outcomes = []
    with tempfile.TemporaryDirectory() as folder:
        while len(outcomes) < CASES + MANY_CHANNELS:
            case = Case(draw) if len(outcomes) < CASES else ManyChannels(draw)
            wrong = wrong_in(case, mtf, folder)
            if wrong is not None:
                outcomes.append(wrong)
                print(wrong, end="")
    wrong = sum(1 for outcome in outcomes if outcome)
    print(f"{len(outcomes) - wrong} of {len(outcomes)} calls agree with PyTorch")
    sys.exit(1 if wrong else 0)


main()

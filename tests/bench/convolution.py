"""The rows of `./dev bench convolution`: convolutions and pooling beside PyTorch's, both with
channels before rows and columns, 32 x 64 x 56 x 56 and windows of 3 x 3; and one of few channels,
which are last in both."""

SIZES = """\
dim n = 32, c = 64, o = 64, h = 56, w = 56, f_h = 3, f_w = 3
let x = normal([n, c, h, w], seed = 1)
let k = normal([o, c, f_h, f_w], seed = 2)
"""
CONV = ('conv(x, k -> [n, o, h, w], window = [h, w], taps = [f_h, f_w], '
        'padding = "same")')


FEW = """\
dim n = 32, c = 16, o = 16, h = 32, w = 32, f_h = 3, f_w = 3
let x = normal([n, h, w, c], seed = 1)
let k = normal([f_h, f_w, c, o], seed = 2)
fn step(x: f32[n, h, w, c], k: f32[f_h, f_w, c, o]) {
  return conv(x, k -> [n, h, w, o], window = [h, w], taps = [f_h, f_w], padding = "same")
}
"""


def drawn(torch):
    generator = torch.Generator().manual_seed(1)
    return (torch.randn(32, 64, 56, 56, generator=generator),
            torch.randn(64, 64, 3, 3, generator=generator))


def backward(torch, mask, stride=1):
    x, k = drawn(torch)
    y = torch.nn.functional.conv2d(x, k, padding=1, stride=stride)
    return lambda: torch.ops.aten.convolution_backward(
        y, x, k, None, [stride] * 2, [1, 1], [1, 1], False, [0, 0], 1, mask)


def torch_forward(torch, stride=1):
    x, k = drawn(torch)
    return lambda: torch.nn.functional.conv2d(x, k, padding=1, stride=stride)


def torch_few(torch):
    last = {"memory_format": torch.channels_last}
    x = torch.randn(32, 16, 32, 32).to(**last)
    k = torch.randn(16, 16, 3, 3).to(**last)
    return lambda: torch.nn.functional.conv2d(x, k, padding=1)


def torch_pool(torch):
    x, _ = drawn(torch)
    return lambda: torch.nn.functional.max_pool2d(x, 3, 2, 1)


def torch_depthwise(torch):
    x, k = drawn(torch)
    return lambda: torch.nn.functional.conv2d(x, k[:, :1].contiguous(), padding=1, groups=64)


def rows(row):
    fn = "fn step(x: f32[n, c, h, w], k: f32[o, c, f_h, f_w]) { return "
    args = 'window = [h, w], taps = [f_h, f_w], padding = "same"'
    y = "let y = normal([n, o, h, w], seed = 3)\n"
    return [
        row("conv 3x3, forward", SIZES + f"{fn}{CONV} }}\n", "step(x, k)", torch_forward),
        row("conv 3x3, gradient of x", SIZES + y + f"""\
fn step(y: f32[n, o, h, w], k: f32[o, c, f_h, f_w]) {{
  return conv_transpose(y, k -> [n, c, h, w], {args})
}}
""", "step(y, k)", lambda torch: backward(torch, [True, False, False])),
        row("conv 3x3, gradient of k", SIZES + y + f"""\
fn step(x: f32[n, c, h, w], y: f32[n, o, h, w]) {{
  return conv_kernel(x, y -> [o, c, f_h, f_w], {args})
}}
""", "step(x, y)", lambda torch: backward(torch, [False, True, False])),
        row("conv 3x3, stride 2", SIZES + f"{fn}{CONV[:-1]}, stride = 2) }}\n", "step(x, k)",
            lambda torch: torch_forward(torch, 2)),
        row("conv 3x3, depthwise", SIZES + f"""\
let each = normal([c, f_h, f_w], seed = 2)
fn step(x: f32[n, c, h, w], k: f32[c, f_h, f_w]) {{ return conv(x, k -> [n, c, h, w], {args}) }}
""", "step(x, each)", torch_depthwise),
        row("conv 3x3, 16 channels, last", FEW, "step(x, k)", torch_few),
        row("max pool 3x3, stride 2", SIZES + """\
fn step(x: f32[n, c, h, w]) { return pool(x, window = [h, w], size = 3, stride = 2, padding = 1) }
""", "step(x)", torch_pool),
    ]

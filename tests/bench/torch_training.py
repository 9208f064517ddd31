#!/usr/bin/python3
"""Training steps of PyTorch's, in a process of its own: torch_training.py NAME THREADS STEPS
[f32 | bf16, by autocast]

Prints as JSON the seconds of each step, the peak of memory in bytes, and the GFLOP/s of a product,
which tell whether this PyTorch has a fast BLAS.
"""

import json
import os
import resource
import sys
import time

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "oracle"))
import gpt2  # noqa: E402

functional = torch.nn.functional


NARROW = sys.argv[4:] == ["bf16"]


def step_of(params, loss_of, optimizer):
    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=NARROW):
            loss = loss_of()
        loss.backward()
        optimizer.step()
    return step


def language_model():
    params, ids, labels = gpt2.drawn(gpt2.FULL)
    tensors = [tensor.requires_grad_() for tensor in params.values()]
    return step_of(tensors, lambda: gpt2.loss_of(params, ids, labels, gpt2.FULL),
                   torch.optim.AdamW(tensors, lr=3e-4))


def mlp():
    x = torch.randn(512, 1024)
    w, v = (0.03 * torch.randn(shape) for shape in ((1024, 4096), (4096, 1024)))
    tensors = [tensor.requires_grad_() for tensor in (w, torch.zeros(4096), v)]
    return step_of(tensors, lambda: functional.mse_loss(
        torch.relu(x @ tensors[0] + tensors[1]) @ tensors[2], x), torch.optim.SGD(tensors, lr=0.1))


class Block(torch.nn.Module):
    def __init__(self, before, after, stride):
        super().__init__()
        conv, norm = torch.nn.Conv2d, torch.nn.BatchNorm2d
        self.body = torch.nn.Sequential(
            conv(before, after, 3, stride, 1, bias=False), norm(after), torch.nn.ReLU(),
            conv(after, after, 3, 1, 1, bias=False), norm(after))
        self.short = torch.nn.Identity() if stride == 1 else torch.nn.Sequential(
            conv(before, after, 1, stride, bias=False), norm(after))

    def forward(self, x):
        return torch.relu(self.body(x) + self.short(x))


def resnet():
    layers = [torch.nn.Conv2d(3, 64, 3, 1, 1, bias=False), torch.nn.BatchNorm2d(64), torch.nn.ReLU()]
    for before, after in ((64, 64), (64, 128), (128, 256), (256, 512)):
        layers += [Block(before, after, 1 if before == after else 2), Block(after, after, 1)]
    net = torch.nn.Sequential(*layers, torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(),
                              torch.nn.Linear(512, 10))
    x, labels = torch.randn(32, 3, 32, 32), torch.randint(0, 10, (32,))
    return step_of(list(net.parameters()), lambda: functional.cross_entropy(net(x), labels),
                   torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9))


def timed(call, times):
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return seconds


def main():
    name, threads, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    torch.set_num_threads(threads)
    seconds = timed({"language_model": language_model, "mlp": mlp, "resnet": resnet}[name](), steps)
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    a = torch.randn(512, 512)
    rate = 2 * 512 ** 3 / min(timed(lambda: a @ a, 5)) / 1e9
    print(json.dumps({"seconds": seconds, "peak": peak, "gflops": rate}))


main()

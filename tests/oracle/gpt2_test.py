"""One step of a decoder: its loss and all its gradients are PyTorch's, from the same weights. In bf16
they are as near to these as those of PyTorch's autocast.

    gpt2_test.py MTF         on a small shape; exits with 77 (skipped) where PyTorch is missing
    gpt2_test.py MTF long    on GPT-2's: some 6 GB of memory
"""

import os
import subprocess
import sys
import tempfile

try:
    import numpy
    import torch
except ImportError:
    sys.exit(77)

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import gpt2  # noqa: E402  what needs PyTorch comes behind the question whether it is there

TOLERANCE = 1e-4
NARROW = 2e-2  # of a loss with 8 bits a number, relative
FARTHER = 1.5  # than autocast, of all gradients together
STEP = gpt2.MODEL + """
fn gradients(ids: i32[batch, length], labels: i32[batch, length]) {
  let loss = loss_of(ids, labels)
  return [loss] + grad(loss, gpt)
}

restore "weights.safetensors"
let ids = load("ids.npy", [batch, length])
let all = gradients(ids, load("labels.npy", [batch, length]))
write("loss.npy", all[0])
let ps = params(gpt)
for i in 0..len(ps) {
  print path(ps[i])
  write("gradient_{i}.npy", all[i + 1])
}
"""


def differentiated(params, ids, labels, size):
    loss = gpt2.loss_of(params, ids, labels, size)
    gradients = torch.autograd.grad(loss, list(params.values()))
    return loss.item(), dict(zip(params, (gradient.numpy() for gradient in gradients)))


def expected(size, folder):
    """Losses and gradients by path, full and by autocast; what mtf reads is in the folder."""
    params, ids, labels = gpt2.drawn(size)
    gpt2.write_safetensors(os.path.join(folder, "weights.safetensors"), params)
    for name, values in (("ids", ids), ("labels", labels)):
        numpy.save(os.path.join(folder, name + ".npy"), values.numpy().astype(numpy.int32))
    for tensor in params.values():
        tensor.requires_grad_()
    full = differentiated(params, ids, labels, size)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return full, differentiated(params, ids, labels, size)


def error(mine, wanted):
    """Of the whole tensor and of its worst element, relative to the largest."""
    if mine.shape != wanted.shape:
        return float("inf")
    off = mine.astype(numpy.float64) - wanted
    return max(numpy.linalg.norm(off) / numpy.linalg.norm(wanted),
               numpy.abs(off).max() / numpy.abs(wanted).max())


def run(mtf, folder, size, *words):
    """The loss and the gradients by path."""
    options = [text for name, value in size.items() for text in (f"--{name}", str(value))]
    done = subprocess.run([mtf, "run", "step.mtf", "--layout", "one", *words, "--", *options],
                          cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    return (numpy.load(os.path.join(folder, "loss.npy")).item(),
            {path: numpy.load(os.path.join(folder, f"gradient_{i}.npy"))
             for i, path in enumerate(done.stdout.split())})


def distance(gradients, wanted):
    """Of all elements together, relative to all."""
    off = sum(numpy.sum((gradients[path].astype(numpy.float64) - wanted[path]) ** 2) for path in wanted)
    return (off / sum(numpy.sum(wanted[path].astype(numpy.float64) ** 2) for path in wanted)) ** 0.5


def check_narrow(mtf, folder, size, full, autocast):
    for precision in ("bf16", "bf16,gradients=bf16"):
        loss, gradients = run(mtf, folder, size, "--precision", precision)
        assert abs(loss / full[0] - 1) <= NARROW, (precision, loss, full[0])
        mine, theirs = distance(gradients, full[1]), distance(autocast[1], full[1])
        assert 0 < mine <= FARTHER * theirs, (precision, mine, theirs)
        print(f"{precision}: loss {loss:.7g}, autocast's {autocast[0]:.7g}; gradients {mine:.1e} off, "
              f"autocast's {theirs:.1e}")


def main():
    mtf, is_long = os.path.abspath(sys.argv[1]), len(sys.argv) > 2
    size = gpt2.FULL if is_long else gpt2.SMALL
    with tempfile.TemporaryDirectory() as folder:
        full, autocast = expected(size, folder)
        loss, gradients = full
        with open(os.path.join(folder, "step.mtf"), "w", encoding="utf-8") as file:
            file.write(STEP)
        mine, found = run(mtf, folder, size)
        assert sorted(found) == sorted(gradients), set(found) ^ set(gradients)
        assert abs(mine / loss - 1) <= TOLERANCE, (mine, loss)
        errors = {path: error(found[path], gradients[path]) for path in found}
        check_narrow(mtf, folder, size, full, autocast)
    worst = max(errors, key=errors.get)
    assert errors[worst] <= TOLERANCE, (worst, errors[worst])
    print(f"loss {mine:.7g}, PyTorch's {loss:.7g}; of {len(errors)} gradients {worst} is farthest: "
          f"{errors[worst]:.1e}")


main()

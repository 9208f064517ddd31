"""One step of a decoder: its loss and all its gradients are PyTorch's, from the same weights.

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


def expected(size, folder):
    """The loss and the gradients by path; what mtf reads is in the folder."""
    params, ids, labels = gpt2.drawn(size)
    gpt2.write_safetensors(os.path.join(folder, "weights.safetensors"), params)
    for name, values in (("ids", ids), ("labels", labels)):
        numpy.save(os.path.join(folder, name + ".npy"), values.numpy().astype(numpy.int32))
    for tensor in params.values():
        tensor.requires_grad_()
    loss = gpt2.loss_of(params, ids, labels, size)
    gradients = torch.autograd.grad(loss, list(params.values()))
    return loss.item(), dict(zip(params, (gradient.numpy() for gradient in gradients)))


def error(mine, wanted):
    """Of the whole tensor and of its worst element, relative to the largest."""
    if mine.shape != wanted.shape:
        return float("inf")
    off = mine.astype(numpy.float64) - wanted
    return max(numpy.linalg.norm(off) / numpy.linalg.norm(wanted),
               numpy.abs(off).max() / numpy.abs(wanted).max())


def run(mtf, folder, size):
    options = [text for name, value in size.items() for text in (f"--{name}", str(value))]
    done = subprocess.run([mtf, "run", "step.mtf", "--layout", "one", "--", *options], cwd=folder,
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    return done.stdout.split()


def main():
    mtf, is_long = os.path.abspath(sys.argv[1]), len(sys.argv) > 2
    size = gpt2.FULL if is_long else gpt2.SMALL
    with tempfile.TemporaryDirectory() as folder:
        loss, gradients = expected(size, folder)
        with open(os.path.join(folder, "step.mtf"), "w", encoding="utf-8") as file:
            file.write(STEP)
        paths = run(mtf, folder, size)
        assert sorted(paths) == sorted(gradients), set(paths) ^ set(gradients)
        mine = numpy.load(os.path.join(folder, "loss.npy")).item()
        assert abs(mine / loss - 1) <= TOLERANCE, (mine, loss)
        errors = {path: error(numpy.load(os.path.join(folder, f"gradient_{i}.npy")), gradients[path])
                  for i, path in enumerate(paths)}
    worst = max(errors, key=errors.get)
    assert errors[worst] <= TOLERANCE, (worst, errors[worst])
    print(f"loss {mine:.7g}, PyTorch's {loss:.7g}; of {len(errors)} gradients {worst} is farthest: "
          f"{errors[worst]:.1e}")


main()

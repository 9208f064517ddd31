"""A program that trains, saves and resumes, and the one format that all of it is in."""

import json
import os
import pathlib
import struct
import subprocess
import sys

import numpy

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from verdict import fail  # noqa: E402

MTF = str(pathlib.Path(sys.argv[1]).resolve())
LINE = "run/step_6.safetensors"
# Dims of 8 and 16 are split by powers of two, so that all layouts have the same bits.
TRAIN = """\
import optim
dim batch = 8, io = 8, hidden = 16
mesh grid = [rows: 2, cols: 2]
mesh line = [r: 4]
mesh pair = [p: 2]
mesh cube = [a: 2, b: 2, c: 2]
layout one on pair { }
layout both on grid { batch -> rows; hidden -> cols }
layout data on line { batch -> r; params { io -> r } }
layout wide on pair { hidden -> p }
layout some on cube { batch -> a; hidden -> b; at "*/m" { io -> a } }

model net(x: f32[batch, io]) -> f32[batch, io] {
  param w : f32[io, hidden] = normal(stddev = 0.3)
  param b : f32[hidden] = zeros
  param v : f32[hidden, io] = normal(stddev = 0.3)
  let h = dropout(relu(einsum(x, w -> [batch, hidden]) + b), rate = 0.2)
  return einsum(h, v -> [batch, io])
}
fn train(x: f32[batch, io]) {
  let loss = mean(square(net(x) - x))
  minimize loss with optim.adam(lr = 0.01)
  return loss
}
state step : i32[] = zeros
let from = setting("from", "")
if len(from) > 0 { restore from }
let x = normal([batch, io], seed = 7)
while step < setting("steps", 12) {
  print "step {step} loss {text(train(x))}"
  step <- step + 1
  if int(step) % setting("every", 3) == 0 { save "run/step_{step}.safetensors", keep = 3 }
}
"""
RANKS = {"one": 2, "both": 4, "data": 4, "wide": 2, "some": 8}


def line(layout, mpi=True, settings=""):
    """The command that runs it; on ranks of its own, or simulated."""
    command = ["mpirun", "--oversubscribe", "-n", str(RANKS[layout]), MTF, "run"] if mpi else [MTF, "run"]
    return [*command, "train.mtf", "--layout", layout, *(["--set", settings] if settings else [])]


def run(folder, command, status=0, **options):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600,
                          check=False, **options)
    if done.returncode != status:
        fail(f"{' '.join(command)}: status {done.returncode}", done.stdout, done.stderr)
    return done


def run_any(folder, words, environment):
    """Of the case, however it ends."""
    return subprocess.run([MTF, "run", "case.mtf", *words], cwd=folder, capture_output=True, text=True,
                          timeout=600, check=False, env={**os.environ, **environment})


def program(folder, text, *words, status=0, **options):
    pathlib.Path(folder, "case.mtf").write_text(text, encoding="utf-8")
    return run(folder, [MTF, "run", "case.mtf", *words], status, **options)


def read(path):
    """Header and arrays of a safetensors file, by its format's rules alone."""
    data = pathlib.Path(path).read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    if (8 + size) % 8 != 0 or data[8:9] != b"{":
        fail(f"{path}: the header is not aligned")
    notes = header.pop("__metadata__", {})
    kinds = {"F32": "<f4", "F64": "<f8", "I32": "<i4", "I64": "<i8", "F16": "<f2", "U8": "u1",
             "BOOL": "?", "BF16": "<u2", "I16": "<i2", "I8": "i1"}
    arrays = {}
    ends = 0
    for name, tensor in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        begin, end = tensor["data_offsets"]
        if begin != ends:
            fail(f"{path}: a hole before {name}")
        ends = end
        kind = numpy.dtype(kinds[tensor["dtype"]])
        if (8 + size + begin) % kind.itemsize != 0:
            fail(f"{path}: {name} is not aligned")
        arrays[name] = numpy.frombuffer(data[8 + size + begin:8 + size + end], kind).reshape(
            tensor["shape"])
    if 8 + size + ends != len(data):
        fail(f"{path}: {len(data)} bytes, of which {8 + size + ends} are used")
    return notes, arrays


def write(path, arrays, kinds=None):
    """A plain file as others write it; `kinds`: dtypes that NumPy does not have."""
    names = {"<f4": "F32", "<f8": "F64", "<i4": "I32", "<i8": "I64", "<f2": "F16", "|u1": "U8",
             "<u2": "BF16", "|b1": "BOOL", "<i2": "I16", "|i1": "I8",
             "<u4": "U32", "<u8": "U64"}
    header, data = {}, b""
    for name, array in arrays.items():
        kind = (kinds or {}).get(name, names[array.dtype.str])
        header[name] = {"dtype": kind, "shape": list(array.shape),
                        "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text)) + text + data)


def checkpoints(folder):
    return sorted(os.listdir(pathlib.Path(folder, "run"))) if pathlib.Path(
        folder, "run").is_dir() else []

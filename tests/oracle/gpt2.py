"""A decoder of GPT-2's shape: as a program of the standard library, and the same of PyTorch's.

Positions are learned, the words' table is tied to the output, products have no biases.
"""

import json

import numpy
import torch

FULL = {"batches": 4, "window": 64, "layers": 12, "width": 768, "head_count": 12, "words": 50257}
SMALL = {"batches": 3, "window": 10, "layers": 2, "width": 24, "head_count": 3, "words": 101}

MODEL = """\
import nn
import optim
import transformer

option batches = 4
option window = 64
option layers = 12
option width = 768
option head_count = 12
option words = 50257

dim batch = batches, length = window, vocab = words
dim d_model = width, d_ff = 4 * width, heads = head_count, head = width // head_count

mesh line = [ranks: 2]
layout one   on line { }
layout data  on line { batch -> ranks }
layout split on line uneven { vocab, d_ff, heads -> ranks }

model gpt(ids: i32[batch, length]) {
  param table : f32[vocab, d_model] = normal(stddev = 0.02)
  param places : f32[length, d_model] = normal(stddev = 0.02)
  fn layer(x) {
    return transformer.layer(x, length, d_model, d_ff, heads, head, causal = true, feed = "gelu")
  }

  let x = gather(table, ids, over = vocab) + places
  let h = transformer.stack_of(x, layer, layers) as "layers"
  let y = nn.layer_norm(h, d_model) as "norm"
  return sum(y * table, over = d_model)
}

fn loss_of(ids, labels) {
  return mean(nn.softmax_cross_entropy(gpt(ids), labels, over = vocab))
}
"""


def shapes(size):
    """Of each param, by its path."""
    width, heads = size["width"], size["head_count"]
    head, vectors = width // heads, ("scale", "shift")
    layer = {f"{part}/norm/{name}": [width] for part in ("attention", "feed_forward") for name in vectors}
    layer |= {f"attention/{name}": [width, heads, head] for name in ("wq", "wk", "wv")}
    layer |= {"attention/wo": [heads, head, width],
              "feed_forward/w_in": [width, 4 * width], "feed_forward/w_out": [4 * width, width]}
    result = {"table": [size["words"], width], "places": [size["window"], width]}
    for i in range(size["layers"]):
        result |= {f"layers/layer_{i}/{name}": shape for name, shape in layer.items()}
    result |= {f"norm/{name}": [width] for name in vectors}
    return {f"gpt/{name}": shape for name, shape in result.items()}


def drawn(size, seed=1):
    """Params by path, ids and labels. Scales and shifts are not what they begin with, so that both count."""
    generator = torch.Generator().manual_seed(seed)
    params = {}
    for path, shape in shapes(size).items():
        deviation = 0.02 if path in ("gpt/table", "gpt/places") else shape[0] ** -0.5
        values = torch.randn(shape, generator=generator)
        params[path] = 1 + 0.1 * values if path.endswith("scale") else deviation * values
    ids, labels = (torch.randint(0, size["words"], (size["batches"], size["window"]), generator=generator)
                   for _ in range(2))
    return params, ids, labels


def loss_of(params, ids, labels, size):
    """PyTorch's loss of params by path."""
    functional = torch.nn.functional
    width = size["width"]
    ahead = torch.full((size["window"],) * 2, float("-inf")).triu(1)

    def norm(x, path):
        return functional.layer_norm(x, (width,), params[f"{path}/scale"], params[f"{path}/shift"])

    def projected(x, w):  # [batch, heads, length, head]
        return (x @ w.reshape(width, -1)).unflatten(2, w.shape[1:]).transpose(1, 2)

    x = functional.embedding(ids, params["gpt/table"]) + params["gpt/places"]
    for i in range(size["layers"]):
        attention, feed = (f"gpt/layers/layer_{i}/{part}" for part in ("attention", "feed_forward"))
        h = norm(x, f"{attention}/norm")
        q, k, v = (projected(h, params[f"{attention}/{name}"]) for name in ("wq", "wk", "wv"))
        scores = q @ k.transpose(2, 3) * q.shape[3] ** -0.5 + ahead
        mixed = (torch.softmax(scores, 3) @ v).transpose(1, 2).flatten(2)
        x = x + mixed @ params[f"{attention}/wo"].reshape(-1, width)
        h = norm(x, f"{feed}/norm") @ params[f"{feed}/w_in"]
        x = x + functional.gelu(h, approximate="tanh") @ params[f"{feed}/w_out"]
    logits = norm(x, "gpt/norm") @ params["gpt/table"].T
    return functional.cross_entropy(logits.flatten(0, 1), labels.flatten())


def write_safetensors(path, tensors):
    header, place = {}, 0
    for name, tensor in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(tensor.shape),
                        "data_offsets": [place, place + 4 * tensor.numel()]}
        place += 4 * tensor.numel()
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for tensor in tensors.values():
            file.write(tensor.detach().numpy().astype(numpy.float32).tobytes())

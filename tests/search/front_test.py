"""What stands beside an answer is never better than it: by the plans of the whole, of which layers that repeat are
priced by a few."""

import sys

from programs import mtf

NET = """
import nn
import optim
import transformer
dim b = 4, t = 8, d = 16, ff = 32, heads = 4, hd = 4, vocab = 32
mesh g = [x: 2, y: 2]
model lm(ids: i32[b, t]) {
  param table : f32[vocab, d] = normal(stddev = 0.2)
  var h = gather(table, ids, over = vocab)
  for i in 0..3 {
    h = transformer.layer(h, t, d, ff, heads, hd, causal = true) as "layer_{i}"
  }
  param out : f32[d, vocab] = normal(stddev = 0.2)
  return sum(h * out, over = d)
}
fn step(ids: i32[b, t]) {
  with precision bf16 {
    let loss = mean(nn.softmax_cross_entropy(lm(ids), shift(ids, over = t, by = -1), over = vocab))
    minimize loss with optim.adamw(lr = 0.01)
    return loss
  }
}
"""


def check(binary, memory, hardware):
    status, found, errors = mtf(binary, "search", "-", "step", "--memory", memory, "--hardware", hardware, "--json",
                                text=NET)
    assert status == 0, errors
    best = found["best"]
    assert len(found["front"]) > 1, found["front"]
    for other in found["front"]:
        assert other["seconds"] >= best["seconds"] or other["peak_bytes"] > best["peak_bytes"], (memory, best, other)
    return found["fits"]


def main():
    fits = [check(sys.argv[1], memory, hardware) for memory, hardware in
            (("40KiB", "tpu_v3"), ("1MiB", "cpu_core"))]
    assert any(fits) and not all(fits), fits
    print(f"{len(fits)} answers, with nothing better beside them")


if __name__ == "__main__":
    main()

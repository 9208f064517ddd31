"""What stands beside an answer is never better than it: by the plans of the whole, of which layers that repeat are
priced by a few. What is said of a dim's next best place is what `--explain` says of it."""

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


PUBLISHED = "examples/published"


def check_dims(found):
    """The dims whose next best place is shown."""
    def merit(seconds, peak):
        return max(0, peak - found["memory"]) if found["memory"] > 0 else 0, seconds

    best = merit(found["best"]["seconds"], found["best"]["peak_bytes"])
    others = [dim for dim in found["dims"] if dim["runner_up"] is not None]
    for dim in others:
        assert merit(dim["runner_up"]["value"], dim["runner_up"]["peak_bytes"]) >= best, (dim, best)
    return others


def check_published(binary, name, explains):
    search = ("search", f"{PUBLISHED}/{name}.mtf", "train_step", "--json")
    status, found, errors = mtf(binary, *search)
    assert status == 0, errors
    others = check_dims(found)
    assert len(others) > 2, found["dims"]
    if not explains:
        return
    least = min(others, key=lambda dim: dim["runner_up"]["value"])
    place = least["runner_up"]["place"]
    status, explained, errors = mtf(binary, *search, "--explain", f"{least['dim']}->{place}")
    assert status == 0, errors
    assert explained["explained"]["seconds"] == least["runner_up"]["value"], (least, explained["explained"])


def check(binary, memory, hardware):
    status, found, errors = mtf(binary, "search", "-", "step", "--memory", memory, "--hardware", hardware, "--json",
                                text=NET)
    assert status == (0 if found["fits"] else 1), (found["diagnostics"], errors)
    best = found["best"]
    assert len(found["front"]) > 1, found["front"]
    for other in found["front"]:
        assert other["seconds"] >= best["seconds"] or other["peak_bytes"] > best["peak_bytes"], (memory, best, other)
    check_dims(found)
    return found["fits"]


def main():
    fits = [check(sys.argv[1], memory, hardware) for memory, hardware in
            (("40KiB", "tpu_v3"), ("1MiB", "cpu_core"))]
    assert any(fits) and not all(fits), fits
    published = ("megatron", "dense_decoder", "three_d")
    for name in published:
        check_published(sys.argv[1], name, explains=name == "three_d")
    print(f"{len(fits) + len(published)} answers, with nothing better beside them")


if __name__ == "__main__":
    main()

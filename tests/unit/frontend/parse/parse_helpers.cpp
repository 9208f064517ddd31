#include "tests/unit/frontend/parse/parse_helpers.h"

namespace mtf::test {

std::string_view Parsed::text(SourceSpan span) const {
  return std::string_view(sources.file(id).text).substr(span.begin, span.end - span.begin);
}

Parsed parse_text(std::string text) {
  Parsed result;
  result.id = result.sources.add({.name = "test.mtf", .path = "", .text = std::move(text)});
  result.file = parse(result.id, result.sources, result.diags);
  return result;
}

std::vector<std::string> errors(std::string text) {
  const Parsed parsed = parse_text(std::move(text));
  std::vector<std::string> result;
  const auto place = [&](SourceSpan span) {
    const Place at = parsed.sources.place(span.file, span.begin);
    return std::to_string(at.line) + ":" + std::to_string(at.column) + " ";
  };
  for (const Diag& diag : parsed.diags.diags()) {
    result.push_back(place(diag.span) + diag.text);
    for (const Note& note : diag.notes) {
      result.push_back(place(note.span) + "note: " + note.text);
    }
  }
  return result;
}

std::string tree(std::string text) {
  const Parsed parsed = parse_text(text);
  if (parsed.file) {
    return ast::to_string(*parsed.file);
  }
  std::string all;
  for (const std::string& error : errors(std::move(text))) {
    all += error + "\n";
  }
  return all;
}

std::string expression(const std::string& text) {
  const std::string printed = tree("let value = " + text);
  return printed.starts_with("let value = ") ? printed.substr(12, printed.size() - 13) : printed;
}

const std::string_view kTwoLayer =
    R"(# Two fully-connected layers: Mesh-TensorFlow paper, section 8.
import optim

dim batch = 64, io = 32, hidden = 128

mesh grid = [rows: 2, cols: 2]

layout replicated     on grid { }
layout data_parallel  on grid { batch -> rows }
layout model_parallel on grid { hidden -> cols }
layout both           on grid { batch -> rows, hidden -> cols }

model two_layer(x: f32[batch, io]) -> f32[batch, io] {
  param w    : f32[io, hidden] = normal(stddev = 0.1)
  param bias : f32[hidden]     = zeros
  param v    : f32[hidden, io] = normal(stddev = 0.1)
  let h = relu(einsum(x, w -> [batch, hidden]) + bias)
  return einsum(h, v -> [batch, io])
}

fn train_step(x: f32[batch, io], target: f32[batch, io]) {
  let loss = mean(square(two_layer(x) - target))
  minimize loss with optim.sgd(lr = 0.5)
  return loss
}

let x = normal([batch, io], seed = 7)
for step in 0..10 {
  let loss = train_step(x, x)
  print "step {step} loss {loss}"
}
)";

const std::string_view kEverything = R"(import nn
import nn as layers
import "lib/mine.mtf" as mine
dim batch = 64, on = (4 * batch)
mesh pod = [x: 16, y: 32] of tpu_v2
layout a on pod infer auto uneven {
  batch -> (x, *)
  io -> all
  hidden -> *
  params {
    io -> y
  }
  at "two_layer/*" {
    hidden -> x
  }
}
use layout a
model two_layer(x: f32[batch, length: 128, ..]) -> f32[batch], i32[] {
  param w : f32[io] = normal(stddev = (from ** (-0.5)))
  state steps = 0
  return x, steps
}
fn dense(x, from: dim, activation: fn = identity, bias: bool = true) {
  var y, z = einsum(x, w -> (shape(x) - [from] + [to]), wrap = true) as "layer_{i}"
  if bias {
    y = (y + b)
  } else if (not (x == y)) {
    return
  } else {
    print
  }
  while (loss > 0.1) {
    y, z = f()
  }
  for d in shape(x) {
    w <- (w - (0.1 * g))
  }
  assert close(a, b, atol = 1e-05), "message \{{x}\}"
  minimize loss with optim.sgd(lr = 0.5)
  with precision bf16, gradients = bf16 {
    y = (2 * x)
  }
  with layout a {
    recompute {
      let q = (x[sample: 64..128 as batch][0] @ [batch -> x, ..])
    }
  }
  gradient dy, gradient {
    return (dy * gradient)
  }
  save "model.safetensors"
  restore "model.safetensors"
  return activation(y)[0..3]
}
dense(const([a: 2, b: 3], [[1, 2, 3], [4, 5, 6]]), io)
expect f under [a, b] {
  bytes(all_reduce(x, y)) <= (2 * n) KiB
  flops == 1e+09
}
)";

}  // namespace mtf::test

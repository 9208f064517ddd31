#include "tests/unit/layouts/search/drawn_step.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace mtf::tests {
namespace {

using Random = std::mt19937_64;

const std::string kNames = "abcde";

std::string several(Random& random, const std::string& names, std::size_t most) {
  std::string some;
  for (const char name : names) {
    if (random() % names.size() < most) {
      some += name;
    }
  }
  return some.empty() ? names.substr(random() % names.size(), 1) : some;
}

std::string listed(const std::string& names) {
  std::string text;
  for (const char name : names) {
    text += (text.empty() ? "" : ", ") + std::string(1, name);
  }
  return "[" + text + "]";
}

std::string both(std::string names, const std::string& others) {
  for (const char name : others) {
    names += names.find(name) == std::string::npos ? std::string(1, name) : "";
  }
  std::ranges::sort(names);
  return names;
}

const std::string kInParts =
    "  fn loss(i) { return mean(square(net(x * cast(i, f32)))) }\n"
    "  let first = loss(zeros([], i32))\n"
    "  let ps = params(net)\n"
    "  var gs = grad(first, ps)\n"
    "  var i = ones([], i32)\n"
    "  while i < 3 {\n"
    "    gs = added(gs, grad(loss(i), ps))\n"
    "    i = i + 1\n"
    "  }\n"
    "  for k in 0..len(ps) { update(ps[k], gs[k]) as \"{path(ps[k])}\" }\n"
    "  return first\n"
    "}\n";

const std::string kAnswers =
    "  return net(x)\n"
    "}\n";

// The layers of a model, each of the value of the one before.
class Layers {
 public:
  explicit Layers(Random& random, std::string dims) : random_(random), dims_(std::move(dims)) {}

  void add(int number) {
    const std::string own = "h" + std::to_string(number);
    const bool is_pipeline = random_() % 12 == 0 && dims_.size() > 1;
    const std::string made =
        is_pipeline ? pipeline(number) : of_weight("w" + std::to_string(number));
    const bool is_again = random_() % 4 == 0;
    body_ += is_again ? "  var " + own + " = " + value_ + "\n  recompute { " + own + " = " + made +
                            " }\n"
                      : "  let " + own + " = " + made + "\n";
    value_ = own;
  }
  [[nodiscard]] const std::string& functions() const { return functions_; }
  [[nodiscard]] const std::string& body() const { return body_; }
  [[nodiscard]] const std::string& value() const { return value_; }

 private:
  std::string of_weight(const std::string& weight) {
    const std::string other = several(random_, kNames, 2);
    body_ += "  param " + weight + " : f32" + listed(other) + " = normal(stddev = 0.5)\n";
    const std::string all = both(dims_, other);
    const std::uint64_t kind = std::max<std::uint64_t>(1, random_() % 6) - 1;
    dims_ = kind == 4 ? all : several(random_, all, 3);
    return kind < 3    ? "einsum(" + value_ + ", " + weight + " -> " + listed(dims_) + ")"
           : kind == 3 ? "sum(relu(" + value_ + " * " + weight + ") -> " + listed(dims_) + ")"
                       : "tanh(" + value_ + " + " + weight + ")";
  }

  // Its microbatches are along one dim of the value, and its stages multiply another.
  std::string pipeline(int number) {
    const std::string layer = "layer" + std::to_string(number);
    const std::size_t first = random_() % dims_.size();
    const std::string micro = dims_.substr(first, 1);
    const std::string io = dims_.substr((first + 1) % dims_.size(), 1);
    std::string stage = kNames.substr(random_() % kNames.size(), 1);
    stage = dims_.find(stage) == std::string::npos ? stage : "stage";
    functions_ +=
        "fn " + layer + "(x) {\n  param w = normal([" + io + ", to: size(" + io +
        ")], stddev = 0.5)\n  return rename(tanh(" +
        (random_() % 2 == 0 ? "einsum(x, w -> shape(x) - [" + io + "] + [to: size(" + io + ")])"
                            : "sum(x * w, over = " + io + ")") +
        "), to -> " + io + ")\n}\n";
    const bool is_again = random_() % 3 == 0;
    return "pipeline.pipeline(" + layer + ", " + value_ + ", " + micro + ", " + stage +
           (is_again ? ", recomputed = true)" : ")");
  }

  Random& random_;
  std::string dims_;  // of the value
  std::string value_ = "x";
  std::string functions_;
  std::string body_;
};

}  // namespace

const std::string kUpdates =
    "import pipeline\n"
    "fn update(p, g) {\n"
    "  state v = zeros(shape(p), dtype(p))\n"
    "  v <- 0.9 * v + g\n"
    "  p <- p - 0.1 * v\n"
    "}\n"
    "fn added(xs, ys) {\n"
    "  var sums = []\n"
    "  for i in 0..len(xs) { sums = sums + [xs[i] + ys[i]] }\n"
    "  return sums\n"
    "}\n";
const std::string kTrains =
    "  let loss = mean(square(net(x)))\n"
    "  minimize loss with update\n"
    "  return loss\n"
    "}\n";

std::string drawn_step(Random& random) {
  constexpr std::array kSizes = {2, 3, 4, 6, 7, 8, 12, 16, 64, 128, 256};
  std::string text = kUpdates + "dim stage = 3";
  for (const char name : kNames) {
    text += std::string(", ") + name + " = " + std::to_string(kSizes[random() % kSizes.size()]);
  }
  const std::string dims = several(random, kNames, 2);
  const std::string input = "x: f32" + listed(dims);
  const bool is_narrow = random() % 3 == 0;
  Layers layers(random, dims);
  for (int i = 0; i < 4; ++i) {
    layers.add(i);
  }
  text += "\n" + layers.functions() + "model net(" + input + ") {\n";
  text += is_narrow ? "with precision bf16 {\n" : "";
  text += layers.body() + "  return " + layers.value() + "\n}\n" + (is_narrow ? "}\n" : "");
  text += "fn case(" + input + ") {\n";
  const std::uint64_t kind = random() % 6;
  return text + (kind == 0 ? kInParts : kind == 1 ? kAnswers : kTrains);
}

}  // namespace mtf::tests

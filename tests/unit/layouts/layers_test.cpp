// Layers that repeat each other are priced by a few of them: that is what all of them cost.

#include "lowering/search/layers/layers.h"

#include <cmath>
#include <random>

#include <catch2/catch.hpp>

#include "ir/rewrite/rewrite.h"
#include "lowering/search/pricer.h"
#include "lowering/search/roles/roles.h"
#include "stdlib/ops/table.h"
#include "tests/unit/layouts/programs/every_layout.h"

namespace mtf::tests {
namespace {

struct Model {
  std::string name;
  std::string layer;
  std::string stack;
  std::string step =
      "  let loss = mean(square(net(x)))\n  var norm = 0.0\n"
      "  for g in grad(loss, net) { norm = norm + sum(square(g)) }\n"
      "  return loss, norm\n";
  double off = 2e-2;  // as a share of the time: of short sums, some are done together
  double peak_off = 0.2;
  std::int64_t bytes_off = 100;  // received
};

// With two variables that lie in one order, or each in the order in which it is multiplied.
std::string two_layer(bool alike) {
  return std::string(
             "import optim\nfn layer(x) {\n"
             "  param w : f32[io, hidden] = normal(stddev = 0.1)\n  param v : f32[") +
         (alike ? "io, hidden" : "hidden, io") +
         "] = normal(stddev = 0.1)\n"
         "  let y = relu(einsum(x, w -> [batch, hidden]))\n"
         "  return x + einsum(y, v -> shape(x)), mean(square(y))\n}\n";
}
const std::string kWithLosses =
    "  var losses = 0.0\n  for i in 0..30 {\n"
    "    let y, loss = layer(h) as \"layer_{i}\"\n    h = y\n"
    "    losses = losses + loss\n  }\n  h = h + losses\n";
const std::string kMinimize = "  let loss = mean(square(net(x)))\n  minimize loss with optim.";
const std::string kClip =
    "  let loss = mean(square(net(x)))\n  let ps = params(net)\n"
    "  let gs = optim.clip_by_global_norm(grad(loss, ps))\n"
    "  for k in 0..len(ps) { ps[k] <- ps[k] - 0.1 * gs[k] }\n  return loss\n";

// What is joined along the way: a sum of all layers' losses, layers of two kinds, a variable that
// all of them share, layers that are computed again, a norm of all gradients, which are then of no
// more use or are clipped by it. Where they lie alike, few are added up by one chain that holds
// all.
const std::vector<Model> kModels = {
    {.name = "residual",
     .layer = "fn layer(x) {\n"
              "  param w : f32[io, hidden] = normal(stddev = 0.1)\n"
              "  param v : f32[hidden, io] = normal(stddev = 0.1)\n"
              "  let y = x * rsqrt(mean(square(x), over = io) + 1e-6)\n"
              "  return x + einsum(relu(einsum(y, w -> [batch, hidden])), v -> shape(x))\n}\n",
     .stack = "  for i in 0..25 { h = layer(h) as \"layer_{i}\" }\n"},
    {.name = "forward",
     .layer = "fn layer(x) {\n"
              "  param w : f32[io, hidden] = normal(stddev = 0.1)\n"
              "  param v : f32[hidden, io] = normal(stddev = 0.1)\n"
              "  let y = einsum(tanh(einsum(x, w -> [batch, hidden])), v -> shape(x))\n"
              "  return x + y * rsqrt(mean(square(y), over = io) + 1e-6)\n}\n",
     .stack = "  for i in 0..90 { h = layer(h) as \"layer_{i}\" }\n",
     .step = "  return mean(square(net(x)))\n",
     .off = 1e-9},
    {.name = "losses",
     .layer = "fn layer(x) {\n"
              "  param w : f32[io, hidden] = normal(stddev = 0.1)\n"
              "  param v : f32[hidden, io] = normal(stddev = 0.1)\n"
              "  let y = relu(einsum(x, w -> [batch, hidden]))\n"
              "  return x + einsum(y, v -> shape(x)), mean(square(y))\n}\n",
     .stack = "  var losses = 0.0\n  for i in 0..30 {\n"
              "    let y, loss = layer(h) as \"layer_{i}\"\n    h = y\n"
              "    losses = losses + loss\n  }\n  h = h + losses\n"},
    {.name = "alternating",
     .layer = "fn wide(x) {\n"
              "  param w : f32[io, hidden] = normal(stddev = 0.1)\n"
              "  param v : f32[hidden, io] = normal(stddev = 0.1)\n"
              "  return x + einsum(relu(einsum(x, w -> [batch, hidden])), v -> shape(x))\n}\n"
              "fn deep(x) {\n"
              "  param w : f32[io, out] = normal(stddev = 0.1)\n"
              "  let y = tanh(einsum(x, w -> [batch, out]))\n"
              "  return x + rename(y, out -> io)\n}\n",
     .stack = "  for i in 0..30 {\n    h = wide(h) as \"wide_{i}\"\n"
              "    h = deep(h) as \"deep_{i}\"\n    h = deep(h) as \"deeper_{i}\"\n  }\n"},
    {.name = "shared",
     .layer = "fn layer(x, shared) {\n"
              "  param w : f32[io, hidden] = normal(stddev = 0.1)\n"
              "  let y = einsum(relu(einsum(x, w -> [batch, hidden])), shared -> shape(x))\n"
              "  return x + y * rsqrt(mean(square(y), over = io) + 1e-6)\n}\n",
     .stack = "  param shared : f32[hidden, io] = normal(stddev = 0.1)\n"
              "  for i in 0..25 { h = layer(h, shared) as \"layer_{i}\" }\n",
     .off = 5e-2,
     .bytes_off = 60'000},  // of a few layers terms of its gradient move, of many their sum
    {.name = "recomputed",
     .layer =
         "fn layer(x) {\n"
         "  param w : f32[io, hidden] = normal(stddev = 0.1)\n"
         "  param v : f32[hidden, io] = normal(stddev = 0.1)\n"
         "  return x + einsum(tanh(relu(einsum(x, w -> [batch, hidden]))), v -> shape(x))\n}\n",
     .stack = "  for i in 0..30 { recompute { h = layer(h) as \"layer_{i}\" } }\n"},
    {.name = "descent",
     .layer = two_layer(false),
     .stack = kWithLosses,
     .step = kMinimize + "sgd(lr = 0.1)\n  return loss\n"},
    {.name = "adamw",
     .layer = two_layer(false),
     .stack = kWithLosses,
     .step = kMinimize + "adamw(lr = 0.1)\n  return loss\n"},
    {.name = "norm", .layer = two_layer(true), .stack = kWithLosses},
    {.name = "clipped", .layer = two_layer(false), .stack = kWithLosses, .step = kClip},
    {.name = "clipped alike",
     .layer = two_layer(true),
     .stack = kWithLosses,
     .step = kClip,
     .peak_off = 0.45},
};

Program layered(const Model& model) {
  return simplify(
      program_of("dim batch = 32, io = 64, hidden = 256, out = 64\n"
                 "mesh m = [x: 2]\n" +
                 model.layer + "model net(x: f32[batch, io]) -> f32[batch, io] {\n  var h = x\n" +
                 model.stack + "  return h\n}\nfn case(x: f32[batch, io]) {\n" + model.step +
                 "}\n"),
      op_table());
}

const Hardware kHardware = {.name = "test",
                            .flops = 1e12,
                            .products = {{8, 1e11}, {64, 1e12}},
                            .memory = {{1, 1e11}},
                            .overhead = 1e-7,
                            .link = {.latency = 1e-6, .bandwidth = 1e9},
                            .near = {.latency = 1e-7, .bandwidth = 4e9},
                            .near_ranks = 2,
                            .elements = {{"tanh", 1e-9}, {"mul", 1e-10}}};

// Any set of dims over each axis, of what is computed and of variables.
LayoutCandidate drawn(const SearchSpace& space, std::mt19937_64& random) {
  LayoutCandidate candidate = space.unsplit(0);
  for (std::size_t a = 0; a < space.axes(); ++a) {
    const auto axis = static_cast<AxisId>(a);
    const std::vector<DimSet> sets = space.sets(0, axis);
    const DimSet set = sets[random() % sets.size()];
    for (std::size_t d = 0; d < space.dims().size(); ++d) {
      if (has(set, d)) {
        candidate.rules[d].push_back(axis);
      }
    }
    const std::vector<DimSet> own = space.variable_sets(0, axis);
    candidate.variables[a] = random() % 2 == 0 ? kAsRules : own[random() % own.size()];
  }
  candidate.rest = random() % 3 == 0 ? random() % only(space.dims().size()) : 0;
  candidate.again = random() % 3 == 0;
  return candidate;
}

void check(const Program& program, const Model& model) {
  SpaceLimits limits;
  limits.fixed.name = "found";
  limits.fixed.mesh = mesh_of({4, 2});
  limits.meshes = {limits.fixed.mesh};
  const std::vector<Program> programs = {program};
  const SearchSpace space(programs, limits);
  Pricer pricer(space, [&programs](std::size_t) { return std::span<const Program>(programs); },
                {.ops = op_table(), .hardware = [](const Mesh&) { return kHardware; }});
  std::mt19937_64 random(7);
  int compared = 0;
  for (int i = 0; i < 25; ++i) {
    const LayoutCandidate candidate = drawn(space, random);
    INFO(to_string(space.layout_of(candidate)));
    const Priced& few = pricer.price(candidate);
    const Priced& all = pricer.price_whole(candidate);
    REQUIRE(few.is_legal == all.is_legal);
    if (few.is_legal) {
      ++compared;
      CHECK(few.seconds == Approx(all.seconds).epsilon(model.off));
      CHECK(std::abs(few.received_bytes - all.received_bytes) <= model.bytes_off);
      CHECK(few.peak_bytes ==
            Approx(all.peak_bytes).epsilon(model.peak_off));  // gaps are in one of them
      CHECK(few.least_bytes <= all.peak_bytes);
    }
  }
  CHECK(compared > 5);
}

TEST_CASE("a few layers say what all of them cost") {
  for (const Model& model : kModels) {
    INFO(model.name);
    const Program program = layered(model);
    const std::optional<LayerSamples> samples = layer_samples(program);
    REQUIRE(samples.has_value());
    CHECK(samples->more.values.size() < program.values.size() / 3);
    check(program, model);
  }
}

// It leads a search, so it need not be near; but what takes more must seem to take more.
TEST_CASE("the estimate by roles tells what costs much from what costs little") {
  SpaceLimits limits;
  limits.fixed.name = "found";
  limits.fixed.mesh = mesh_of({4, 2});
  limits.meshes = {limits.fixed.mesh};
  const std::vector<Program> programs = {layered(kModels.front())};
  const SearchSpace space(programs, limits);
  Pricer pricer(space, [&programs](std::size_t) { return std::span<const Program>(programs); },
                {.ops = op_table(), .hardware = [](const Mesh&) { return kHardware; }});
  Roles roles(space, pricer, Objective::kTime);
  std::mt19937_64 random(7);
  struct Seen {
    Priced priced;
    RoleCost::Figures expected;
  };
  std::vector<Seen> seen;
  for (int i = 0; i < 40; ++i) {
    LayoutCandidate candidate = drawn(space, random);
    candidate.rest = 0;
    const Priced& priced = pricer.price(candidate);
    if (priced.is_legal) {
      seen.push_back({.priced = priced, .expected = roles.estimate(candidate)});
    }
  }
  int times = 0;
  int right_times = 0;
  int peaks = 0;
  int right_peaks = 0;
  for (const Seen& a : seen) {
    for (const Seen& b : seen) {
      if (a.priced.seconds > 1.5 * b.priced.seconds) {
        ++times;
        right_times += a.expected.value > b.expected.value ? 1 : 0;
      }
      if (2 * a.priced.peak_bytes > 3 * b.priced.peak_bytes) {
        ++peaks;
        right_peaks += a.expected.bytes > b.expected.bytes ? 1 : 0;
      }
    }
  }
  INFO(right_times << " of " << times << " times, " << right_peaks << " of " << peaks << " peaks");
  CHECK(times > 100);
  CHECK(peaks > 100);
  CHECK(right_times > times * 3 / 4);
  CHECK(right_peaks > peaks * 3 / 4);
}

TEST_CASE("what does not repeat itself is priced as it is") {
  std::string stack;
  for (int i = 0; i < 60; ++i) {  // no two next to each other do the same
    const std::string name = "_" + std::to_string(i);
    for (int bit = 1; bit <= i; bit *= 2) {
      stack += (i & bit) != 0 ? "  h = tanh(h + 0.5)\n" : "  h = h * h\n";
    }
    stack += "  param w" + name + " : f32[io] = ones\n  h = relu(h * w" + name + ")\n";
  }
  const Program program = layered({.name = "", .layer = "", .stack = stack});
  REQUIRE(program.values.size() > 1000);
  CHECK_FALSE(layer_samples(program).has_value());
}

}  // namespace
}  // namespace mtf::tests

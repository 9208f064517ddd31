// Programs for registers against the operations' own tiles, one call at a time: the same bits, for
// any chain, any number of elements, on every instruction set.

#include "runtime/kernels/lanes/lanes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "runtime/kernels/cpu.h"
#include "runtime/vector_math/narrow.h"
#include "stdlib/ops/table.h"

namespace mtf::tests {
namespace {

using Bytes = std::vector<std::byte>;

// A tensor that is read, or a result.
struct Column {
  DType dtype = DType::kF32;
  Bytes data;
};

struct Chain {
  std::vector<Column> reads;
  std::vector<LaneRead> how;
  std::vector<const OpDef*> ops;
  std::vector<LaneStage> stages;
};

std::vector<const OpDef*> ops_with_lanes() {
  std::vector<const OpDef*> found;
  for (const OpDef* op : op_table()) {
    if (op->lanes != LaneFn::kNone) {
      found.push_back(op);
    }
  }
  return found;
}

// `special`: a quarter of them is 0, infinite, not a number, ….
float random_float(std::mt19937& random, bool special) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr std::array kSpecial = {
      0.0F,       -0.0F,   1.0F, -1.0F,   kInfinity, 1e-40F,
      -kInfinity, 3.4e38F, 0.5F, -1e-42F, 0.1F,      std::numeric_limits<float>::quiet_NaN()};
  if (special && random() % 4 == 0) {
    return kSpecial[random() % kSpecial.size()];
  }
  return std::ldexp(static_cast<float>(random()) - 0x1p31F, static_cast<int>(random() % 40) - 60);
}

Column random_column(std::mt19937& random, DType dtype, std::size_t n) {
  std::vector<float> floats(n);
  const bool special = random() % 2 == 0;
  std::ranges::generate(floats, [&] { return random_float(random, special); });
  Column column{.dtype = dtype, .data = Bytes(n * bytes_of(dtype))};
  if (dtype == DType::kBool) {
    std::ranges::generate(column.data, [&] { return static_cast<std::byte>(random() % 2); });
  } else if (dtype == DType::kBF16) {
    narrow(dtype, floats.data(), n, column.data.data());
  } else if (n > 0) {
    std::memcpy(column.data.data(), floats.data(), column.data.size());
  }
  return column;
}

DType dtype_of(const Chain& chain, std::int64_t operand) {
  return operand >= 0 ? chain.reads[static_cast<std::size_t>(operand)].dtype
                      : chain.stages[static_cast<std::size_t>(~operand)].to;
}

// Calls read what is near more often than what is far, as those of programs do.
std::int64_t random_operand(std::mt19937& random, const Chain& chain) {
  const std::size_t stages = chain.stages.size();
  if (stages > 0 && random() % 2 == 0) {
    return ~static_cast<std::int64_t>(stages - 1);
  }
  if (stages > 0 && random() % 2 == 0) {
    return ~static_cast<std::int64_t>(random() % stages);
  }
  return static_cast<std::int64_t>(random() % chain.reads.size());
}

void add_stage(std::mt19937& random, const OpDef& op, Chain& chain) {
  LaneStage stage{.fn = op.lanes, .operands = {}, .to = DType::kF32, .written = random() % 4 == 0};
  std::vector<DType> dtypes;
  for (std::size_t i = 0; i < op.params.size() && op.params[i].kind == ParamKind::kTensor; ++i) {
    stage.operands.push_back(random_operand(random, chain));
    dtypes.push_back(dtype_of(chain, stage.operands.back()));
  }
  if (random() % 3 == 0) {
    stage.to = DType::kBF16;
  }
  if (!has_lanes(op.lanes, dtypes, stage.to)) {
    stage.to = DType::kBool;
  }
  const bool mixed =
      stage.operands.size() > 1 && dtypes[dtypes.size() - 1] != dtypes[dtypes.size() - 2];
  stage.checked = stage.to != DType::kBool && random() % 2 == 0;
  if (!mixed && has_lanes(op.lanes, dtypes, stage.to)) {
    chain.ops.push_back(&op);
    chain.stages.push_back(std::move(stage));
  }
}

Chain random_chain(std::mt19937& random, std::size_t n) {
  static const std::vector<const OpDef*> kOps = ops_with_lanes();
  constexpr std::array kDTypes = {DType::kF32, DType::kF32, DType::kBF16, DType::kBool};
  Chain chain;
  for (std::size_t r = 0; r < 6; ++r) {
    const DType dtype = kDTypes[r % kDTypes.size()];
    const bool lone = dtype == DType::kF32 && random() % 2 == 0;
    chain.reads.push_back(random_column(random, dtype, lone ? 1 : n));
    chain.how.push_back({.dtype = dtype, .lone = lone});
  }
  const std::size_t length = 1 + random() % 20;
  while (chain.stages.size() < length) {
    add_stage(random, *kOps[random() % kOps.size()], chain);
  }
  chain.stages.back().written = true;
  return chain;
}

// Each call by itself, over whole tensors.
std::vector<Column> one_by_one(const Chain& chain, std::size_t n, Isa isa) {
  std::vector<Column> reads = chain.reads;
  for (std::size_t r = 0; r < reads.size(); ++r) {
    if (chain.how[r].lone) {
      const Bytes one = reads[r].data;
      reads[r].data.clear();
      for (std::size_t i = 0; i < n; ++i) {
        reads[r].data.insert(reads[r].data.end(), one.begin(), one.end());
      }
    }
  }
  std::vector<Column> results;
  for (std::size_t s = 0; s < chain.stages.size(); ++s) {
    const LaneStage& stage = chain.stages[s];
    std::vector<const void*> in;
    std::vector<DType> dtypes;
    for (const std::int64_t operand : stage.operands) {
      const Column& column = operand >= 0 ? reads[static_cast<std::size_t>(operand)]
                                          : results[static_cast<std::size_t>(~operand)];
      in.push_back(column.data.data());
      dtypes.push_back(column.dtype);
    }
    Column result{.dtype = stage.to, .data = Bytes(n * bytes_of(stage.to))};
    OpArgs args;
    args.set("dtype", stage.to);
    const TileCall call{.dtype = dtypes.back(), .to = stage.to, .args = &args, .isa = isa};
    if (stage.fn == LaneFn::kMove) {
      chain.ops[s]->tile(call, in, result.data.data(), n);
    } else {
      run_widened(chain.ops[s]->tile, call, dtypes, in, result.data.data(), n);
    }
    results.push_back(std::move(result));
  }
  return results;
}

float number_at(const Column& column, std::size_t i) {
  if (column.dtype == DType::kBool) {
    return 0;
  }
  float value = 0;
  if (column.dtype == DType::kBF16) {
    widen(DType::kBF16, column.data.data() + 2 * i, 1, &value);
  } else {
    std::memcpy(&value, column.data.data() + 4 * i, sizeof(value));
  }
  return value;
}

bool is_nan_at(const Column& column, std::size_t i) {
  return std::isnan(number_at(column, i));
}

// To the bit, but for which NaN it is.
bool same(const Column& a, const Column& b, std::size_t n) {
  const std::size_t width = bytes_of(a.dtype);
  for (std::size_t i = 0; i < n; ++i) {
    const bool equal =
        std::memcmp(a.data.data() + i * width, b.data.data() + i * width, width) == 0;
    if (!equal && !(is_nan_at(a, i) && is_nan_at(b, i))) {
      return false;
    }
  }
  return true;
}

std::string to_string(const Chain& chain) {
  std::string text;
  for (std::size_t s = 0; s < chain.stages.size(); ++s) {
    text += std::string(chain.ops[s]->name) + " " + std::string(to_string(chain.stages[s].to)) +
            Catch::Detail::stringify(chain.stages[s].operands) + "; ";
  }
  return text;
}

struct Written {
  std::vector<Column> results;  // stage by stage; empty where nothing is written
  bool finite = true;           // what is checked
};

Written in_registers(const Chain& chain, std::size_t n, Isa isa) {
  const LaneProgram program(chain.how, chain.stages, isa);
  Bytes scratch(static_cast<std::size_t>(program.scratch_bytes()));
  std::vector<Column> reads = chain.reads;
  std::vector<std::byte*> places;
  for (Column& read : reads) {
    places.push_back(read.data.data());
  }
  std::vector<Column> results;
  for (const LaneStage& stage : chain.stages) {
    results.push_back(
        {.dtype = stage.to, .data = Bytes(stage.written ? n * bytes_of(stage.to) : 0)});
  }
  for (std::size_t s = 0; s < results.size(); ++s) {
    if (chain.stages[s].written) {
      places.push_back(results[s].data.data());
    }
  }
  const bool finite = program.run(places, n, scratch.data());
  for (std::size_t r = 0; r < reads.size(); ++r) {
    CHECK((reads[r].data == chain.reads[r].data));
  }
  return {.results = std::move(results), .finite = finite};
}

// The largest of what is checked; infinite if some of it is not finite.
double largest(const Chain& chain, const std::vector<Column>& results, std::size_t n) {
  double most = 0;
  for (std::size_t s = 0; s < results.size(); ++s) {
    for (std::size_t i = 0; i < n && chain.stages[s].checked; ++i) {
      const double value = number_at(results[s], i);
      most = std::isnan(value) ? std::numeric_limits<double>::infinity()
                               : std::max(most, std::abs(value));
    }
  }
  return most;
}

TEST_CASE("a chain in registers has the bits of its calls one by one") {
  constexpr std::array<std::size_t, 9> kSizes = {0, 1, 7, 63, 64, 65, 128, 200, 1030};
  std::mt19937 random(17);
  for (int round = 0; round < 3000; ++round) {
    const std::size_t n = kSizes[random() % kSizes.size()];
    const Chain chain = random_chain(random, n);
    const std::vector<Column> wanted = one_by_one(chain, n, Isa::kAvx2);
    for (const Isa isa : {Isa::kAvx2, std::min(Isa::kAvx512, widest_isa()), widest_isa()}) {
      const Written found = in_registers(chain, n, isa);
      INFO(to_string(isa) << ", " << n << " elements of " << to_string(chain));
      for (std::size_t s = 0; s < found.results.size(); ++s) {
        INFO("stage " << s);
        REQUIRE((found.results[s].data.empty() || same(found.results[s], wanted[s], n)));
      }
      const double most = largest(chain, wanted, n);
      REQUIRE((found.finite ? std::isfinite(most) : most > 1e37));
    }
  }
}

TEST_CASE("all upper halves are rounded to bf16 alike, subnormals too") {
  constexpr std::array kLower = {0U, 1U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFFU};
  constexpr std::size_t kUpper = 1U << 16U;
  Column column{.dtype = DType::kF32, .data = Bytes(kUpper * kLower.size() * sizeof(float))};
  for (std::size_t i = 0; i < kUpper * kLower.size(); ++i) {
    const std::uint32_t bits =
        static_cast<std::uint32_t>(i % kUpper) << 16U | kLower.at(i / kUpper);
    std::memcpy(column.data.data() + i * sizeof(bits), &bits, sizeof(bits));
  }
  const OpDef& negate = *find_op(op_table(), "neg");
  Chain chain;
  chain.reads = {column};
  chain.how = {{}};
  chain.ops = {&negate, &negate, &negate};
  for (const std::int64_t operand : {0, ~0, 0}) {  // in the registers, exact, and as it is stored
    chain.stages.push_back(
        {.fn = negate.lanes, .operands = {operand}, .to = DType::kBF16, .written = true});
  }
  const std::size_t n = kUpper * kLower.size();
  const std::vector<Column> wanted = one_by_one(chain, n, Isa::kAvx2);
  for (const Isa isa : {Isa::kAvx2, std::min(Isa::kAvx512, widest_isa()), widest_isa()}) {
    const Written found = in_registers(chain, n, isa);
    for (std::size_t s = 0; s < wanted.size(); ++s) {
      CHECK(same(found.results[s], wanted[s], n));
    }
  }
}

TEST_CASE("what is read may be written, if nobody reads it later") {
  const OpDef& add = *find_op(op_table(), "add");
  std::mt19937 random(3);
  constexpr std::size_t kCount = 333;
  Chain chain;
  chain.reads = {random_column(random, DType::kF32, kCount),
                 random_column(random, DType::kF32, kCount)};
  chain.how = {{}, {}};
  chain.ops = {&add, &add};
  chain.stages = {{.fn = add.lanes, .operands = {0, 1}, .written = true},
                  {.fn = add.lanes, .operands = {~0, 1}, .written = true}};
  const std::vector<Column> wanted = one_by_one(chain, kCount, Isa::kAvx2);
  const LaneProgram program(chain.how, chain.stages, widest_isa());
  Bytes scratch(static_cast<std::size_t>(program.scratch_bytes()));
  std::byte* first = chain.reads[0].data.data();
  std::byte* second = chain.reads[1].data.data();
  std::vector<std::byte*> places = {first, second, first, second};
  program.run(places, kCount, scratch.data());
  CHECK(same(chain.reads[0], wanted[0], kCount));
  CHECK(same(chain.reads[1], wanted[1], kCount));
}

TEST_CASE("what has no instruction is left to others") {
  constexpr std::array kFloats = {DType::kF32, DType::kF32};
  constexpr std::array kDoubles = {DType::kF64, DType::kF64};
  CHECK(has_lanes(LaneFn::kAdd, kFloats, DType::kF32));
  CHECK_FALSE(has_lanes(LaneFn::kAdd, kDoubles, DType::kF64));
  CHECK_FALSE(has_lanes(LaneFn::kAdd, kFloats, DType::kBool));
  CHECK_FALSE(has_lanes(LaneFn::kNegate, kFloats, DType::kF32));
  CHECK_FALSE(has_lanes(LaneFn::kNone, kFloats, DType::kF32));
  CHECK_FALSE(has_lanes(LaneFn::kMove, std::array{DType::kF16}, DType::kF32));
}

}  // namespace
}  // namespace mtf::tests

#include "tests/unit/layouts/programs/generate.h"

#include <algorithm>
#include <random>
#include <span>
#include <utility>

#include "ir/builder.h"
#include "stdlib/ops/table.h"
#include "tests/unit/layouts/programs/square.h"
#include "tests/unit/layouts/programs/vocabulary.h"
#include "tests/unit/layouts/programs/whole.h"
#include "tests/unit/stdlib/ops/calls.h"

namespace mtf::tests {
namespace {

constexpr std::int64_t kMaxElements = 20'000;
constexpr int kOperations = 40;  // drawn before giving up on one more
constexpr int kOperands = 12;    // drawn for each, as few of them fit some operations

class Generator {
 public:
  Generator(std::uint64_t seed, const GenerateOptions& options)
      : random_(seed), options_(options), builder_(program_, op_table(), diags_) {
    program_.name = "random";
    if (chance(0.4)) {
      float_ = one_of<DType>({DType::kBF16, DType::kF16});
      integer_ = one_of<DType>({DType::kI8, DType::kI16});
    }
  }

  Program run() {
    for (const auto& draw :
         {&Generator::numbers, &Generator::numbers, &Generator::numbers, &Generator::indices}) {
      (this->*draw)();
    }
    for (int i = 0; i < options_.operations; ++i) {
      operation();
    }
    program_.outputs = unread();
    return options_.gradients ? with_gradients(std::move(program_), options_.whole)
                              : std::move(program_);
  }

 private:
  std::size_t below(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_);
  }
  bool chance(double p) { return std::bernoulli_distribution(p)(random_); }

  template <typename T>
  const T& one_of(const std::vector<T>& list) {
    return list[below(list.size())];
  }

  Shape random_shape() {
    std::vector<Dim> dims = kPool;
    std::ranges::shuffle(dims, random_);
    dims.resize(below(4));
    return Shape(dims);
  }

  void numbers() {
    const Shape shape = random_shape();
    const DType dtype = chance(0.2) ? DType::kF64 : chance(0.5) ? float_ : DType::kF32;
    if (options_.whole) {
      const ValueId drawn = builder_.emit("uniform", {}, shape_args(shape, -4, 4));
      OpArgs to;
      to.set("dtype", DType::kI32);
      const ValueId whole = builder_.emit("cast", {drawn}, to);
      to.set("dtype", dtype);
      (void)builder_.emit("cast", {whole}, to);
      (void)wholes_.follow(program_);
      return;
    }
    OpArgs args;
    args.set("shape", shape);
    args.set("seed", static_cast<std::int64_t>(below(1000)));
    args.set("dtype", dtype);
    (void)builder_.call(*find_op(op_table(), chance(0.7) ? "normal" : "uniform"), {}, args);
  }

  // Whole numbers, some of them no place in a dim.
  void indices() {
    const ValueId drawn = builder_.emit("uniform", {}, shape_args(random_shape(), -2, 12));
    OpArgs args;
    args.set("dtype", chance(0.5) ? integer_ : DType::kI32);
    (void)builder_.emit("cast", {drawn}, args);
    (void)wholes_.follow(program_);
  }

  OpArgs shape_args(const Shape& shape, double low, double high) {
    OpArgs args;
    args.set("shape", shape);
    args.set("low", low);
    args.set("high", high);
    args.set("seed", static_cast<std::int64_t>(below(1000)));
    return args;
  }

  ValueId any_value() {
    const std::size_t count = program_.values.size();
    const std::size_t back = std::min(below(count), below(count));  // rather a recent one
    return {static_cast<std::int32_t>(count - 1 - back)};
  }

  // A value whose dims go with those of `other`, if a few draws find one.
  ValueId matching_value(ValueId other) {
    const Shape& shape = program_.at(other).type.shape;
    ValueId found = chance(0.1) ? other : any_value();
    for (int i = 0; i < 6; ++i) {
      const Shape& own = program_.at(found).type.shape;
      if (contains(shape, own) || contains(own, shape)) {
        break;
      }
      found = any_value();
    }
    return found;
  }

  void operation() {
    for (int i = 0; i < kOperations; ++i) {
      const OpDef* op = drawn_operation();
      for (int j = 0; j < kOperands && op != nullptr && drawable(*op); ++j) {
        if (attempt(*op)) {
          if (options_.drawn != nullptr) {
            ++(*options_.drawn)[op->name];
          }
          return;
        }
      }
    }
  }

  const OpDef* drawn_operation() {
    if (chance(options_.moves)) {
      return find_op(op_table(), one_of(kMoves));
    }
    if (options_.focus != nullptr && chance(0.3)) {
      return options_.focus;
    }
    return find_op(op_table(), kVocabulary[below(kVocabulary.size())]);
  }

  bool attempt(const OpDef& op) {
    std::vector<ValueId> operands;
    const auto draw = [&] {
      operands.push_back(operands.empty() || chance(0.3) ? any_value()
                                                         : matching_value(operands.front()));
    };
    for (const OpParam& param : op.params) {
      if (param.kind == ParamKind::kTensor && (param.required || chance(0.5))) {
        draw();
      } else if (param.kind == ParamKind::kTensors) {
        for (std::size_t count = 1 + below(3); count > 0; --count) {
          draw();
        }
      }
    }
    const std::optional<SquareDims> square =
        is_of_matrices(op) && !options_.whole ? squared(operands) : std::nullopt;
    for (int i = 0; i < 6; ++i) {
      std::optional<OpArgs> args = arguments(op, operands);
      if (args && square) {
        args->set("rows", std::vector<Dim>{square->rows});
        args->set("cols", std::vector<Dim>{square->cols});
      }
      if (args && append(op, operands, *args)) {
        return true;
      }
    }
    return false;
  }

  // In place of the first operand x the matrices x x^T + 1; a second one is x.
  std::optional<SquareDims> squared(std::vector<ValueId>& operands) {
    const TensorType type = program_.at(operands.front()).type;
    const std::vector<Dim> dims = operand_dims({operands.front()});
    if (dims.empty() || !is_float(type.dtype) || chance(0.2)) {
      return std::nullopt;
    }
    const Dim rows = one_of(dims);
    const Dim cols{.name = "t" + rows.name, .size = rows.size};
    if (type.shape.has(cols.name) || type.shape.volume() * cols.size > kMaxElements) {
      return std::nullopt;
    }
    const SquareDims square{.rows = rows, .cols = cols};
    const ValueId x = operands.front();
    operands.assign(operands.size(), x);
    operands.front() = square_of(builder_, x, square);
    return square;
  }

  bool append(const OpDef& op, const std::vector<ValueId>& operands, const OpArgs& args) {
    DiagSink quiet;
    Program copy = program_;
    Builder trial(copy, op_table(), quiet);
    if (!trial.call(op, operands, args)) {
      return false;
    }
    const auto small = [](const Value& value) {
      const auto volume = value.type.shape.checked_volume();
      return volume && *volume <= kMaxElements;
    };
    if (!std::ranges::all_of(copy.values, small)) {
      return false;
    }
    if (options_.whole && !wholes_.follow(copy)) {
      return false;
    }
    program_ = std::move(copy);
    return true;
  }

  std::vector<Dim> operand_dims(const std::vector<ValueId>& operands) {
    std::vector<Dim> dims;
    for (const ValueId id : operands) {
      for (const Dim& dim : program_.at(id).type.shape.dims()) {
        if (std::ranges::find(dims, dim.name, &Dim::name) == dims.end()) {
          dims.push_back(dim);
        }
      }
    }
    return dims;
  }

  std::optional<OpArgs> arguments(const OpDef& op, const std::vector<ValueId>& operands) {
    const std::vector<Dim> dims = operand_dims(operands);
    OpArgs args;
    const bool joins = std::ranges::any_of(
        op.params, [](const OpParam& param) { return param.kind == ParamKind::kTensors; });
    // Of the dim that was drawn last; a new one numbers the operands that are joined.
    std::int64_t size = joins ? static_cast<std::int64_t>(operands.size()) : 4;
    std::int64_t begin = 0;
    if (op.alias) {
      args.set("layout", Pin{.rules = {}, .open = chance(0.5)});  // as the layout says, or whole
    }
    for (const OpParam& param : op.params) {
      const bool tensor = param.kind == ParamKind::kTensor || param.kind == ParamKind::kTensors;
      if (tensor || (!param.required && chance(0.5))) {
        continue;
      }
      if (param.kind == ParamKind::kDim || param.kind == ParamKind::kDims) {
        const std::vector<Dim>& from = dims.empty() || chance(0.1) ? kPool : dims;
        const Dim dim = one_of(from);
        size = dim.size;
        args.set(param.name, std::vector<Dim>{dim});
      } else if (param.name == "begin") {
        begin = static_cast<std::int64_t>(below(static_cast<std::size_t>(size)));
        args.set(param.name, begin);
      } else if (param.name == "end" || param.name == "size") {  // behind it, or room for all
        const std::int64_t least = begin + (param.name == "end" ? 1 : size);
        args.set(param.name, least + static_cast<std::int64_t>(below(4)));
      } else {
        args.set(param.name, value_for(param, dims, size));
      }
    }
    return args;
  }

  ArgValue value_for(const OpParam& param, const std::vector<Dim>& dims, std::int64_t size) {
    switch (param.kind) {
      case ParamKind::kText:
        return std::string(one_of(param.choices));
      case ParamKind::kNewDim:
      case ParamKind::kNewDims:
        return std::vector<Dim>{{"n" + std::to_string(below(3)), size}};
      case ParamKind::kShape:
      case ParamKind::kNewShape:
        return shape_for(dims);
      case ParamKind::kInts:
        return 1 + static_cast<std::int64_t>(below(3));
      case ParamKind::kDType:
        return one_of<DType>({DType::kF32, DType::kF64, DType::kI32, float_, integer_});
      case ParamKind::kInt:
        return static_cast<std::int64_t>(below(static_cast<std::size_t>(size) + 1));
      case ParamKind::kReal:
        return chance(0.2) ? -0.0 : std::uniform_real_distribution<double>(-2, 2)(random_);
      case ParamKind::kBool:
        return chance(0.5);
      default:
        return std::monostate{};
    }
  }

  ArgValue shape_for(std::vector<Dim> dims) {
    std::ranges::shuffle(dims, random_);
    if (dims.empty() || chance(0.1)) {
      return random_shape();
    }
    if (chance(0.3)) {
      return chance(0.5) ? refactored(dims) : regrouped(dims);
    }
    if (chance(0.6)) {
      dims.resize(below(dims.size() + 1));
    } else if (chance(0.5)) {
      const Dim& more = one_of(kPool);
      if (std::ranges::find(dims, more.name, &Dim::name) == dims.end()) {
        dims.push_back(more);
      }
    }
    return Shape(dims);
  }

  // Dims of other names with the same number of elements.
  Shape refactored(const std::vector<Dim>& dims) {
    std::int64_t left = 1;
    for (const Dim& dim : dims) {
      left *= dim.size;
    }
    std::vector<Dim> result;
    for (const char* name : {"r0", "r1"}) {
      std::vector<std::int64_t> divisors;
      for (std::int64_t n = 1; n <= left; ++n) {
        if (left % n == 0) {
          divisors.push_back(n);
        }
      }
      const std::int64_t size = one_of(divisors);
      result.push_back({name, size});
      left /= size;
    }
    result.push_back({"r2", left});
    return Shape(result);
  }

  // One dim split in two, or two neighbours made one; the others stay.
  Shape regrouped(std::vector<Dim> dims) {
    const std::size_t at = below(dims.size());
    const auto is_made = [](const Dim& dim) {
      return dim.name == "m0" || dim.name == "s0" || dim.name == "s1";
    };
    if (std::ranges::any_of(dims, is_made)) {
      return Shape(dims);
    }
    if (at + 1 < dims.size() && chance(0.5)) {
      dims[at] = {"m0", dims[at].size * dims[at + 1].size};
      dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(at) + 1);
      return Shape(dims);
    }
    for (const std::int64_t part : {2, 3, 4, 5}) {
      if (dims[at].size % part == 0 && chance(0.5)) {
        dims[at] = {"s0", dims[at].size / part};
        dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(at) + 1, {"s1", part});
        break;
      }
    }
    return Shape(dims);
  }

  std::vector<ValueId> unread() {
    std::vector<char> read(program_.values.size(), 0);
    for (const Value& value : program_.values) {
      for (const ValueId operand : value.operands) {
        read[static_cast<std::size_t>(operand.index)] = 1;
      }
    }
    std::vector<ValueId> ends;
    for (std::size_t i = 0; i < read.size(); ++i) {
      if (read[i] == 0) {
        ends.push_back({static_cast<std::int32_t>(i)});
      }
    }
    return ends;
  }

  inline static const std::vector<std::string_view> kMoves = {
      "reshape",   "reshape", "reshape", "einsum", "einsum", "sum",   "sum",
      "slice",     "pad",     "shift",   "concat", "stack",  "index", "rename",
      "mul",       "where",   "gather",  "add",    "sub",    "neg",   "scatter_add",
      "transpose", "square",  "reverse", "shift",  "slice"};
  inline static const std::vector<Dim> kPool = {{"a", 8},  {"b", 6}, {"c", 5}, {"d", 4},
                                                {"e", 16}, {"f", 3}, {"g", 32}};

  std::mt19937_64 random_;
  DType float_ = DType::kF32;  // beside f32 and f64, or as they are
  DType integer_ = DType::kI32;
  GenerateOptions options_;
  Program program_;
  WholeNumbers wholes_;
  DiagSink diags_;
  Builder builder_;
};

}  // namespace

bool drawable(const OpDef& op) {
  return !op.effect && std::ranges::none_of(op.params, [](const OpParam& param) {
    return param.kind == ParamKind::kData ||
           (param.kind == ParamKind::kText && param.choices.empty());
  });
}

Program random_program(std::uint64_t seed, const GenerateOptions& options) {
  return Generator(seed, options).run();
}

}  // namespace mtf::tests

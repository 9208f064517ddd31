#include "tests/unit/stdlib/ops/calls.h"

#include <algorithm>
#include <optional>
#include <random>
#include <set>
#include <span>

#include "stdlib/ops/table.h"

namespace mtf::tests {
namespace {

constexpr int kDraws = 8000;

class Drawer {
 public:
  Drawer(const OpDef& op, const DrawOptions& options)
      : op_(op), options_(options), random_(seed_of(op.name)) {}

  std::vector<DrawnCall> run() {
    std::vector<DrawnCall> wide;
    std::vector<DrawnCall> narrow;
    const std::size_t enough = (options_.count + 1) / 2;
    for (int i = 0; i < kDraws && (wide.size() < options_.count || narrow.size() < enough); ++i) {
      const DrawnCall call = draw();
      std::vector<DrawnCall>& kind = is_wide(call) ? wide : narrow;
      if (kind.size() < options_.count && stands(call) && seen_.insert(to_string(call)).second) {
        kind.push_back(call);
      }
    }
    const std::size_t most =
        std::min(narrow.size(), options_.count - std::min(wide.size(), enough));
    wide.resize(std::min(wide.size(), options_.count - most));
    wide.insert(wide.end(), narrow.begin(), narrow.begin() + static_cast<std::ptrdiff_t>(most));
    if (options_.narrow) {
      add_narrow(wide);
    }
    return wide;
  }

 private:
  // For each narrow dtype the first of the calls, from another one on each time, that stands with
  // it in place of the floats, or of the integers.
  void add_narrow(std::vector<DrawnCall>& calls) {
    const std::vector<DrawnCall> drawn = calls;
    std::size_t first = 0;
    for (const DType dtype : {DType::kBF16, DType::kF16, DType::kI8, DType::kI16}) {
      ++first;
      for (std::size_t i = 0; i < 2 * drawn.size(); ++i) {
        const DrawnCall call = retyped(drawn[(first + i) % drawn.size()], dtype,
                                       i < drawn.size() ? options_.floats : DType::kI32);
        if (stands(call) && seen_.insert(to_string(call)).second) {
          calls.push_back(call);
          break;
        }
      }
    }
  }

  static DrawnCall retyped(DrawnCall call, DType dtype, DType in_place_of) {
    for (TensorType& type : call.operands) {
      type.dtype = type.dtype == in_place_of ? dtype : type.dtype;
    }
    const OpArgs drawn = call.args;
    for (const auto& [name, value] : drawn.entries()) {
      if (const auto* written = std::get_if<DType>(&value);
          written != nullptr && *written == in_place_of) {
        call.args.set(name, dtype);
      }
    }
    return call;
  }

  std::size_t below(std::size_t n) { return random_() % n; }
  bool chance(unsigned percent) { return random_() % 100 < percent; }

  template <typename T>
  const T& one_of(const std::vector<T>& list) {
    return list[below(list.size())];
  }

  static bool is_wide(const DrawnCall& call) {
    return call.operands.empty() || call.operands.front().shape.rank() >= 2;
  }

  [[nodiscard]] static bool stands(const DrawnCall& call) {
    DiagSink quiet;
    Program program;
    Builder builder(program, op_table(), quiet);
    std::vector<ValueId> operands;
    for (const TensorType& type : call.operands) {
      operands.push_back(builder.input(InputKind::kArgument, "x", type));
    }
    const std::optional<ValueId> result = builder.call(*call.op, operands, call.args);
    const auto small = [](const Value& value) {
      const auto volume = value.type.shape.checked_volume();
      return volume && *volume <= 20'000;
    };
    return result && std::ranges::all_of(program.values, small);
  }

  std::vector<Dim> some(std::vector<Dim> dims, std::size_t most) {
    std::ranges::shuffle(dims, random_);
    dims.resize(below(std::min(dims.size(), most) + 1));
    return dims;
  }

  TensorType operand(const std::vector<TensorType>& before) {
    const DType dtype = chance(70) ? options_.floats : chance(70) ? DType::kI32 : DType::kBool;
    if (before.empty() || chance(40)) {
      return {.dtype = dtype, .shape = Shape(some(options_.dims, 3))};
    }
    // One that goes with the first: alike, or with some of its dims.
    const TensorType& first = before.front();
    return {.dtype = chance(60) ? first.dtype : dtype,
            .shape = chance(50) ? first.shape : Shape(some(dims_of(first), 3))};
  }

  static std::vector<Dim> dims_of(const TensorType& type) {
    const auto dims = type.shape.dims();
    return {dims.begin(), dims.end()};
  }

  DrawnCall draw() {
    DrawnCall call{.op = &op_, .operands = {}, .args = {}};
    joined_ = 0;
    for (const OpParam& param : op_.params) {
      const bool absent = !param.required && chance(50);
      const bool joins = param.kind == ParamKind::kTensors;
      const bool takes = joins || param.kind == ParamKind::kTensor;
      const std::size_t count = absent || !takes ? 0 : joins ? 1 + below(3) : 1;
      joined_ = joins ? count : joined_;
      for (std::size_t i = 0; i < count; ++i) {
        call.operands.push_back(operand(call.operands));
      }
    }
    const std::optional<SquareDims> square =
        is_of_matrices(op_) && chance(80) ? squared(call.operands.front()) : std::nullopt;
    if (square && call.operands.size() == 2 && chance(50)) {
      call.operands.back() = call.operands.front();
    }
    arguments(call);
    if (square) {
      call.args.set("rows", std::vector<Dim>{square->rows});
      call.args.set("cols", std::vector<Dim>{square->cols});
    }
    return call;
  }

  // A dim that the first operand lacks and the next one has, if there is one.
  Dim tap_of(const DrawnCall& call) {
    std::vector<Dim> new_dims;
    for (const std::vector<Dim>& from : {dims_of(call.operands.back()), options_.dims}) {
      if (new_dims.empty()) {
        std::ranges::copy_if(from, std::back_inserter(new_dims), [&](const Dim& dim) {
          return !call.operands.front().shape.has(dim.name);
        });
      }
    }
    return one_of(new_dims.empty() ? options_.dims : new_dims);
  }

  struct SquareDims {
    Dim rows;
    Dim cols;
  };

  // Gives the tensor one dim more, of the size of one that it has.
  std::optional<SquareDims> squared(TensorType& type) {
    if (type.shape.rank() == 0) {
      return std::nullopt;
    }
    const Dim rows = one_of(dims_of(type));
    const Dim cols{.name = "t", .size = rows.size};
    type.shape = type.shape.with(cols);
    return SquareDims{.rows = rows, .cols = cols};
  }

  void arguments(DrawnCall& call) {
    std::vector<Dim> dims;
    for (const TensorType& type : call.operands) {
      for (const Dim& dim : type.shape.dims()) {
        if (std::ranges::find(dims, dim.name, &Dim::name) == dims.end()) {
          dims.push_back(dim);
        }
      }
    }
    if (op_.alias && call.operands.size() == 1) {
      call.args.set("layout", Pin{.rules = {}, .open = true});
    }
    // Of the dim that was drawn last; a new one numbers the operands that are joined.
    std::int64_t size = joined_ > 0 ? static_cast<std::int64_t>(joined_) : 4;
    std::int64_t begin = 0;
    for (const OpParam& param : op_.params) {
      const bool tensor = param.kind == ParamKind::kTensor || param.kind == ParamKind::kTensors;
      if (tensor || (!param.required && chance(50))) {
        continue;
      }
      if (param.kind == ParamKind::kDim || param.kind == ParamKind::kDims) {
        const Dim dim = param.name == "taps"
                            ? tap_of(call)
                            : one_of(dims.empty() || chance(10) ? options_.dims : dims);
        size = dim.size;
        std::vector<Dim> list = {dim};
        if (param.kind == ParamKind::kDims && joined_ > 1) {  // one for each of the tensors
          list = some(options_.dims, joined_);
        }
        call.args.set(param.name, list);
      } else if (param.kind == ParamKind::kInt) {
        // Counted behind `begin` where there is one.
        const std::int64_t least = param.name == "end"    ? begin + 1
                                   : param.name == "size" ? begin + size
                                                          : 0;
        const auto range = static_cast<std::size_t>(param.name == "begin" ? size : size + 2);
        begin = least + static_cast<std::int64_t>(below(range));
        call.args.set(param.name, begin);
      } else {
        call.args.set(param.name, value_for(param, dims, size, call));
      }
    }
  }

  ArgValue value_for(const OpParam& param, const std::vector<Dim>& dims, std::int64_t size,
                     const DrawnCall& call) {
    switch (param.kind) {
      case ParamKind::kNewDim:
      case ParamKind::kNewDims:
        return std::vector<Dim>{{"n", size}};
      case ParamKind::kShape:
      case ParamKind::kNewShape:
        return shape_for(dims);
      case ParamKind::kDType:
        return one_of<DType>({options_.floats, options_.floats, DType::kI32});
      case ParamKind::kReal:
        return static_cast<double>(below(9)) / 4 - 1;
      case ParamKind::kBool:
        return chance(50);
      case ParamKind::kText:
        return param.choices.empty() ? text_for_joined() : word_of(param);
      case ParamKind::kInts:
        return ints_for(param);
      case ParamKind::kData:
        return data_for(call);
      default:
        return std::monostate{};
    }
  }

  ArgValue word_of(const OpParam& param) { return std::string(one_of(param.choices)); }

  // Small ones, not all of them for one dim; or a word.
  ArgValue ints_for(const OpParam& param) {
    if (!param.choices.empty() && chance(40)) {
      return word_of(param);
    }
    const auto small = [this] { return 1 + static_cast<std::int64_t>(below(3)); };
    if (chance(60)) {
      return small();
    }
    std::vector<double> list;
    for (std::size_t n = 1 + below(2); list.size() < n;) {
      list.push_back(static_cast<double>(small()));
    }
    return list;
  }

  // A place for each of the tensors, as `print` needs.
  [[nodiscard]] std::string text_for_joined() const {
    std::string text = "text";
    for (std::size_t i = 0; i < joined_; ++i) {
      text += " {}";
    }
    return text;
  }

  // As many numbers as the shape that was drawn has elements.
  static std::vector<double> data_for(const DrawnCall& call) {
    std::int64_t count = 4;
    for (const auto& [name, value] : call.args.entries()) {
      if (const Shape* shape = std::get_if<Shape>(&value)) {
        count = shape->volume();
      }
    }
    std::vector<double> data(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < data.size(); ++i) {
      data[i] = static_cast<double>(i) / 2 - 1;
    }
    return data;
  }

  // Of an operand's dims: all in another order, some, one more, or as many elements otherwise cut.
  Shape shape_for(std::vector<Dim> dims) {
    std::ranges::shuffle(dims, random_);
    if (dims.empty() || chance(10)) {
      return Shape(some(options_.dims, 3));
    }
    if (chance(30)) {
      std::int64_t volume = 1;
      for (const Dim& dim : dims) {
        volume *= dim.size;
      }
      const std::int64_t part = chance(50) ? dims.front().size : dims.back().size;
      return chance(30) ? Shape(std::vector<Dim>{{"r", volume}})
                        : Shape(std::vector<Dim>{{"r", part}, {"s", volume / part}});
    }
    if (chance(50)) {
      dims.resize(below(dims.size() + 1));
    } else if (chance(50)) {
      const Dim& more = one_of(options_.dims);
      if (std::ranges::find(dims, more.name, &Dim::name) == dims.end()) {
        dims.push_back(more);
      }
    }
    return Shape(dims);
  }

  const OpDef& op_;
  const DrawOptions& options_;
  std::mt19937_64 random_;
  std::size_t joined_ = 0;  // operands of the parameter that takes several, in the call in progress
  std::set<std::string> seen_;
};

std::string text_of(const ArgValue& value) {
  if (const auto* dims = std::get_if<std::vector<Dim>>(&value)) {
    std::string text;
    for (const Dim& dim : *dims) {
      text += (text.empty() ? "" : ", ") + dim.name + " " + std::to_string(dim.size);
    }
    return text;
  }
  if (const auto* shape = std::get_if<Shape>(&value)) {
    return mtf::to_string(*shape);
  }
  if (const auto* dtype = std::get_if<DType>(&value)) {
    return std::string(mtf::to_string(*dtype));
  }
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    return std::to_string(*whole);
  }
  if (const auto* real = std::get_if<double>(&value)) {
    return std::to_string(*real);
  }
  if (const auto* flag = std::get_if<bool>(&value)) {
    return *flag ? "true" : "false";
  }
  return "...";
}

}  // namespace

bool is_callable(const OpDef& op) {
  const bool is_mark = op.effect && op.family == "loops";  // alone it makes no program
  return op.file == FileUse::kNone && !is_mark;
}

std::vector<DrawnCall> calls_of(const OpDef& op, const DrawOptions& options) {
  return Drawer(op, options).run();
}

std::string to_string(const DrawnCall& call) {
  std::string text;
  for (const TensorType& type : call.operands) {
    text += (text.empty() ? "" : ", ") + mtf::to_string(type);
  }
  for (const auto& [name, value] : call.args.entries()) {
    text += (text.empty() ? "" : ", ") + std::string(name) + " = " + text_of(value);
  }
  return std::string(call.op->name) + "(" + text + ")";
}

// FNV-1a: the same on every machine.
std::uint64_t seed_of(std::string_view name) {
  std::uint64_t seed = 0xcbf29ce484222325;
  for (const char letter : name) {
    seed = (seed ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  }
  return seed;
}

}  // namespace mtf::tests

// Arguments and the checks behind most errors of operations.

#include "stdlib/ops/rules.h"

#include <cassert>
#include <cmath>

#include "ir/support/number.h"

namespace mtf {

double real_arg(const OpArgs& args, std::string_view name, double otherwise) {
  if (const auto* real = args.get<double>(name)) {
    return *real;
  }
  if (const auto* whole = args.get<std::int64_t>(name)) {
    return static_cast<double>(*whole);
  }
  if (const auto* flag = args.get<bool>(name)) {
    return *flag ? 1.0 : 0.0;
  }
  return otherwise;
}

std::int64_t int_arg(const OpArgs& args, std::string_view name, std::int64_t otherwise) {
  const auto* value = args.get<std::int64_t>(name);
  return value == nullptr ? otherwise : *value;
}

bool bool_arg(const OpArgs& args, std::string_view name, bool otherwise) {
  const auto* value = args.get<bool>(name);
  return value == nullptr ? otherwise : *value;
}

DType dtype_arg(const OpArgs& args, std::string_view name, DType otherwise) {
  const auto* value = args.get<DType>(name);
  return value == nullptr ? otherwise : *value;
}

std::string text_arg(const OpArgs& args, std::string_view name) {
  const auto* value = args.get<std::string>(name);
  return value == nullptr ? std::string() : *value;
}

Dim dim_arg(const OpArgs& args, std::string_view name) {
  const auto* dims = args.get<std::vector<Dim>>(name);
  assert(dims != nullptr && dims->size() == 1);
  return dims->front();
}

Shape shape_arg(const OpArgs& args, std::string_view name) {
  const auto* shape = args.get<Shape>(name);
  assert(shape != nullptr);
  return *shape;
}

ArgValue one_dim(Dim dim) {
  return std::vector<Dim>{std::move(dim)};
}

bool accepts(Accepts what, DType dtype) {
  switch (what) {
    case Accepts::kFloats:
      return is_float(dtype);
    case Accepts::kNumbers:
      return dtype != DType::kBool && dtype != DType::kU8;
    case Accepts::kOrdered:
      return dtype != DType::kBool;
    case Accepts::kBools:
      return dtype == DType::kBool;
    case Accepts::kIndices:
      return is_integer(dtype);
    case Accepts::kAny:
      return true;
  }
  return false;
}

namespace {

std::string needs(Accepts what) {
  switch (what) {
    case Accepts::kFloats:
      return "it needs floats, which `cast(x, f32)` makes";
    case Accepts::kNumbers:
    case Accepts::kOrdered:
      return "it needs numbers, which `cast(x, f32)` makes";
    case Accepts::kBools:
      return "it needs bools, which a comparison makes";
    case Accepts::kIndices:
      return "it needs integers, which `cast(x, i32)` makes";
    case Accepts::kAny:
      break;
  }
  return "";
}

bool is_subsequence(const Shape& part, const Shape& whole) {
  std::size_t next = 0;
  for (const Dim& dim : whole.dims()) {
    if (next < part.rank() && part[next].name == dim.name) {
      ++next;
    }
  }
  return next == part.rank();
}

// "f32[batch 8] and f32[io 3]"
std::string both(const TensorType& a, const TensorType& b) {
  return to_string(a) + " and " + to_string(b);
}

// Whether `from` is the one of the two to convert: whole numbers to floats, few bits to many.
bool loses_less(DType from, DType to) {
  if (is_float(from) != is_float(to)) {
    return is_float(to);
  }
  return bytes_of(from) < bytes_of(to);
}

std::optional<TensorType> elements(OpCall& call, Accepts what, DiagSink& diags) {
  if (!check_operands(call, what, diags) || !check_same_dtype(call, 0, diags)) {
    return std::nullopt;
  }
  const std::optional<Shape> shape = union_of_dims(call, diags);
  if (!shape) {
    return std::nullopt;
  }
  return result_type(call, call.operands[0].dtype, *shape, diags);
}

}  // namespace

std::string spelled(const OpCall& call) {
  if (call.op->symbol.empty()) {
    return in_backticks(call.op->name);
  }
  return in_backticks(call.op->symbol.starts_with("unary ") ? call.op->symbol.substr(6)
                                                            : call.op->symbol);
}

bool check_operand(const OpCall& call, std::size_t operand, Accepts what, DiagSink& diags) {
  const TensorType& type = call.operands[operand];
  if (accepts(what, type.dtype)) {
    return true;
  }
  diags.error(DiagKind::kDtypeMismatch, call.span_of(operand),
              spelled(call) + " of " + to_string(type) + "; " + needs(what));
  return false;
}

bool check_operands(const OpCall& call, Accepts what, DiagSink& diags) {
  bool ok = true;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    ok = ok && check_operand(call, i, what, diags);
  }
  return ok;
}

bool check_number(const OpCall& call, DType dtype, double value, DiagSink& diags) {
  if (holds(dtype, value)) {
    return true;
  }
  diags.error(DiagKind::kDtypeMismatch, call.span,
              spelled(call) + " of " + significant(value, 6) + ", which " +
                  std::string(to_string(dtype)) + " cannot hold");
  return false;
}

bool check_same_dtype(const OpCall& call, std::size_t first, DiagSink& diags) {
  for (std::size_t i = first + 1; i < call.operands.size(); ++i) {
    const TensorType& a = call.operands[first];
    const TensorType& b = call.operands[i];
    if (a.dtype != b.dtype) {
      const bool first_is_less = loses_less(a.dtype, b.dtype);
      const DType from = first_is_less ? a.dtype : b.dtype;
      const DType to = first_is_less ? b.dtype : a.dtype;
      diags.error(DiagKind::kDtypeMismatch, call.span_of(first_is_less ? first : i),
                  spelled(call) + " of " + both(a, b) + ", which differ in dtype; `cast(…, " +
                      std::string(to_string(to)) + ")` converts the " +
                      std::string(to_string(from)) + " one");
      return false;
    }
  }
  return true;
}

namespace {

// With those of the next that it lacks, in the order of the next if that is its own as well.
Shape with_dims(const Shape& all, const Shape& next) {
  if (is_subsequence(all, next)) {
    return next;
  }
  Shape both = all;
  for (const Dim& dim : next.dims()) {
    both = both.has(dim.name) ? both : both.with(dim);
  }
  return both;
}

}  // namespace

std::optional<Shape> union_of_dims(const OpCall& call, DiagSink& diags) {
  Shape all;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    const Shape& next = call.operands[i].shape;
    if (i == 0 || next == all) {
      all = next;
      continue;
    }
    bool adds = false;
    for (const Dim& dim : next.dims()) {
      const Dim* other = all.find(dim.name);
      adds = adds || other == nullptr;
      if (other != nullptr && other->size != dim.size) {
        diags.error(DiagKind::kDimSize, call.span_of(i),
                    spelled(call) + " of " + to_string(all) + " and " + to_string(next) + "; " +
                        in_backticks(dim.name) + " has two sizes, " + std::to_string(other->size) +
                        " and " + std::to_string(dim.size));
        return std::nullopt;
      }
    }
    all = adds ? with_dims(all, next) : all;
  }
  return all;
}

std::optional<Dim> find_dim(const OpCall& call, std::size_t operand, std::string_view name,
                            DiagSink& diags) {
  const Shape& shape = call.operands[operand].shape;
  if (const Dim* dim = shape.find(name)) {
    return *dim;
  }
  diags.error(
      DiagKind::kDimMissing, call.span_of(operand),
      spelled(call) + " over " + in_backticks(name) + ", which is not in " + to_string(shape));
  return std::nullopt;
}

bool fit_new_dim(OpCall& call, std::string_view param, std::int64_t size, DiagSink& diags) {
  Dim dim = dim_arg(call.args, param);
  const bool fits = fit_dim(call, dim, size, diags);
  call.args.set(param, one_dim(dim));
  return fits;
}

bool fit_dim(const OpCall& call, Dim& dim, std::int64_t size, DiagSink& diags) {
  dim.size = dim.size <= 0 ? size : dim.size;
  if (dim.size == size) {
    return true;
  }
  diags.error(DiagKind::kDimSize, call.span,
              spelled(call) + " would give " + in_backticks(dim.name) + " size " +
                  std::to_string(size) + ", but it is declared with " + std::to_string(dim.size) +
                  "; a name that is not declared takes any size, and can be renamed once it fits");
  return false;
}

bool check_distinct(const OpCall& call, const std::vector<Dim>& dims, DiagSink& diags) {
  for (std::size_t i = 0; i < dims.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (dims[i].name == dims[j].name) {
        diags.error(DiagKind::kRepeatedDim, call.span,
                    "the result of " + spelled(call) + " would have " + in_backticks(dims[i].name) +
                        " twice");
        return false;
      }
    }
  }
  return true;
}

std::optional<TensorType> result_type(const OpCall& call, DType dtype, Shape shape,
                                      DiagSink& diags) {
  constexpr std::size_t kMostDims = 256;  // planning compares each dim with each, more than once
  if (shape.dims().size() > kMostDims) {
    diags.error(DiagKind::kOverflow, call.span,
                "the result of " + spelled(call) + " has " + std::to_string(shape.dims().size()) +
                    " dims; " + std::to_string(kMostDims) + " are the most");
    return std::nullopt;
  }
  if (!shape.checked_volume()) {
    diags.error(DiagKind::kOverflow, call.span,
                "the result of " + spelled(call) + ", " + to_string(shape) +
                    ", has too many elements to count");
    return std::nullopt;
  }
  return TensorType{.dtype = dtype, .shape = std::move(shape)};
}

std::optional<TensorType> float_elements(OpCall& call, DiagSink& diags) {
  return elements(call, Accepts::kFloats, diags);
}

std::optional<TensorType> number_elements(OpCall& call, DiagSink& diags) {
  return elements(call, Accepts::kNumbers, diags);
}

std::optional<TensorType> bool_elements(OpCall& call, DiagSink& diags) {
  return elements(call, Accepts::kBools, diags);
}

std::optional<TensorType> any_elements(OpCall& call, DiagSink& diags) {
  return elements(call, Accepts::kAny, diags);
}

IterationSpace kept_space(const OpCall& call) {
  return space_by_name(call);
}

IterationSpace whole_space(const OpCall& call) {
  return space_by_name(call, DimRole::kWhole);
}

double one_flop_each(const OpCall& call) {
  return static_cast<double>(call.result.shape.volume());
}

std::vector<OpParam> one_operand() {
  return {{.name = "x", .kind = ParamKind::kTensor, .help = "the tensor"}};
}

std::vector<OpParam> two_operands() {
  return {{.name = "a", .kind = ParamKind::kTensor, .help = "the left operand"},
          {.name = "b", .kind = ParamKind::kTensor, .help = "the right operand"}};
}

}  // namespace mtf

// The rules of mixed precision, by what an operation says of itself.

#include "frontend/elaborate/precision/precision.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

#include "frontend/elaborate/evaluate.h"

namespace mtf {
namespace {

constexpr std::array kPrecisions = {DType::kF32, DType::kBF16, DType::kF16};

std::optional<DType> find_precision(std::string_view name) {
  const std::optional<DType> dtype = find_dtype(name);
  const bool is_one = dtype && std::ranges::find(kPrecisions, *dtype) != kPrecisions.end();
  return is_one ? dtype : std::nullopt;
}

// f32, or as the products are.
std::optional<DType> find_gradients(std::string_view name, DType products) {
  const std::optional<DType> dtype = find_precision(name);
  return dtype == DType::kF32 || dtype == products ? dtype : std::nullopt;
}

}  // namespace

std::optional<Precision> precision_named(std::string_view text) {
  constexpr std::string_view kGradients = ",gradients=";
  const std::size_t comma = std::min(text.find(','), text.size());
  const std::optional<DType> products = find_precision(text.substr(0, comma));
  if (!products || comma == text.size()) {
    return products ? std::optional(Precision{.products = *products}) : std::nullopt;
  }
  if (!text.substr(comma).starts_with(kGradients)) {
    return std::nullopt;
  }
  const auto gradients = find_gradients(text.substr(comma + kGradients.size()), *products);
  return gradients ? std::optional(Precision{.products = *products, .gradients = *gradients})
                   : std::nullopt;
}

namespace host {
namespace {

// f64 and whole numbers stay what they are.
bool is_cast(DType dtype) {
  return wide_of(dtype) == DType::kF32;
}

bool is_param(const Program& program, ValueId id) {
  return std::ranges::any_of(program.inputs, [id](const Input& input) {
    return input.value == id && input.kind == InputKind::kParam;
  });
}

// A param, or nothing but elements of params in other places.
bool is_of_params(const Program& program, ValueId id) {
  const mtf::Value& value = program.at(id);
  if (value.op == nullptr) {
    return is_param(program, id);
  }
  const bool moves = value.op->narrow && value.op->narrowing == Narrowing::kFollows &&
                     value.op->primitive != Primitive::kCast &&
                     value.op->primitive != Primitive::kCarry;
  return moves && !value.operands.empty() &&
         std::ranges::all_of(value.operands,
                             [&](ValueId operand) { return is_of_params(program, operand); });
}

// A call about to be recorded.
struct Fitted {
  const Precision& precision;
  Builder& builder;
  std::vector<ValueId>& ids;

  [[nodiscard]] DType dtype(ValueId id) const { return builder.type_of(id).dtype; }

  // What gradients of params are rounded to is said by the cast that they come back through.
  void narrow(ValueId& id) const {
    const bool rounds = precision.gradients != DType::kF32 && dtype(id) == DType::kF32 &&
                        is_of_params(builder.program(), id);
    const ValueId wide = id;
    if (rounds) {
      OpArgs args;
      args.set("dtype", precision.products);
      args.set("gradient", precision.gradients);
      id = builder.emit(Primitive::kCast, {wide}, std::move(args));
    } else {
      id = builder.cast(wide, precision.products);
    }
    lay_out_as(wide, id);
  }

  // The cast of a variable rests as the variable does.
  void lay_out_as(ValueId variable, ValueId cast) const {
    Program& program = builder.program();
    const auto input = std::ranges::find(program.inputs, variable, &Input::value);
    if (input != program.inputs.end() && input->is_variable() && cast != variable) {
      program.at(cast).variable = input->name;
    }
  }

  void narrow_all() const {
    for (ValueId& id : ids) {
      if (is_cast(dtype(id))) {
        narrow(id);
      }
    }
  }

  void widen_all() const {
    for (ValueId& id : ids) {
      if (is_cast(dtype(id))) {
        id = builder.widened(id);
      }
    }
  }

  // Floats of two dtypes: beside narrow ones params are narrow, too, and anything else is f32.
  void settle(bool by_element) const {
    std::vector<ValueId> floats;
    std::ranges::copy_if(ids, std::back_inserter(floats),
                         [&](ValueId id) { return is_cast(dtype(id)); });
    const auto is_as_first = [&](ValueId id) { return dtype(id) == dtype(floats.front()); };
    if (std::ranges::all_of(floats, is_as_first)) {
      return;
    }
    const auto is_narrow_or_of_params = [&](ValueId id) {
      return dtype(id) == precision.products ||
             (dtype(id) == DType::kF32 && is_of_params(builder.program(), id));
    };
    const auto is_narrow_one = [&](ValueId id) { return dtype(id) == precision.products; };
    if (by_element && std::ranges::any_of(floats, is_narrow_one) &&
        std::ranges::all_of(floats, is_narrow_or_of_params)) {
      return narrow_all();
    }
    widen_all();
  }
};

// What is written of the dtype of a result goes before what the block says.
bool asks_for_narrow(const OpArgs& args) {
  const auto* dtype = args.get<DType>("dtype");
  return dtype != nullptr && is_narrow(*dtype);
}

bool is_left_alone(const OpDef& op) {
  return op.effect || op.file != FileUse::kNone || op.primitive == Primitive::kCast;
}

}  // namespace

std::optional<Precision> precision_of(Reporter& report, const ast::WithPrecision& with) {
  const std::optional<DType> products = find_precision(with.dtype.text);
  if (!products) {
    const std::vector<std::string> names{"f32", "bf16", "f16"};
    const Suggestion suggestion = suggest(with.dtype.text, names);
    report.error(
        DiagKind::kBadArgument, with.dtype.span,
        "a precision is f32, bf16 or f16, and not `" + with.dtype.text + "`" + suggestion.text, {},
        suggestion.fix);
    return std::nullopt;
  }
  Precision precision{.products = *products};
  for (const ast::PrecisionOption& option : with.options) {
    if (option.name.text != "gradients") {
      report.error(DiagKind::kUnknownArgument, option.name.span,
                   "`with precision` has no option `" + option.name.text + "`; `gradients = " +
                       with.dtype.text + "` says what those of params are rounded to");
      return std::nullopt;
    }
    const std::optional<DType> gradients = find_gradients(option.value.text, *products);
    if (!gradients) {
      report.error(DiagKind::kBadArgument, option.value.span,
                   "gradients of params are f32" +
                       (*products == DType::kF32 ? std::string()
                                                 : ", or " + with.dtype.text + " as the block") +
                       ", and not `" + option.value.text + "`");
      return std::nullopt;
    }
    precision.gradients = *gradients;
  }
  return precision;
}

void fit_operands(Units& units, const OpDef& op, OpArgs& args, std::vector<ValueId>& ids) {
  if (!units.precision || is_left_alone(op)) {
    return;
  }
  Builder& builder = units.recording().builder;
  const Fitted call{.precision = *units.precision, .builder = builder, .ids = ids};
  if (std::ranges::any_of(ids, [&](ValueId id) { return call.dtype(id) == DType::kF64; })) {
    return;
  }
  const bool is_full = units.precision->products == DType::kF32;
  switch (op.narrowing) {
    case Narrowing::kProduct:
      return call.narrow_all();
    case Narrowing::kLookup:
      if (call.dtype(ids.front()) == DType::kF32 && !is_full &&
          is_of_params(builder.program(), ids.front())) {
        call.narrow(ids.front());
      }
      return;
    case Narrowing::kWide:
      if (!asks_for_narrow(args)) {
        call.widen_all();
      }
      return;
    case Narrowing::kFollows:
      break;
  }
  if (is_full && (!op.narrow || ids.size() > 1)) {
    return call.widen_all();
  }
  call.settle(op.tile != nullptr);
}

std::vector<ValueId> summed_factors(Units& units, const OpDef& op, std::span<const ValueId> ids) {
  if (!units.precision || units.precision->products == DType::kF32 || op.algebra != Algebra::kSum ||
      ids.size() != 1) {
    return {};
  }
  const Program& program = units.recording().program();
  const mtf::Value& product = program.at(ids.front());
  if (product.op == nullptr || product.op->algebra != Algebra::kProduct) {
    return {};
  }
  const auto is_tensor = [&](ValueId id) {
    const TensorType& type = program.at(id).type;
    return is_cast(type.dtype) && type.shape.rank() > 0;
  };
  const bool has_narrow = std::ranges::any_of(product.operands, [&](ValueId id) {
    return is_narrow(program.at(id).type.dtype) || is_of_params(program, id);
  });
  const bool is_product = has_narrow && std::ranges::all_of(product.operands, is_tensor);
  return is_product ? product.operands : std::vector<ValueId>();
}

Value as_declared(Units& units, Value value, DType declared, SourceSpan span) {
  const auto* tensor = value.get<Tensor>();
  if (!units.precision || tensor == nullptr || tensor->type.dtype == declared ||
      !is_cast(tensor->type.dtype) || !is_cast(declared)) {
    return value;
  }
  const std::optional<ValueId> id = record(units, *tensor, span);
  if (!id) {
    return value;
  }
  Builder& builder = units.recording().builder;
  builder.at(span, units.frame);
  Value cast = recorded(units, builder.cast(*id, declared));
  std::get_if<Tensor>(&cast.node)->name = tensor->name;
  return cast;
}

Value as_before(Units& units, const Value& before, Value now, SourceSpan span) {
  if (const auto* tensor = before.get<Tensor>()) {
    return as_declared(units, std::move(now), tensor->type.dtype, span);
  }
  const auto* list = before.get<List>();
  const auto* others = now.get<List>();
  if (list == nullptr || others == nullptr || list->items->size() != others->items->size()) {
    return now;
  }
  Values items;
  for (std::size_t i = 0; i < list->items->size(); ++i) {
    items.push_back(as_before(units, (*list->items)[i], (*others->items)[i], span));
  }
  return make_list(std::move(items));
}

}  // namespace host
}  // namespace mtf

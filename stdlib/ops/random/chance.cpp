// bernoulli, dropout, permutation and categorical: made of random tensors and what compares them.

#include <limits>

#include "ir/builder.h"
#include "ir/support/number.h"
#include "stdlib/ops/ops.h"
#include "stdlib/ops/random/draw.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

bool check_share(const OpCall& call, std::string_view name, double share, bool with_one,
                 DiagSink& diags) {
  if (share >= 0 && (with_one ? share <= 1 : share < 1)) {
    return true;
  }
  diags.error(DiagKind::kBadArgument, call.span,
              spelled(call) + " with `" + std::string(name) + "` " + shortest(share) +
                  ", outside of 0 to 1" + (share == 1 ? "; 1 would leave nothing" : ""));
  return false;
}

// The arguments of a draw of `shape` in the stream of `call`.
OpArgs draw_args(const OpCall& call, Shape shape) {
  OpArgs args;
  args.set("shape", std::move(shape));
  if (const auto* seed = call.args.get<std::int64_t>("seed")) {
    args.set("seed", *seed);
  }
  return args;
}

// Whether a number drawn from 0 to 1 is below `share`.
ValueId chosen(Builder& b, const OpCall& call, const Shape& shape, double share) {
  const ValueId drawn = b.emit("uniform", {}, draw_args(call, shape));
  return b.emit("less", {drawn, b.scalar(share, DType::kF32)});
}

// ---- bernoulli ---------------------------------------------------------------------------------

std::optional<TensorType> bernoulli_type(OpCall& call, DiagSink& diags) {
  if (!check_share(call, "p", real_arg(call.args, "p", 0.5), true, diags)) {
    return std::nullopt;
  }
  return drawn_type(call, DType::kBool, diags);
}

std::optional<ValueId> bernoulli_expand(Builder& b, const OpCall& call,
                                        std::span<const ValueId> /*operands*/) {
  return chosen(b, call, call.result.shape, real_arg(call.args, "p", 0.5));
}

// ---- dropout -----------------------------------------------------------------------------------

std::optional<TensorType> dropout_type(OpCall& call, DiagSink& diags) {
  if (!check_operand(call, 0, Accepts::kFloats, diags) ||
      !check_share(call, "rate", real_arg(call.args, "rate", 0), false, diags)) {
    return std::nullopt;
  }
  const Shape& x = call.operands[0].shape;
  const auto* noise = call.args.get<Shape>("noise");
  if (noise != nullptr && !contains(x, *noise)) {
    diags.error(DiagKind::kDimMissing, call.span,
                "`dropout` of " + to_string(x) + " with `noise` of " + to_string(*noise) +
                    ", which has other dims");
    return std::nullopt;
  }
  return call.operands[0];
}

std::optional<ValueId> dropout_expand(Builder& b, const OpCall& call,
                                      std::span<const ValueId> operands) {
  const double rate = real_arg(call.args, "rate", 0);
  if (rate == 0) {
    return b.emit("identity", {operands[0]});
  }
  const DType dtype = call.result.dtype;
  const auto* noise = call.args.get<Shape>("noise");
  const ValueId dropped = chosen(b, call, noise == nullptr ? call.result.shape : *noise, rate);
  const ValueId larger = b.emit("mul", {operands[0], b.scalar(1 / (1 - rate), dtype)});
  return b.emit("where", {dropped, b.scalar(0, dtype), larger});
}

// ---- permutation -------------------------------------------------------------------------------

std::optional<TensorType> permutation_type(OpCall& call, DiagSink& diags) {
  return result_type(call, DType::kI32, Shape({dim_arg(call.args, "dim")}), diags);
}

// The order of random keys.
std::optional<ValueId> permutation_expand(Builder& b, const OpCall& call,
                                          std::span<const ValueId> /*operands*/) {
  OpArgs args = draw_args(call, call.result.shape);
  args.set("low", std::numeric_limits<std::int64_t>::min());
  args.set("high", std::numeric_limits<std::int64_t>::max());
  args.set("dtype", DType::kI64);
  OpArgs order;
  order.set("over", one_dim(dim_arg(call.args, "dim")));
  return b.emit("argsort", {b.emit("integers", {}, std::move(args))}, std::move(order));
}

// ---- categorical -------------------------------------------------------------------------------

std::optional<TensorType> categorical_type(OpCall& call, DiagSink& diags) {
  const std::optional<Dim> dim = find_dim(call, 0, dim_arg(call.args, "over").name, diags);
  if (!dim || !check_operand(call, 0, Accepts::kFloats, diags)) {
    return std::nullopt;
  }
  const double temperature = real_arg(call.args, "temperature", 1);
  if (!(temperature >= 0)) {
    diags.error(DiagKind::kBadArgument, call.span,
                "`categorical` with `temperature` " + shortest(temperature) +
                    ", which is negative; 0 takes the likeliest class");
    return std::nullopt;
  }
  return TensorType{.dtype = DType::kI32, .shape = call.operands[0].shape.without(dim->name)};
}

// The largest of logits + temperature * Gumbel noise (Gumbel, 1954).
std::optional<ValueId> categorical_expand(Builder& b, const OpCall& call,
                                          std::span<const ValueId> operands) {
  const double temperature = real_arg(call.args, "temperature", 1);
  OpArgs over;
  over.set("over", one_dim(dim_arg(call.args, "over")));
  if (temperature == 0) {
    return b.emit("argmax", {operands[0]}, std::move(over));
  }
  const TensorType type = b.type_of(operands[0]);
  OpArgs args = draw_args(call, type.shape);
  args.set("dtype", type.dtype);
  const ValueId noise = b.emit("gumbel", {}, std::move(args));
  const ValueId scaled = b.emit("mul", {noise, b.scalar(temperature, type.dtype)});
  return b.emit("argmax", {b.emit("add", {operands[0], scaled})}, std::move(over));
}

}  // namespace

const OpDef kBernoulli{.name = "bernoulli",
                       .summary = "booleans that are true with probability p",
                       .family = "random numbers",
                       .params = random_params({real_param("p", "the share of true (0.5)")}, ""),
                       .shape_rule = "the shape, as bools",
                       .example = "dim io = 8\nprint bernoulli([io], p = 0.25, seed = 7)\n",
                       .type = bernoulli_type,
                       .expand = bernoulli_expand,
                       .random = true};

const OpDef kDropout{
    .name = "dropout",
    .summary = "zeroes each element with probability rate and scales the others by 1 / (1 - rate)",
    .family = "random numbers",
    .params =
        {{.name = "x", .kind = ParamKind::kTensor, .help = "the tensor"},
         {.name = "rate", .kind = ParamKind::kReal, .help = "the share, below 1"},
         {.name = "noise",
          .kind = ParamKind::kShape,
          .required = false,
          .help =
              "the dims that are drawn for; elements along the others share a draw (those of x)"},
         seed_param()},
    .shape_rule = kSameDims,
    .example = "dim io = 8\nprint dropout(ones([io]), rate = 0.25, seed = 7)\n",
    .type = dropout_type,
    .expand = dropout_expand,
    .random = true};

const OpDef kPermutation{
    .name = "permutation",
    .summary = "the integers 0, 1, 2… along a dim in a random order",
    .family = "random numbers",
    .params = {{.name = "dim", .kind = ParamKind::kDim, .help = "the dim"}, seed_param()},
    .shape_rule = "the dim, as i32",
    .example = R"(dim sample = 8
let order = permutation(sample, seed = 7)
assert all(sort(order, over = sample) == range(sample))
)",
    .type = permutation_type,
    .expand = permutation_expand,
    .random = true};

const OpDef kCategorical{
    .name = "categorical",
    .summary = "a class drawn with the probabilities softmax(logits / temperature)",
    .family = "random numbers",
    .params = {{.name = "logits", .kind = ParamKind::kTensor, .help = "one for each class"},
               {.name = "over", .kind = ParamKind::kDim, .help = "the dim of classes"},
               {.name = "temperature",
                .kind = ParamKind::kReal,
                .required = false,
                .help = "0 picks the likeliest class (1)"},
               seed_param()},
    .shape_rule = "the dims of logits without `over`, as i32",
    .example = R"(dim batch = 4, vocab = 3
let logits = log(const([vocab], [0.5, 0.25, 0.25])) + zeros([batch])
print categorical(logits, over = vocab, temperature = 0.8, seed = 7)
)",
    .type = categorical_type,
    .expand = categorical_expand,
    .random = true};

}  // namespace mtf::ops

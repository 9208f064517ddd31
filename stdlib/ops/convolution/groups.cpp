#include "stdlib/ops/convolution/groups.h"

#include <algorithm>
#include <string>

#include "stdlib/ops/rules.h"

namespace mtf {
namespace {

// The dims that groups cut: of x and of the kernel what is summed, and the kernel's own.
struct Grouped {
  Dim of_x;
  std::optional<Dim> of_k;  // none: the kernel has one element for each index of `of_x`
  Dim out;
};

bool is_in(std::span<const Dim> dims, std::string_view name) {
  return std::ranges::find(dims, name, &Dim::name) != dims.end();
}

std::vector<Dim> summed_of(std::span<const Dim> mine, std::span<const Dim> other, const Shape* to) {
  std::vector<Dim> summed;
  std::ranges::copy_if(mine, std::back_inserter(summed), [&](const Dim& dim) {
    return to == nullptr ? is_in(other, dim.name) : !to->has(dim.name);
  });
  return summed;
}

std::optional<Grouped> grouped(const OpCall& call, std::span<const Dim> x, std::span<const Dim> k,
                               DiagSink& diags) {
  const auto* to = call.args.get<Shape>("to");
  const std::vector<Dim> of_x = summed_of(x, k, to);
  const std::vector<Dim> of_k = summed_of(k, x, to);
  const auto out = std::ranges::find_if(
      k, [&](const Dim& dim) { return !is_in(of_k, dim.name) && !is_in(x, dim.name); });
  if (of_x.size() == 1 && of_k.size() < 2 && out != k.end()) {
    return Grouped{.of_x = of_x.front(),
                   .of_k = of_k.empty() ? std::nullopt : std::optional(of_k.front()),
                   .out = *out};
  }
  diags.error(DiagKind::kBadArgument, call.span,
              spelled(call) + " with `groups` sums one dim of " +
                  to_string(call.operands[0].shape) + " and makes one of " +
                  to_string(call.operands[1].shape) +
                  "; a dim that both and the result have needs no `groups`");
  return std::nullopt;
}

// A name that nothing in the call has.
std::string fresh(const OpCall& call, std::string name) {
  const auto taken = [&] {
    return call.result.shape.has(name) ||
           std::ranges::any_of(call.operands,
                               [&](const TensorType& operand) { return operand.shape.has(name); });
  };
  while (taken()) {
    name += "_";
  }
  return name;
}

Shape replaced(const Shape& shape, std::string_view name, const std::vector<Dim>& by) {
  std::vector<Dim> dims;
  for (const Dim& dim : shape.dims()) {
    if (dim.name == name) {
      dims.insert(dims.end(), by.begin(), by.end());
    } else {
      dims.push_back(dim);
    }
  }
  return Shape(std::move(dims));
}

}  // namespace

bool fit_groups(const OpCall& call, std::vector<Dim>& x, std::vector<Dim>& k, DiagSink& diags) {
  const std::int64_t groups = int_arg(call.args, "groups", 1);
  if (groups == 1) {
    return true;
  }
  if (groups < 1) {
    diags.error(DiagKind::kBadArgument, call.span,
                spelled(call) + " of " + std::to_string(groups) + " groups; it is at least 1");
    return false;
  }
  const std::optional<Grouped> dims = grouped(call, x, k, diags);
  if (!dims) {
    return false;
  }
  const std::int64_t part = dims->of_k ? dims->of_k->size : 1;
  if (dims->of_x.size % groups != 0 || dims->of_x.size / groups != part ||
      dims->out.size % groups != 0) {
    const std::string times = std::to_string(groups);
    diags.error(
        DiagKind::kDimSize, call.span,
        spelled(call) + " of " + times + " groups: x has " + std::to_string(dims->of_x.size) +
            " of " + in_backticks(dims->of_x.name) + ", the kernel " + std::to_string(part) +
            " and " + std::to_string(dims->out.size) + " of " + in_backticks(dims->out.name) +
            "; the first is " + times + " times the second, the third a multiple of " + times);
    return false;
  }
  if (dims->of_k) {
    *std::ranges::find(k, *dims->of_k) = dims->of_x;
  } else {
    k.push_back(dims->of_x);
  }
  return true;
}

std::optional<ValueId> expand_groups(Builder& b, const OpCall& call,
                                     std::span<const ValueId> operands) {
  const std::int64_t groups = int_arg(call.args, "groups", 1);
  if (groups == 1) {
    return ValueId{};
  }
  const auto others = [&](std::size_t operand, std::string_view windows) {
    std::vector<Dim> dims;
    std::ranges::copy_if(call.operands[operand].shape.dims(), std::back_inserter(dims),
                         [&](const Dim& dim) {
                           return !is_in(*call.args.get<std::vector<Dim>>(windows), dim.name);
                         });
    return dims;
  };
  const std::optional<Grouped> dims =
      grouped(call, others(0, "window"), others(1, "taps"), b.diags());
  if (!dims) {
    return std::nullopt;
  }
  const Dim group{.name = fresh(call, "groups"), .size = groups};
  const Dim out{.name = fresh(call, dims->out.name + "_each"), .size = dims->out.size / groups};
  std::vector<Dim> of_x = {group};
  Shape kernel = replaced(call.operands[1].shape, dims->out.name, {group, out});
  if (dims->of_k) {
    const Dim part{.name = fresh(call, dims->of_x.name + "_each"), .size = dims->of_k->size};
    of_x.push_back(part);
    kernel = replaced(kernel, dims->of_k->name, {part});
  }
  const Shape x = replaced(call.operands[0].shape, dims->of_x.name, of_x);
  const Shape to = shape_arg(call.args, "to");
  OpArgs args = call.args;
  args.erase("groups");
  args.set("to", replaced(to, dims->out.name, {group, out}));
  const ValueId parts = b.emit("reshape", {operands[0]}, to_shape(x));
  const ValueId kernels = b.emit("reshape", {operands[1]}, to_shape(kernel));
  const ValueId product = b.emit(call.op->name, {parts, kernels}, std::move(args));
  return b.emit("reshape", {product}, to_shape(to));
}

}  // namespace mtf

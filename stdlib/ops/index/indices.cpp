#include "stdlib/ops/index/indices.h"

#include <algorithm>
#include <string>
#include <utility>

#include "ir/support/number.h"
#include "stdlib/ops/rules.h"

namespace mtf::ops {
namespace {

// The call's arguments say so, in either spelling.
bool clips(const OpArgs& args) {
  return bool_arg(args, "clip", false) || text_arg(args, "out_of_range") == "clip";
}

ValueId clipped(Builder& b, ValueId ids, const Dim& dim) {
  OpArgs wide;
  wide.set("dtype", DType::kI64);
  const ValueId number = b.emit("cast", {ids}, std::move(wide));
  const ValueId last = b.scalar(static_cast<double>(dim.size - 1), DType::kI64);
  return b.emit("clip", {number, b.scalar(0, DType::kI64), last});
}

// Ends the program where an index lies outside. The least and the greatest decide.
void check_inside(Builder& b, const OpCall& call, ValueId ids, const Dim& dim) {
  OpArgs wide;
  wide.set("dtype", DType::kI64);
  const ValueId number = b.emit("cast", {ids}, std::move(wide));
  OpArgs all;
  const auto dims = b.type_of(ids).shape.dims();
  all.set("over", std::vector<Dim>(dims.begin(), dims.end()));
  const bool many = !dims.empty();
  const ValueId least = many ? b.emit("min", {number}, all) : number;
  const ValueId most = many ? b.emit("max", {number}, all) : number;
  const ValueId above = b.emit("greater_equal", {least, b.scalar(0, DType::kI64)});
  const ValueId below =
      b.emit("less", {most, b.scalar(static_cast<double>(dim.size), DType::kI64)});
  OpArgs text;
  text.set("text", "an index of " + spelled(call) + " over `" + dim.name + "` is outside of its " +
                       plural(dim.size, "element") + ": indices are from {} to {}");
  b.emit("assert", {b.emit("logical_and", {above, below}), least, most}, std::move(text));
}

}  // namespace

std::vector<Dim> indexed_dims(const OpArgs& args) {
  const auto* dims = args.get<std::vector<Dim>>("over");
  return dims == nullptr ? std::vector<Dim>() : *dims;
}

std::string names_text(const std::vector<Dim>& dims) {
  std::string text;
  for (const Dim& dim : dims) {
    text += (text.empty() ? "`" : " and `") + dim.name + "`";
  }
  return text;
}

std::optional<Shape> places_of(const OpCall& call, DiagSink& diags) {
  const std::vector<Dim> over = indexed_dims(call.args);
  if (call.operands.size() != over.size() + 1) {
    diags.error(DiagKind::kBadArgument, call.span,
                spelled(call) + " by " + std::to_string(call.operands.size() - 1) +
                    " tensors of indices over " + plural(over.size(), "dim") +
                    "; it needs one for each dim, in the same order" +
                    (over.size() == 1 ? ", and several indices of a dim are one tensor" : ""));
    return std::nullopt;
  }
  if (!check_distinct(call, over, diags)) {
    return std::nullopt;
  }
  std::vector<Dim> dims;
  for (std::size_t i = 1; i < call.operands.size(); ++i) {
    if (!check_operand(call, i, Accepts::kIndices, diags)) {
      return std::nullopt;
    }
    for (const Dim& dim : call.operands[i].shape.dims()) {
      const auto known = std::ranges::find(dims, dim.name, &Dim::name);
      if (known == dims.end()) {
        dims.push_back(dim);
      } else if (known->size != dim.size) {
        diags.error(DiagKind::kDimSize, call.span_of(i),
                    spelled(call) + " by indices in which `" + dim.name + "` has two sizes, " +
                        std::to_string(known->size) + " and " + std::to_string(dim.size));
        return std::nullopt;
      }
    }
  }
  return Shape(std::move(dims));
}

bool check_out_of_range(const OpCall& call, DiagSink& diags) {
  const std::string what = text_arg(call.args, "out_of_range");
  const bool* clip = call.args.get<bool>("clip");
  std::string problem;
  if (!what.empty() && what != "drop" && what != "clip" && what != "error") {
    problem = R"("; it is "drop", "clip" or "error")";
  } else if (!what.empty() && clip != nullptr && *clip != (what == "clip")) {
    problem = std::string("\" and clip = ") + (*clip ? "true" : "false") +
              ", which contradict each other; `out_of_range` alone says it all";
  }
  if (problem.empty()) {
    return true;
  }
  diags.error(DiagKind::kBadArgument, call.span,
              spelled(call) + " with out_of_range = \"" + what + problem);
  return false;
}

std::optional<std::vector<ValueId>> inside(Builder& b, const OpCall& call,
                                           std::span<const ValueId> indices,
                                           const std::vector<Dim>& over) {
  const bool checks = text_arg(call.args, "out_of_range") == "error";
  if (!checks && !clips(call.args)) {
    return std::nullopt;
  }
  std::vector<ValueId> result(indices.begin(), indices.end());
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (checks) {
      check_inside(b, call, result[i], over[i]);
    } else {
      result[i] = clipped(b, result[i], over[i]);
    }
  }
  return result;
}

OpParam out_of_range_param() {
  return {.name = "out_of_range",
          .kind = ParamKind::kText,
          .required = false,
          .help = R"("clip": by the nearest index inside; "error": stop; ("drop": ignored))"};
}

}  // namespace mtf::ops

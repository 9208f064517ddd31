// Functions that are built anew for each value of a number: it is part of what is computed, where a
// scalar tensor would be an input. Of many builds the oldest go; who calls them is told.

#include <algorithm>
#include <set>

#include "frontend/elaborate/tensors/units.h"

namespace mtf::host {
namespace {

constexpr std::size_t kMostBuilt = 64;   // of one function, if the device can forget any
constexpr std::size_t kManyValues = 10;  // of one parameter

// The same but for numbers that tensors are filled with, in whose place a scalar tensor would do. A
// seed, say, stays a number.
bool same_form(const Program& a, const Program& b) {
  return std::ranges::equal(a.values, b.values, [](const mtf::Value& x, const mtf::Value& y) {
    return x.op == y.op && x.type == y.type && x.operands == y.operands &&
           (x.args == y.args || (x.op != nullptr && x.op->primitive == Primitive::kFill));
  });
}

std::optional<double> number_of(const std::optional<Value>& argument) {
  if (!argument) {
    return std::nullopt;
  }
  if (const auto* whole = argument->get<std::int64_t>()) {
    return static_cast<double>(*whole);
  }
  const auto* number = argument->get<double>();
  return number == nullptr ? std::nullopt : std::optional(*number);
}

std::set<double> values_of(std::span<const BuiltFunction* const> functions, std::size_t parameter) {
  std::set<double> values;
  for (const BuiltFunction* built : functions) {
    if (const std::optional<double> value = number_of(built->arguments[parameter])) {
      values.insert(*value);
    }
  }
  return values;
}

}  // namespace

void make_room(Units& units, const ast::Fn& fn) {
  auto& kept = units.built[&fn];
  if (kept.size() < kMostBuilt) {
    return;
  }
  const auto oldest = std::ranges::min_element(kept, {}, &BuiltFunction::used);
  if (units.execution.forget(*(*oldest)->unit)) {
    kept.erase(oldest);
  }
}

void warn_of_rebuilt(Units& units, const ast::Fn& fn, std::span<const SourceSpan> calls) {
  const auto& kept = units.built[&fn];
  const bool is_here =
      std::ranges::any_of(calls, [&](SourceSpan call) { return call.file == fn.name.span.file; });
  if (!is_here || kept.size() < kManyValues || units.told_rebuilt.contains(&fn) ||
      kept.back()->failed || kept.back()->unit->program.values.empty()) {
    return;  // what computes with host values alone, as a rate of a step, has no program to build
  }
  std::vector<const BuiltFunction*> alike;
  for (const std::unique_ptr<BuiltFunction>& built : kept) {
    if (!built->failed && same_form(built->unit->program, kept.back()->unit->program)) {
      alike.push_back(built.get());
    }
  }
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::size_t values = values_of(alike, i).size();
    if (values < kManyValues) {
      continue;
    }
    const std::string& name = fn.parameters[i].name.text;
    const bool is_whole = std::ranges::all_of(alike, [i](const BuiltFunction* built) {
      return !built->arguments[i] || !built->arguments[i]->is<double>();
    });
    units.told_rebuilt.insert(&fn);
    units.report.warning(DiagKind::kBadArgument, calls[i],
                         "`" + fn.name.text + "` is built anew for each value of `" + name + "`, " +
                             std::to_string(values) + " so far; as `" + name +
                             (is_whole ? ": i32[]" : ": f32[]") + "` it is built once");
    return;
  }
}

}  // namespace mtf::host

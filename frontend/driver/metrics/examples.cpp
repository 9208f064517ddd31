#include "frontend/driver/metrics/examples.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ir/loops/loop.h"
#include "ir/op.h"

namespace mtf {
namespace {

using DimSizes = std::map<std::string, std::int64_t>;

DimSizes dims_of_params(const Program& program) {
  DimSizes dims;
  for (const Input& input : program.inputs) {
    if (input.kind == InputKind::kParam) {
      for (const Dim& dim : program.at(input.value).type.shape.dims()) {
        dims.emplace(dim.name, dim.size);
      }
    }
  }
  return dims;
}

// `+batch` is what blocks of batch have of it: a part of one dim.
DimSizes dims_without(const Shape& shape, const DimSizes& others) {
  DimSizes dims;
  for (const Dim& dim : shape.dims()) {
    const std::string name = dim.name.substr(dim.name.starts_with('+') ? 1 : 0);
    if (!others.contains(name)) {
      dims.try_emplace(name, 1).first->second *= dim.size;
    }
  }
  return dims;
}

std::int64_t volume(const DimSizes& dims) {
  std::int64_t product = dims.empty() ? 0 : 1;
  for (const auto& [name, size] : dims) {
    product *= size;
  }
  return product;
}

// The trips of loops whose condition is a counter's.
class TripCounts {
 public:
  explicit TripCounts(const Program& program) : program_(program), around_(loops_around(program)) {
    for (const Value& value : program.values) {
      if (is(value, Primitive::kNext)) {
        next_.emplace(value.operands[0].index, value.operands[1]);
      }
    }
  }

  // What a carried value is in the next trip.
  [[nodiscard]] std::optional<ValueId> next(ValueId carried) const {
    const auto found = next_.find(carried.index);
    return found == next_.end() ? std::nullopt : std::optional(found->second);
  }

  // How often a value is made for each time that `of` is; 1 where nobody knows.
  [[nodiscard]] std::int64_t times(ValueId value, ValueId of) const {
    std::int64_t times = 1;
    const std::int32_t last = loop(of);
    for (std::int32_t at = loop(value); at >= 0 && at != last; at = loop(ValueId{at})) {
      times *= trips(program_.at(ValueId{at}).operands.front());
    }
    return times;
  }
  [[nodiscard]] std::int32_t loop(ValueId id) const {
    return around_[static_cast<std::size_t>(id.index)];
  }

 private:
  [[nodiscard]] std::optional<double> number(ValueId id) const {
    const Value& value = program_.at(id);
    const auto* filled = value.op == nullptr ? nullptr : value.args.get<double>("value");
    return value.operands.empty() && filled != nullptr ? std::optional(*filled) : std::nullopt;
  }

  // Of `while i < n { … i = i + 1 }`, from the carried condition.
  [[nodiscard]] std::int64_t trips(ValueId condition) const {
    const Value& less = program_.at(next(condition).value_or(condition));
    if (less.op == nullptr || less.op->name != "less") {
      return 1;
    }
    const Value& add = program_.at(less.operands[0]);
    const std::optional<double> end = number(less.operands[1]);
    if (!end || add.op == nullptr || add.op->primitive != Primitive::kAdd) {
      return 1;
    }
    const Value& counter = program_.at(add.operands[0]);
    const std::optional<double> step = number(add.operands[1]);
    const bool is_counter =
        is(counter, Primitive::kCarry) && next(add.operands[0]) == less.operands[0];
    const std::optional<double> begin = is_counter ? number(counter.operands[0]) : std::nullopt;
    return begin && step == 1 ? static_cast<std::int64_t>(std::max(*end - *begin, 0.0)) : 1;
  }

  const Program& program_;
  std::vector<std::int32_t> around_;
  std::map<std::int32_t, ValueId> next_;
};

// What is summed up to the scalar: the tensors of most dims that scalars, and what loops carry for
// blocks of such sums, are made of.
struct Summed {
  DimSizes dims;
  std::vector<ValueId> tensors;
};

Summed summed_to(const Program& program, ValueId scalar, const TripCounts& trips) {
  const DimSizes params = dims_of_params(program);
  std::vector<ValueId> reached{scalar};
  Summed summed;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const Value& made = program.at(reached[i]);
    std::vector<ValueId> of = made.operands;
    if (const std::optional<ValueId> next = trips.next(reached[i])) {
      of.push_back(*next);
    }
    for (const ValueId operand : of) {
      const Shape& shape = program.at(operand).type.shape;
      const bool goes_on = shape.rank() == 0 || is(program.at(operand), Primitive::kCarry) ||
                           shape == made.type.shape;
      const auto same = [operand](ValueId id) { return id.index == operand.index; };
      if (goes_on && std::ranges::none_of(reached, same)) {
        reached.push_back(operand);
      }
      DimSizes dims = dims_without(shape, params);
      const auto most = std::pair(summed.dims.size(), volume(summed.dims));
      if (std::pair(dims.size(), volume(dims)) > most) {
        summed = {.dims = std::move(dims), .tensors = {operand}};
      } else if (!dims.empty() && dims == summed.dims) {
        summed.tensors.push_back(operand);
      }
    }
  }
  return summed;
}

// A sum of sums is that of all terms, and so they are added up before.
std::vector<ValueId> terms_of(const Program& program, std::vector<ValueId> tensors) {
  std::vector<ValueId> terms;
  while (!tensors.empty()) {
    const ValueId tensor = tensors.back();
    const Value& value = program.at(tensor);
    tensors.pop_back();
    if (is(value, Primitive::kAdd)) {
      tensors.insert(tensors.end(), value.operands.begin(), value.operands.end());
    } else if (value.type.shape.rank() > 0) {
      terms.push_back(tensor);
    }
  }
  return terms;
}

// What says which microbatch a tensor is of: the indices at which the program is read for it, or
// the loop in whose trips it is made.
std::set<std::string> marks_of(const Program& program, ValueId tensor, const TripCounts& trips) {
  std::set<std::string> marks;
  std::vector<char> seen(program.values.size());
  std::vector<ValueId> left{tensor};
  while (!left.empty()) {
    const Value& value = program.at(left.back());
    left.pop_back();
    const bool reads = !value.operands.empty() && program.at(value.operands[0]).op == nullptr;
    const auto* at = value.args.get<std::int64_t>("at");
    if (reads && is(value, Primitive::kIndex) && at != nullptr) {
      marks.insert(std::to_string(value.operands[0].index) + " at " + std::to_string(*at));
      continue;
    }
    for (const ValueId operand : value.operands) {
      if (std::exchange(seen[static_cast<std::size_t>(operand.index)], 1) == 0) {
        left.push_back(operand);
      }
    }
  }
  if (marks.empty() || trips.loop(tensor) >= 0) {
    marks = {"in " + std::to_string(trips.loop(tensor))};
  }
  return marks;
}

// Of tensors with a mark in common the examples are the same.
std::int64_t count_of(const Program& program, const Summed& summed, ValueId scalar,
                      const TripCounts& trips) {
  struct Batch {
    std::set<std::string> marks;
    std::int64_t times = 0;
  };
  std::vector<Batch> batches;
  for (const ValueId tensor : terms_of(program, summed.tensors)) {
    Batch batch{.marks = marks_of(program, tensor, trips), .times = trips.times(tensor, scalar)};
    std::erase_if(batches, [&](const Batch& other) {
      const bool shares = std::ranges::any_of(
          other.marks, [&](const std::string& mark) { return batch.marks.contains(mark); });
      if (shares) {
        batch.marks.insert(other.marks.begin(), other.marks.end());
        batch.times = std::max(batch.times, other.times);
      }
      return shares;
    });
    batches.push_back(std::move(batch));
  }
  std::int64_t times = 0;
  for (const Batch& batch : batches) {
    times += batch.times;
  }
  return times * volume(summed.dims);
}

// Whether some tensor of whole numbers has just these dims.
bool has_numbers_for(const Program& program, const DimSizes& dims) {
  return std::ranges::any_of(program.values, [&](const Value& value) {
    const Shape& shape = value.type.shape;
    return value.type.dtype == DType::kI32 && shape.rank() == dims.size() &&
           std::ranges::all_of(shape.dims(),
                               [&](const Dim& dim) { return dims.contains(dim.name); });
  });
}

}  // namespace

ExampleCount examples_of(const Program& program) {
  const auto watched = std::ranges::find_if(
      program.values, [](const Value& value) { return is(value, Primitive::kCheckFinite); });
  if (watched == program.values.end()) {
    return {};
  }
  const TripCounts trips(program);
  const ValueId scalar = watched->operands.front();
  const Summed summed = summed_to(program, scalar, trips);
  return {.count = count_of(program, summed, scalar, trips),
          .are_tokens = summed.dims.size() == 2 && has_numbers_for(program, summed.dims)};
}

}  // namespace mtf

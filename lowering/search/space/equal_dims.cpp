// Dims that play the same part: with their names exchanged the programs are the same. What
// exchanges two of them in a candidate costs the same, and only one of the two is planned.

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>

#include "lowering/known/numbered.h"
#include "lowering/search/space/space.h"

namespace mtf {
namespace {

struct Names {
  std::string a;
  std::string b;
};

// With each of two names, where it stands as a whole word, in the place of the other.
std::string exchanged(const std::string& text, const Names& names) {
  std::string result;
  std::string word;
  const auto flush = [&] {
    result += word == names.a ? names.b : word == names.b ? names.a : word;
    word.clear();
  };
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      word += c;
      continue;
    }
    flush();
    result += c;
  }
  flush();
  return result;
}

// What a value is by itself, whatever variables are called.
std::string kind_of(const Program& program, std::size_t i, const Names& names) {
  const Value& value = program.values[i];
  std::string text = value.op == nullptr ? "input" : std::string(value.op->name);
  text += "(" + to_string(value.args) + ") " + to_string(value.type);
  text = exchanged(text, names);
  text += value.internal ? " internal" : "";
  text += value.backward ? " backward" : "";
  text += value.variable.empty() ? "" : " variable";
  return text + " " + std::to_string(value.region) + " " + std::to_string(value.recompute.block);
}

// Whether its two operands may change places: a sum's or a product's.
bool commutes(const Value& value) {
  return value.op != nullptr && value.operands.size() == 2 &&
         (value.op->primitive == Primitive::kAdd || value.op->algebra == Algebra::kProduct ||
          value.op->algebra == Algebra::kEinsum);
}

// Each value also by what it is made of and what is made of it.
std::vector<Number> finer(const Program& program, const std::vector<Number>& parts,
                          NumberedTexts& numbers) {
  std::vector<std::string> texts;
  std::vector<std::vector<Number>> readers(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    texts.push_back("of " + std::to_string(parts[i]));
    int place = 0;
    const bool is_either = commutes(program.values[i]);
    std::vector<ValueId> operands = program.values[i].operands;
    if (is_either) {
      std::ranges::sort(operands, {}, [&parts](ValueId id) { return parts[at(id)]; });
    }
    for (const ValueId operand : operands) {
      texts.back() += "," + std::to_string(parts[at(operand)]);
      const std::string where = is_either ? "either place" : std::to_string(place++);
      readers[at(operand)].push_back(numbers.number(std::to_string(parts[i]) + " at " + where));
    }
  }
  std::vector<Number> result;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::ranges::sort(readers[i]);
    for (const Number reader : readers[i]) {
      texts[i] += ";" + std::to_string(reader);
    }
    result.push_back(numbers.number(texts[i]));
  }
  return result;
}

// Variables, what updates them, and results are told apart from other values.
void mark_ends(const Program& program, std::vector<Number>& parts, NumberedTexts& numbers) {
  const auto mark = [&](ValueId id, const std::string& text) {
    parts[at(id)] = numbers.number(std::to_string(parts[at(id)]) + text);
  };
  for (const Input& input : program.inputs) {
    mark(input.value, " input " + std::to_string(static_cast<int>(input.kind)));
  }
  for (const Update& update : program.updates) {
    mark(update.value, " new " + std::to_string(parts[at(program.inputs[update.input].value)]));
  }
  for (const ValueId output : program.outputs) {
    mark(output, " output");
  }
}

// The values of a program, some steps around each. Sorted: which is which does not matter.
std::vector<Number> parts_of(const Program& program, const Names& names, NumberedTexts& numbers) {
  constexpr int kSteps = 4;
  std::vector<Number> parts;
  for (std::size_t i = 0; i < program.values.size(); ++i) {
    parts.push_back(numbers.number(kind_of(program, i, names)));
  }
  mark_ends(program, parts, numbers);
  for (int step = 0; step < kSteps; ++step) {
    parts = finer(program, parts, numbers);
  }
  std::ranges::sort(parts);
  return parts;
}

bool plays_the_same_part(std::span<const Program> programs, const Names& names) {
  return std::ranges::all_of(programs, [&names](const Program& program) {
    NumberedTexts numbers;
    return parts_of(program, {}, numbers) == parts_of(program, names, numbers);
  });
}

// The values that have the dim.
std::size_t uses_of(std::span<const Program> programs, const std::string& dim) {
  std::size_t count = 0;
  for (const Program& program : programs) {
    count += static_cast<std::size_t>(std::ranges::count_if(
        program.values, [&dim](const Value& value) { return value.type.shape.find(dim); }));
  }
  return count;
}

DimSet exchanged(DimSet dims, std::size_t a, std::size_t b) {
  const DimSet left = dims & ~(only(a) | only(b));
  return dims == kAsRules ? dims
                          : left | (has(dims, a) ? only(b) : 0) | (has(dims, b) ? only(a) : 0);
}

}  // namespace

void SearchSpace::find_equal_dims(std::span<const Program> programs) {
  std::vector<std::size_t> uses;
  for (const std::string& dim : dims_) {
    uses.push_back(uses_of(programs, dim));
  }
  for (std::size_t a = 0; a < dims_.size(); ++a) {
    for (std::size_t b = a + 1; b < dims_.size(); ++b) {
      const bool may_be = !is_fixed(a) && !is_fixed(b) && sizes_[a] == sizes_[b] &&
                          uses[a] == uses[b] && excludes_alike(a, b);
      if (may_be && plays_the_same_part(programs, {.a = dims_[a], .b = dims_[b]})) {
        equal_.emplace_back(a, b);
      }
    }
  }
}

// Whether they stand beside the same dims, also in what is computed beside the entries.
bool SearchSpace::excludes_alike(std::size_t a, std::size_t b) const {
  const DimSet others = ~(only(a) | only(b));
  return (apart_[a] & others) == (apart_[b] & others) &&
         (apart_in_variables_[a] & others) == (apart_in_variables_[b] & others);
}

LayoutCandidate SearchSpace::exchange(LayoutCandidate candidate, std::size_t a, std::size_t b) {
  std::swap(candidate.rules[a], candidate.rules[b]);
  for (DimSet& dims : candidate.variables) {
    dims = exchanged(dims, a, b);
  }
  candidate.whole = exchanged(candidate.whole, a, b);
  return candidate;
}

// Of `*` the order of the rules decides; of groups the names of variables.
LayoutCandidate SearchSpace::canonical(const LayoutCandidate& candidate) const {
  LayoutCandidate least = with_axes_in_order(candidate);
  bool is_least = !candidate.groups.empty();
  while (!is_least) {
    is_least = true;
    for (const auto& [a, b] : equal_) {
      const bool may_be = !mtf::has(least.rest, a) && !mtf::has(least.rest, b);
      LayoutCandidate other = may_be ? with_axes_in_order(exchange(least, a, b)) : least;
      if (other < least) {
        least = std::move(other);
        is_least = false;
      }
    }
  }
  return least;
}

}  // namespace mtf

#include "lowering/price/terms.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "lowering/known/numbered.h"

namespace mtf {
namespace {

class Collector {
 public:
  explicit Collector(const SpmdProgram& program) : program_(program) {
    std::unordered_set<const Dim*> seen;  // what shares its dims with others is looked at once
    for (const Value& value : program.source.values) {
      if (!seen.insert(value.type.shape.dims().data()).second) {
        continue;
      }
      for (const Dim& dim : value.type.shape.dims()) {
        std::int64_t& size = sizes_[dim.name];
        size = std::max(size, dim.size);
      }
    }
  }

  CostTerms run(const Peak& peak) {
    CostTerms terms;
    Sum flops;
    std::vector<Sum> moved(program_.totals.collectives.size());
    for (const Step& step : program_.steps) {
      if (step.kind == StepKind::kKernel) {
        add_kernel(step, flops);
      } else if (is_collective(step.kind)) {
        add_move(step, moved);
      }
    }
    terms.flops = leading(flops);
    for (const Sum& sum : moved) {
      terms.collectives.push_back(leading(sum));
    }
    Sum elements;
    for (const Held& held : peak.held) {
      if (held.value.valid()) {
        add_value(program_.at(held.value), elements);
      }
    }
    terms.elements = leading(elements);
    return terms;
  }

 private:
  // The dims and axes of a term to its coefficient.
  using Sum = std::map<std::pair<std::map<std::string, int>, std::map<std::string, int>>, double>;

  // The place of a term in a sum, and what it adds there.
  struct Share {
    double* total = nullptr;  // null: nothing
    double by = 0;

    void add() const {
      if (total != nullptr) {
        *total += by;
      }
    }
  };
  static Share share_of(Sum& sum, const Term& term) {
    return {.total = &sum[{term.dims, term.axes}], .by = term.coefficient};
  }

  // Layers repeat each other's calls, moves and values: the share of one is that of its like.
  template <typename T>
  class Shares {
   public:
    template <typename Alike, typename Find>
    const Share& of(std::size_t hash, const T& thing, const Alike& alike, const Find& find) {
      const auto [begin, end] = known_.equal_range(hash);
      for (auto known = begin; known != end; ++known) {
        if (alike(*known->second.first, thing)) {
          return known->second.second;
        }
      }
      return known_.emplace(hash, std::pair(&thing, find()))->second.second;
    }

   private:
    std::unordered_multimap<std::size_t, std::pair<const T*, Share>> known_;  // by hash
  };

  static void mix(ContentHash& hash, const Axes& axes) {
    hash.add(axes.size());
    for (const AxisId axis : axes) {
      hash.add(axis);
    }
  }
  static void mix(ContentHash& hash, const std::vector<Axes>& list) {
    for (const Axes& axes : list) {
      mix(hash, axes);
    }
  }
  static void mix(ContentHash& hash, const SpmdValue& value) {
    for (const Dim& dim : value.type.shape.dims()) {
      hash.add(static_cast<std::size_t>(dim.size));
    }
    mix(hash, value.layout->dims);
  }
  static bool alike(const SpmdValue& a, const SpmdValue& b) {
    return a.type.shape == b.type.shape && a.layout->dims == b.layout->dims;
  }

  // Of what passes in pieces, two are there at a time.
  Term held_of(const SpmdValue& value) const {
    Term term = of_value(value);
    term.coefficient *= value.pieces == 1 ? 1 : 2 / static_cast<double>(value.pieces);
    return term;
  }

  void add_value(const SpmdValue& value, Sum& sum) {
    ContentHash hash;
    mix(hash, value);
    hash.add(static_cast<std::size_t>(value.pieces));
    const auto is_alike = [](const SpmdValue& a, const SpmdValue& b) {
      return alike(a, b) && a.pieces == b.pieces;
    };
    held_.of(hash.value(), value, is_alike, [&] { return share_of(sum, held_of(value)); }).add();
  }

  void add_move(const Step& step, std::vector<Sum>& sums) {
    ContentHash hash;
    hash.add(static_cast<std::size_t>(step.kind));
    mix(hash, step.axes);
    mix(hash, program_.at(step.from));
    mix(hash, program_.at(step.to));
    const auto is_alike = [this](const Step& a, const Step& b) {
      return a.kind == b.kind && a.axes == b.axes &&
             alike(program_.at(a.from), program_.at(b.from)) &&
             alike(program_.at(a.to), program_.at(b.to));
    };
    moves_
        .of(hash.value(), step, is_alike,
            [&] {
              return share_of(sums[slot_of(program_.totals, step.kind, step.axes)],
                              handed_over(step));
            })
        .add();
  }

  // A dim beside the one of the user's that it goes through as well ("batch~") counts as that. Of a
  // name whose size is not the user's (a range of the dim, a dim that a rewrite made) only the
  // number is known.
  void take_dim(Term& term, std::string name, std::int64_t size) const {
    name.erase(name.find_last_not_of('~') + 1);
    const auto known = sizes_.find(name);
    const bool is_word = !name.empty() && name.find_first_of("+*%. ") == std::string::npos;
    if (known != sizes_.end() && known->second == size && is_word && size > 1) {
      ++term.dims[name];
    } else {
      term.coefficient *= static_cast<double>(size);
    }
  }

  void take_axes(Term& term, const Axes& axes) const {
    for (const AxisId axis : axes) {
      if (program_.mesh.axes[axis].size > 1) {
        ++term.axes[program_.mesh.axes[axis].name];
      }
    }
  }

  // As volume_of counts it: what a rank hands to a step may be less than it has, where the step
  // begins with a slice.
  [[nodiscard]] Term handed_over(const Step& step) const {
    if (step.kind == StepKind::kAllToAll || step.kind == StepKind::kServe) {
      return of_value(program_.at(step.to));
    }
    if (step.kind != StepKind::kReduceScatter) {
      return of_value(program_.at(step.from));
    }
    Term term = of_value(program_.at(step.to));
    for (const AxisId axis : step.axes) {
      const MeshAxis& along = program_.mesh.axes[axis];
      if (const auto over = term.axes.find(along.name); over == term.axes.end()) {
        term.coefficient *= static_cast<double>(along.size);
      } else if (--over->second == 0) {
        term.axes.erase(over);
      }
    }
    return term;
  }

  [[nodiscard]] Term of_value(const SpmdValue& value) const {
    Term term{.coefficient = 1, .dims = {}, .axes = {}};
    for (std::size_t i = 0; i < value.type.shape.rank(); ++i) {
      take_dim(term, value.type.shape[i].name, value.type.shape[i].size);
      take_axes(term, value.layout->dims[i]);
    }
    return term;
  }

  static bool is_alike(const LocalCall& a, const LocalCall& b) {
    return &*a.split->space == &*b.split->space && a.split->call.op == b.split->call.op &&
           a.split->loops == b.split->loops && a.split->call.operands == b.split->call.operands &&
           a.split->call.result == b.split->call.result && a.split->call.args == b.split->call.args;
  }

  void add_kernel(const Step& step, Sum& sum) {
    for (const LocalCall& call : step.calls) {
      if (call.op().flops == nullptr) {
        continue;
      }
      ContentHash hash;
      hash.add(reinterpret_cast<std::uintptr_t>(&*call.split->space));
      mix(hash, call.split->loops);
      calls_.of(hash.value(), call, is_alike, [&] { return share_of_call(sum, call); }).add();
    }
  }

  // Of each value that has it, as often as it has.
  static void take_twice(OpCall& call, const IterationSpace& space, std::size_t loop) {
    const auto twice = [loop](TensorType& type, const DimMap& map) {
      std::vector<Dim> dims(type.shape.dims().begin(), type.shape.dims().end());
      if (const std::optional<std::size_t> dim = dim_of(map, loop)) {
        dims[*dim].size *= 2;
      }
      type.shape = Shape(std::move(dims));
    };
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
      twice(call.operands[i], space.operands[i]);
    }
    twice(call.result, space.result);
  }

  // Whether a call does as much however large that is, as rows that are added up somewhere in it.
  static bool is_free(const SplitCall& split, std::size_t loop, double flops) {
    OpCall larger = split.call;
    take_twice(larger, *split.space, loop);
    return larger.op->flops(larger) == flops;
  }

  // The flops of a call are a number of them at each point of its loops, but for those that they do
  // not grow with.
  Share share_of_call(Sum& sum, const LocalCall& call) const {
    const double flops = call.op().flops(call.split->call);
    if (flops == 0) {
      return {};
    }
    Term term{.coefficient = 1, .dims = {}, .axes = {}};
    double all_points = 1;
    for (const LoopDim& loop : call.split->space->loops) {
      all_points *= static_cast<double>(loop.size);
    }
    double points = 1;
    for (std::size_t i = 0; i < call.split->space->loops.size(); ++i) {
      if (flops < all_points && is_free(*call.split, i, flops)) {
        continue;
      }
      take_dim(term, call.split->space->loops[i].name, call.split->space->loops[i].size);
      take_axes(term, call.split->loops[i]);
      points *= static_cast<double>(call.split->space->loops[i].size);
    }
    term.coefficient *= flops / points;
    return share_of(sum, term);
  }

  // Whether `other` has all dims of `term` and one more.
  static bool outgrows(const std::map<std::string, int>& other,
                       const std::map<std::string, int>& term) {
    return other != term && std::ranges::all_of(term, [&other](const auto& dim) {
             const auto found = other.find(dim.first);
             return found != other.end() && found->second >= dim.second;
           });
  }

  [[nodiscard]] double value_of(const Term& term) const {
    double value = term.coefficient;
    for (const auto& [dim, power] : term.dims) {
      value *= std::pow(static_cast<double>(sizes_.at(dim)), power);
    }
    for (const auto& [name, power] : term.axes) {
      const auto axis = program_.mesh.find(name);
      value /= std::pow(static_cast<double>(program_.mesh.axes[*axis].size), power);
    }
    return value;
  }

  [[nodiscard]] Terms leading(const Sum& sum) const {
    Terms terms;
    for (const auto& term : sum) {
      const auto& dims = term.first.first;
      const bool counts = std::ranges::none_of(
          sum, [&dims](const auto& other) { return outgrows(other.first.first, dims); });
      if (counts) {
        terms.push_back({.coefficient = term.second, .dims = dims, .axes = term.first.second});
      }
    }
    std::ranges::stable_sort(terms, std::greater<>(),
                             [this](const Term& term) { return value_of(term); });
    return terms;
  }

  const SpmdProgram& program_;
  std::map<std::string, std::int64_t> sizes_;
  Shares<LocalCall> calls_;
  Shares<Step> moves_;
  Shares<SpmdValue> held_;
};

}  // namespace

CostTerms terms_of(const SpmdProgram& program, const Peak& peak) {
  return Collector(program).run(peak);
}

}  // namespace mtf

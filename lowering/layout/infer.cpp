// Two strategies at five levels, as in Shardy: first what contradicts nothing, then the conflicts;
// cheap operations first, so that layouts flow through them before an expensive one chooses.
// A value's axes only grow, at the minor end: that is why it ends.

#include "lowering/layout/infer.h"

#include <algorithm>
#include <array>
#include <deque>
#include <numeric>

#include "ir/loops/loop.h"
#include "lowering/partition/split/split.h"

namespace mtf {
namespace {

enum class Strategy : std::uint8_t { kBasic, kAggressive };

// What a level lets flow through an operation.
struct Level {
  bool every_operation = false;  // else only those that go element by element, or move
  bool shared_operands = false;  // also where an operand has other readers
  bool reduced = false;          // also along dims that are not in the result
  bool into_broadcasts = false;  // a broadcast's result takes the axes of its operand
};

constexpr std::array kLevels = {
    Level{}, Level{.shared_operands = true},
    Level{.every_operation = true, .shared_operands = true},
    Level{.every_operation = true, .shared_operands = true, .reduced = true},
    Level{.every_operation = true,
          .shared_operands = true,
          .reduced = true,
          .into_broadcasts = true}};

// One operation, or the identity between a variable and its update.
struct Node {
  std::vector<ValueId> tensors;  // operands, then the result
  std::vector<DimMap> maps;
  IterationSpace space;
  bool is_cheap = false;
  bool has_shared_operand = false;
  bool is_broadcast = false;
  ValueId through;  // the value whose operation it is; invalid: an update
  SourceSpan span;
};

class Propagation {
 public:
  Propagation(const Program& program, const Mesh& mesh, std::span<const std::vector<bool>> open,
              std::span<Target> targets)
      : program_(program),
        mesh_(mesh),
        open_(open),
        targets_(targets),
        uses_(count_uses(program)),
        nodes_of_(targets.size()) {
    for (std::size_t i = 0; i < program.values.size(); ++i) {
      add_operation({static_cast<std::int32_t>(i)});
    }
    for (const Update& update : program.updates) {
      add_identity(program.inputs[update.input].value, update.value);
    }
  }

  void run() {
    for (const Level& level : kLevels) {
      fixpoint(level, Strategy::kBasic);
      fixpoint(level, Strategy::kAggressive);
    }
  }

 private:
  [[nodiscard]] const Shape& shape(ValueId id) const { return program_.at(id).type.shape; }

  // ---- the graph ----------------------------------------------------------------------------

  void add(Node node) {
    const std::size_t index = nodes_.size();
    for (const ValueId id : node.tensors) {
      std::vector<std::size_t>& list = nodes_of_[at(id)];
      if (list.empty() || list.back() != index) {
        list.push_back(index);
      }
    }
    nodes_.push_back(std::move(node));
  }

  void add_operation(ValueId id) {
    const Value& value = program_.at(id);
    if (is(value, Primitive::kNext)) {
      add_identity(value.operands[0], value.operands[1]);
    }
    if (value.op == nullptr || value.op->effect || value.operands.empty()) {
      return;
    }
    Node node{.tensors = value.operands,
              .maps = {},
              .space = value.op->space(call_of(program_, id)),
              .is_cheap = false,
              .has_shared_operand = false,
              .is_broadcast = value.op->algebra == Algebra::kBroadcast,
              .through = id,
              .span = value.span};
    const bool keeps_all = std::ranges::all_of(
        node.space.loops, [](const LoopDim& loop) { return loop.role == DimRole::kKept; });
    node.is_cheap = keeps_all && (value.op->tile != nullptr || value.operands.size() == 1) &&
                    !node.is_broadcast;
    node.has_shared_operand = std::ranges::any_of(value.operands, [this](ValueId operand) {
      return uses_[at(operand)] > 1 && shape(operand).rank() > 0;
    });
    node.maps = node.space.operands;
    node.maps.push_back(node.space.result);
    node.tensors.push_back(id);
    add(std::move(node));
  }

  // A variable and the value it takes are one tensor.
  void add_identity(ValueId variable, ValueId value) {
    if (variable == value || shape(variable) != shape(value)) {
      return;
    }
    Node node{.tensors = {variable, value}, .maps = {}, .space = {}, .is_cheap = true};
    DimMap map;
    for (std::size_t d = 0; d < shape(variable).rank(); ++d) {
      const Dim& dim = shape(variable)[d];
      node.space.loops.push_back({.name = dim.name, .size = dim.size});
      map.push_back({d});
    }
    node.maps = {map, map};
    node.span = program_.at(value).span;
    add(std::move(node));
  }

  // ---- one level ----------------------------------------------------------------------------

  void fixpoint(const Level& level, Strategy strategy) {
    std::deque<std::size_t> queue(nodes_.size());
    std::iota(queue.begin(), queue.end(), std::size_t{0});
    std::vector<bool> waits(nodes_.size(), true);
    while (!queue.empty()) {
      const std::size_t index = queue.front();
      queue.pop_front();
      waits[index] = false;
      changed_.clear();
      if (takes_part(nodes_[index], level)) {
        step(nodes_[index], level, strategy);
      }
      for (const std::size_t other : neighbours(index)) {
        if (!waits[other]) {
          waits[other] = true;
          queue.push_back(other);
        }
      }
    }
  }

  [[nodiscard]] static bool takes_part(const Node& node, const Level& level) {
    return (level.every_operation || node.is_cheap) &&
           (level.shared_operands || !node.has_shared_operand);
  }

  // The other nodes of what the last step changed.
  [[nodiscard]] std::vector<std::size_t> neighbours(std::size_t index) const {
    std::vector<std::size_t> others;
    for (const ValueId id : changed_) {
      std::ranges::copy_if(nodes_of_[at(id)], std::back_inserter(others),
                           [index](std::size_t other) { return other != index; });
    }
    return others;
  }

  // ---- one operation ------------------------------------------------------------------------

  // The axes that a tensor has on each loop.
  [[nodiscard]] std::vector<std::vector<Axes>> projected(const Node& node) const {
    std::vector<std::vector<Axes>> state;
    for (std::size_t t = 0; t < node.tensors.size(); ++t) {
      state.push_back(
          project(node.maps[t], targets_[at(node.tensors[t])].layout, node.space, mesh_));
    }
    return state;
  }

  void step(const Node& node, const Level& level, Strategy strategy) {
    const bool any = std::ranges::any_of(
        node.tensors, [this](ValueId id) { return !targets_[at(id)].layout.is_replicated(); });
    if (!any) {
      return;
    }
    std::vector<std::vector<Axes>> state = projected(node);
    for (const std::size_t loop : order_of(node, state, strategy)) {
      const DimRole role = node.space.loops[loop].role;
      if (role == DimRole::kKept || (role == DimRole::kReduced && level.reduced)) {
        spread(node, state, loop, level, strategy);
      }
    }
  }

  // Gives the axes of one loop to all tensors that have it.
  void spread(const Node& node, std::vector<std::vector<Axes>>& state, std::size_t loop,
              const Level& level, Strategy strategy) {
    const Candidate candidate = candidate_of(node, state, loop, strategy);
    Axes axes = strategy == Strategy::kBasic ? without_conflicts(node, state, loop, candidate.axes)
                                             : candidate.axes;
    for (std::size_t t = node.tensors.size(); t-- > 0;) {  // the result first
      const bool is_result = t + 1 == node.tensors.size();
      if (is_result && node.is_broadcast && !level.into_broadcasts) {
        continue;
      }
      extend(node, state, t, loop, axes, candidate.source);
      if (is_result && node.is_cheap) {  // no operand is split further than the result
        axes.resize(std::min(axes.size(), state[t][loop].size()));
      }
    }
  }

  // Basic: as they are. Aggressive: those of the largest tensors first.
  [[nodiscard]] std::vector<std::size_t> order_of(const Node& node,
                                                  const std::vector<std::vector<Axes>>& state,
                                                  Strategy strategy) const {
    std::vector<std::size_t> loops(node.space.loops.size());
    std::iota(loops.begin(), loops.end(), std::size_t{0});
    if (strategy == Strategy::kAggressive) {
      const auto volume = [&](std::size_t loop) {
        std::int64_t largest = 0;
        for (std::size_t t = 0; t < node.tensors.size(); ++t) {
          if (!state[t][loop].empty()) {
            largest = std::max(largest, shape(node.tensors[t]).volume());
          }
        }
        return largest;
      };
      std::ranges::stable_sort(loops, std::greater<>(), volume);
    }
    return loops;
  }

  struct Candidate {
    Axes axes;
    std::size_t source = 0;  // the tensor that has them
  };

  [[nodiscard]] static bool has_loop(const Node& node, std::size_t t, std::size_t loop) {
    return place_of(node, t, loop).has_value();
  }

  struct Place {
    std::size_t dim = 0;
    bool is_last = true;  // of the loops that the dim is made of
  };
  [[nodiscard]] static std::optional<Place> place_of(const Node& node, std::size_t t,
                                                     std::size_t loop) {
    for (std::size_t d = 0; d < node.maps[t].size(); ++d) {
      const std::vector<std::size_t>& loops = node.maps[t][d];
      if (std::ranges::find(loops, loop) != loops.end()) {
        return Place{.dim = d, .is_last = loops.back() == loop};
      }
    }
    return std::nullopt;
  }

  // The longest list of axes that no tensor with the loop contradicts.
  [[nodiscard]] Candidate candidate_of(const Node& node,
                                       const std::vector<std::vector<Axes>>& state,
                                       std::size_t loop, Strategy strategy) const {
    Candidate best;
    for (std::size_t t = 0; t < node.tensors.size(); ++t) {
      if (state[t][loop].size() > best.axes.size()) {
        best = {.axes = state[t][loop], .source = t};
      }
    }
    for (std::size_t t = 0; t < node.tensors.size(); ++t) {
      if (!has_loop(node, t, loop)) {
        continue;
      }
      const Axes& has = state[t][loop];
      const auto differs = std::ranges::mismatch(has, best.axes);
      const bool ends =
          strategy == Strategy::kBasic && !open_[at(node.tensors[t])][place_of(node, t, loop)->dim];
      if (differs.in1 != has.end() || ends) {  // another axis, or none: what is common stays
        best.axes.resize(static_cast<std::size_t>(differs.in1 - has.begin()));
      }
    }
    return best;
  }

  // Up to the first axis that some tensor uses for another loop.
  [[nodiscard]] static Axes without_conflicts(const Node& node,
                                              const std::vector<std::vector<Axes>>& state,
                                              std::size_t loop, Axes axes) {
    for (std::size_t a = 0; a < axes.size(); ++a) {
      for (std::size_t t = 0; t < node.tensors.size(); ++t) {
        for (std::size_t other = 0; other < state[t].size(); ++other) {
          if (other != loop &&
              std::ranges::find(state[t][other], axes[a]) != state[t][other].end()) {
            axes.resize(a);
            return axes;
          }
        }
      }
    }
    return axes;
  }

  // Adds to a tensor's dim the axes it lacks, as far as they fit.
  void extend(const Node& node, std::vector<std::vector<Axes>>& state, std::size_t t,
              std::size_t loop, const Axes& axes, std::size_t source) {
    const std::optional<Place> place = place_of(node, t, loop);
    const ValueId id = node.tensors[t];
    Axes& has = state[t][loop];
    if (!place || has.size() >= axes.size() || !open_[at(id)][place->dim] ||
        !std::equal(has.begin(), has.end(), axes.begin())) {
      return;
    }
    Target& target = targets_[at(id)];
    Axes& dim = target.layout.dims[place->dim];
    const std::int64_t size = shape(id)[place->dim].size;
    bool grew = false;
    for (std::size_t a = has.size(); a < axes.size(); ++a) {
      ValueLayout wider = target.layout;
      wider.dims[place->dim].push_back(axes[a]);
      if (target.layout.uses(axes[a]) || !mesh_.splits(size, wider.dims[place->dim]) ||
          project(node.maps[t], wider, node.space, mesh_)[loop].size() != has.size() + 1) {
        break;
      }
      dim.push_back(axes[a]);
      has.push_back(axes[a]);
      target.firm[place->dim] = dim.size();
      target.causes[place->dim].push_back(cause_of(node, source));
      grew = true;
    }
    if (grew) {
      changed_.push_back(id);
    }
  }

  [[nodiscard]] static Cause cause_of(const Node& node, std::size_t source) {
    const ValueId from = node.tensors[source];
    return {.kind = CauseKind::kInferred,
            .span = node.span,
            .from = from.index,
            .through = node.through.index};
  }

  const Program& program_;
  const Mesh& mesh_;
  std::span<const std::vector<bool>> open_;
  std::span<Target> targets_;
  std::vector<int> uses_;
  std::vector<Node> nodes_;
  std::vector<std::vector<std::size_t>> nodes_of_;  // per value
  std::vector<ValueId> changed_;                    // by the last step
};

}  // namespace

void infer(const Program& program, const Layout& layout, std::span<const std::vector<bool>> open,
           std::span<Target> targets) {
  Propagation(program, layout.mesh, open, targets).run();
}

}  // namespace mtf

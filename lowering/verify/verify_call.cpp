#include "lowering/verify/verify_call.h"

#include <algorithm>
#include <vector>

#include "lowering/partition/split/split.h"
#include "lowering/reshard/serve.h"

namespace mtf {
namespace {

class CallVerifier {
 public:
  CallVerifier(const SpmdProgram& program, const LocalCall& call, std::span<const Combine> combine)
      : program_(program), call_(call), combine_(combine) {}

  std::string run() {
    loops();
    operands();
    if (problem_.empty() && !call_.op().effect) {
      result();
    }
    return problem_;
  }

 private:
  // Keeps the first problem.
  void require(bool holds, const char* otherwise) {
    if (!holds && problem_.empty()) {
      problem_ = otherwise;
    }
  }

  [[nodiscard]] const ValueLayout& layout_of(SpmdId id) const { return program_.at(id).layout; }

  // Which ranks have the result, and so run the operation.
  [[nodiscard]] std::vector<Condition> holders() const {
    return call_.op().effect ? std::vector<Condition>() : layout_of(call_.result).where;
  }

  void loops() {
    const Mesh& mesh = program_.mesh;
    std::vector<char> used(mesh.axes.size(), 0);
    for (std::size_t l = 0; l < call_.split->loops.size(); ++l) {
      const LoopDim& loop = call_.split->space->loops[l];
      for (const AxisId axis : call_.split->loops[l]) {
        require(used[axis]++ == 0, "splits two loops over one axis");
      }
      require(mesh.splits(loop.size, call_.split->loops[l]), "splits a loop that is not even");
      require(may_split(loop.role) || mesh.size_of(call_.split->loops[l]) == 1,
              "splits a loop that has to be whole");
      require(call_.part != CallPart::kAll || !needs_digest(loop.role) ||
                  mesh.size_of(call_.split->loops[l]) == 1,
              "leaves out what ranks have to tell each other");
    }
  }

  void operands() {
    find_partial();
    const std::vector<Condition> where = holders();
    for (std::size_t i = 0; i < call_.operands.size(); ++i) {
      const ValueLayout& layout = layout_of(call_.operands[i]);
      const auto needed =
          operand_from_loops(i, call_.split->loops, call_.split->space, program_.mesh);
      require(needed && needed->dims == layout.dims && needed->reach == layout.reach,
              "reads an operand that its loops do not fit");
      require(layout.where == (layout.dims.empty() ? std::vector<Condition>() : where),
              "reads an operand on other ranks than it runs on");
    }
  }

  void result() {
    std::optional<ValueLayout> made = layout_from_loops(
        call_.split->space->result, call_.split->loops, call_.split->space, program_.mesh);
    if (!made) {
      return require(false, "has loops that give its result no layout");
    }
    const ValueLayout& claimed = layout_of(call_.result);
    made->partial = partial_;
    add_reduced(call_.split->loops, call_.split->space, *made);
    made->where = claimed.where;
    if (!served_axes(call_.split->space, call_.split->loops, program_.mesh).empty()) {
      require(made->where.empty() && made->partial.empty(),
              "serves what ranks lack, or sums of it");
      *made = served_layout(*made, claimed);
    }
    require(*made == claimed, "leaves a result that its loops do not make");
  }

  // The sums that the operands wait for: all for the same ones, or one of them is read unfinished.
  void find_partial() {
    const bool linear = call_.op().linear != Linear::kNo;
    for (std::size_t i = 0; i < call_.operands.size(); ++i) {
      const Axes& of_operand = layout_of(call_.operands[i]).partial;
      require(of_operand.empty() || (linear && combine_[i] == Combine::kSum &&
                                     call_.split->space->combine == Combine::kSum),
              "reads a sum that is still partial");
      require(i == 0 || of_operand == partial_, "reads sums that are partial over different axes");
      partial_ = of_operand;
    }
    for (const Axes& axes : call_.split->loops) {
      require(std::ranges::none_of(axes, [&](AxisId axis) { return has(partial_, axis); }),
              "splits a loop over an axis of a partial sum");
    }
  }

  const SpmdProgram& program_;
  const LocalCall& call_;
  std::span<const Combine> combine_;
  Axes partial_;  // of all operands
  std::string problem_;
};

}  // namespace

std::string problem_of_call(const SpmdProgram& program, const LocalCall& call,
                            std::span<const Combine> combine) {
  return CallVerifier(program, call, combine).run();
}

}  // namespace mtf

// Operations by their content, and how each is split under the layouts around it.

#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/rewrite/share.h"
#include "lowering/known/numbered.h"
#include "lowering/partition/split/split.h"

namespace mtf {

// How a call is split between layouts.
struct KnownSplit {
  Shared<SplitCall> call;
  LoopSplit split;
  // One kernel does it all: no stage or digest before it, and nobody serves others.
  bool is_plain = false;
  // Of a plain one.
  Number result = 0;             // the number of the layout that the kernel leaves
  std::vector<Number> operands;  // … of those that it reads
  TensorType local;              // of the result, on one rank
  double flops = 0;              // on one rank
};

// Compared as what they are to the bit.
struct ExactArgs {
  OpArgs args;
  friend bool operator==(const ExactArgs& a, const ExactArgs& b) {
    return same_arguments(a.args, b.args);
  }
};

// All for one mesh, one `adds`, and one use of the plans.
class KnownPlans {
 public:
  // The number of a value's call. requires: it has operands, as without them its arguments may be
  // all the numbers of a tensor.
  [[nodiscard]] Number call(const Program& program, ValueId id);
  // The call of that number, of no value in particular and without a split of its loops.
  [[nodiscard]] const Shared<SplitCall>& operator[](Number call) const { return calls_[call]; }

  [[nodiscard]] Number layout(const ValueLayout& layout);
  [[nodiscard]] const SharedLayout& layout(Number number) const { return shared_layouts_[number]; }
  // The slice of one rank of the mesh, of a tensor in the layout.
  const TensorType& local(const TensorType& whole, Number layout, const Mesh& mesh);
  // Equal also in which of its axes are firm.
  [[nodiscard]] Number target(const Target& target);

  // By all that it follows from; made by `find`, which gives a KnownSplit, if it is new.
  template <typename F>
  const KnownSplit& split(const std::vector<std::uint64_t>& problem, const F& find) {
    if (const std::optional<Number> known = problems_.find(problem)) {
      return splits_[*known];
    }
    splits_.push_back(find());
    return splits_[problems_.number(problem)];
  }
  // That were ever looked for.
  [[nodiscard]] std::size_t splits() const { return splits_.size(); }

 private:
  // What shares its memory with something before it is known by that.
  template <typename T>
  struct ByPlace {
    T kept;  // so that nothing else is ever there
    Number number = 0;
  };

  Number type(const TensorType& type);
  Number args(const OpArgs& args);

  std::unordered_map<std::uint64_t, ByPlace<TensorType>> type_places_;  // and element type
  std::unordered_map<const OpArgs::Entry*, ByPlace<OpArgs>> args_places_;
  Numbered<TensorType> types_;
  Numbered<ExactArgs> args_;
  NumberedLists call_numbers_;
  std::vector<Shared<SplitCall>> calls_;  // by number
  Numbered<ValueLayout> layouts_;
  std::vector<SharedLayout> shared_layouts_;              // by number
  std::unordered_map<std::uint64_t, TensorType> locals_;  // by the numbers of type and layout
  NumberedLists targets_;
  NumberedLists problems_;
  std::deque<KnownSplit> splits_;  // by the number of the problem
  std::vector<std::uint64_t> scratch_;
};

}  // namespace mtf

// What kernels of one rank report, and how all ranks come to the same error.

#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "ir/kernel.h"
#include "lowering/spmd.h"
#include "runtime/ranks/communicator.h"

namespace mtf {

// Shared by the ranks of a process: the call in progress and what was reported.
struct Reports {
  std::uint64_t seed = 0;
  std::uint64_t execution = 1;  // of those that draw, the next one
  Cpu cpu;                      // of a rank
  bool nan_is_error = false;
  std::function<void(std::string_view)> print;
  std::function<void(std::string_view, double, std::optional<std::int64_t>)> metric;
  const SpmdProgram* program = nullptr;
  const LocalCall* call = nullptr;
  std::uint64_t moment = 0;    // counts steps; the same on all ranks
  std::vector<Diag> warnings;  // of rank 0, not yet handed on
  std::set<std::tuple<DiagKind, std::int32_t, std::uint32_t>> warned;  // kinds and places

  // The diagnostic at the call in progress.
  [[nodiscard]] Diag diag(DiagKind kind, Severity severity, std::string text) const;
};

// Of failures the least is the first: that of the earliest step, in it of the call that comes
// first, and of what this makes of the first element, though ranks and bands come to another one
// sooner.
struct FailureOrder {
  std::uint64_t moment = 0;
  std::int64_t call = 0;
  std::int64_t element = 0;

  // NOLINTNEXTLINE(modernize-use-nullptr): clang 14
  friend auto operator<=>(const FailureOrder&, const FailureOrder&) = default;
};

// The KernelHost of one local rank.
class RankHost final : public KernelHost {
 public:
  RankHost(Reports& reports, std::int64_t rank) : reports_(reports), rank_(rank) {}

  void print(std::string_view line) override;
  void fail(DiagKind kind, std::string text) override;  // the first one counts
  void fail(Diag diag, std::int64_t call = 0, std::int64_t element = 0);
  void warn(DiagKind kind, std::string text) override;
  void metric(std::string_view name, double value, std::optional<std::int64_t> step) override;
  [[nodiscard]] std::uint64_t seed() const override { return reports_.seed; }
  [[nodiscard]] std::uint64_t execution() const override { return reports_.execution; }
  [[nodiscard]] bool first_rank() const override { return rank_ == 0; }
  [[nodiscard]] Cpu cpu() const override { return reports_.cpu; }

  [[nodiscard]] const std::optional<Diag>& failure() const { return failure_; }
  [[nodiscard]] const FailureOrder& failed_at() const { return failed_at_; }
  void forget_failure() { failure_.reset(); }

 private:
  Reports& reports_;
  std::int64_t rank_;
  std::optional<Diag> failure_;
  FailureOrder failed_at_;
};

// The first failure, of ranks that have it the lowest's, or nullopt. Collective; alike on all
// ranks.
[[nodiscard]] std::optional<Diag> agreed_failure(Communicator& communicator,
                                                 const std::vector<RankHost>& hosts);

// Throws if some rank of the group is about to do something else. Collective.
void check_agreement(Communicator& communicator, const Group& group, StepKind kind,
                     std::uint64_t hash);

// Tells of the operand of a call, if it is a scalar.
void tell_watched(const SpmdProgram& program, const LocalCall& call, const TensorView& x,
                  const std::function<void(const Program&, ValueId, double)>& watched);

[[nodiscard]] std::string encode(const Diag& diag);
[[nodiscard]] Diag decode(std::string_view text);  // requires: from `encode`

}  // namespace mtf

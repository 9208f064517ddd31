// The answer in as few rules as give the same figures, where the rest may follow from them
// (`infer`).

#include <algorithm>
#include <cmath>
#include <utility>

#include "frontend/driver/search/searching.h"
#include "lowering/price/price.h"
#include "stdlib/ops/table.h"

namespace mtf {
namespace {

constexpr int kMostPlans = 100;

// What a layout is held to.
struct Figures {
  double seconds = 0;
  std::int64_t peak_bytes = 0;
  std::int64_t received_bytes = 0;

  [[nodiscard]] bool same(const Figures& other) const {
    constexpr double kNoise = 1e-9;
    return std::abs(seconds - other.seconds) <= kNoise * seconds &&
           peak_bytes == other.peak_bytes && received_bytes == other.received_bytes;
  }
};

// A layout of which rules may be left out: those that no person has written.
class Wordings {
 public:
  Wordings(SearchedProgram& program, const Layout& whole, std::size_t mesh, bool exact)
      : program_(program), whole_(whole), mesh_(mesh), is_exact_(exact) {
    const Layout& fixed = program.limits().fixed;
    first_rule_ = fixed.rules.size();
    first_block_ = fixed.variables.size();
    count_ = whole.rules.size() - first_rule_;
    for (std::size_t block = first_block_; block < whole.variables.size(); ++block) {
      count_ += whole.variables[block].rules.size();
    }
    hardware_ = program.hardware(whole.mesh);
    wanted_ = figures(whole);
  }

  // With the fewest rules that do, or as it was.
  Layout shortest() {
    if (!wanted_ || count_ < 2) {
      return whole_;
    }
    std::vector<char> kept(count_, 0);
    for (std::size_t rules = 0; rules < count_; ++rules) {
      // All sets of so many rules, the first rules first.
      std::fill(kept.begin(), kept.end(), 0);
      std::fill_n(kept.begin(), rules, 1);
      do {
        if (plans_ >= kMostPlans) {
          return greedy();
        }
        if (does(kept)) {
          return with(kept);
        }
      } while (std::ranges::prev_permutation(kept).found);
    }
    return whole_;
  }

 private:
  // One after the other is left out as long as the figures stay.
  Layout greedy() {
    std::vector<char> kept(count_, 1);
    if (!does(kept)) {
      return whole_;
    }
    for (std::size_t i = count_; i-- > 0;) {
      kept[i] = 0;
      kept[i] = does(kept) ? 0 : 1;
    }
    return std::ranges::count(kept, 1) < std::ssize(kept) ? with(kept) : whole_;
  }

  [[nodiscard]] bool does(const std::vector<char>& kept) {
    const std::optional<Figures> found = figures(with(kept));
    return found && wanted_->same(*found);
  }

  [[nodiscard]] Layout with(const std::vector<char>& kept) const {
    Layout layout = whole_;
    layout.infer = true;
    auto next = kept.begin();
    const auto thin = [&next](std::vector<Rule>& rules, std::size_t first) {
      std::vector<Rule> left(rules.begin(), rules.begin() + static_cast<std::ptrdiff_t>(first));
      for (std::size_t i = first; i < rules.size(); ++i) {
        if (*next++ != 0) {
          left.push_back(rules[i]);
        }
      }
      rules = std::move(left);
    };
    thin(layout.rules, first_rule_);
    for (std::size_t block = first_block_; block < layout.variables.size(); ++block) {
      thin(layout.variables[block].rules, 0);
    }
    // An empty block is not written, and what follows from a layout may differ where there is one.
    const auto blocks = layout.variables.begin() + static_cast<std::ptrdiff_t>(first_block_);
    layout.variables.erase(std::remove_if(blocks, layout.variables.end(),
                                          [](const auto& block) { return block.rules.empty(); }),
                           layout.variables.end());
    return layout;
  }

  // nullopt: it does not fit, or an `expect` does not hold.
  [[nodiscard]] std::optional<Figures> figures(const Layout& layout) {
    ++plans_;
    Figures result;
    const std::span<const Program> programs = program_.programs(mesh_);
    for (std::size_t entry = 0; entry < programs.size(); ++entry) {
      DiagSink diags;
      const auto plan = lower_simplified(
          programs[entry], layout, op_table(), diags,
          {.exact = is_exact_, .price_only = !program_.expects(), .cache = &cache_});
      if (!plan || !refusal(program_, entry, *plan).why.empty()) {
        return std::nullopt;
      }
      result.seconds += price(*plan, hardware_).seconds();
      result.peak_bytes = std::max(result.peak_bytes, plan->totals.peak_bytes);
      for (const CollectiveTotal& total : plan->totals.collectives) {
        result.received_bytes += total.bytes;
      }
    }
    return result;
  }

  SearchedProgram& program_;
  const Layout& whole_;
  std::size_t mesh_;
  bool is_exact_;
  std::size_t first_rule_ = 0;
  std::size_t first_block_ = 0;
  std::size_t count_ = 0;  // of rules that may be left out, those of variables last
  Hardware hardware_;
  std::optional<Figures> wanted_;
  PlanCache cache_;
  int plans_ = 0;
};

}  // namespace

Layout Searching::shortest() {
  const Layout whole = answer();
  return Wordings(program_, whole, answer_.mesh, !workspace_.options.fast).shortest();
}

}  // namespace mtf

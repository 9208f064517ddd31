// `--fit`: about twice as many ranks each time, up to the first that fit, then what lies between
// these and the ones before.

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "frontend/driver/search/questions.h"
#include "frontend/report/quantity.h"
#include "frontend/report/search/layout_source.h"

namespace mtf {
namespace {

constexpr std::int64_t kMostRanks = 65'536;
constexpr std::size_t kMostBetween = 16;  // that are tried one after the other

using Numbers = std::set<std::int64_t>;

// What divides some dim, below `end`.
Numbers divisors(SearchedProgram& program, std::int64_t end) {
  Numbers result;
  for (const auto& [dim, size] : program.common_sizes()) {
    for (std::int64_t factor = 1; factor < end; ++factor) {
      if (size % factor == 0) {
        result.insert(factor);
      }
    }
  }
  return result;
}

// The numbers of ranks from `begin` to `end - 1` that are products of as many factors as a mesh has
// axes, each of which divides some dim: on others some axis splits nothing. Where sizes need not
// divide, all.
std::vector<std::int64_t> worthwhile(SearchedProgram& program, std::int64_t begin,
                                     std::int64_t end) {
  const Mesh& mesh = program.limits().fixed.mesh;
  if (mesh.uneven) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(end - begin));
    std::iota(all.begin(), all.end(), begin);
    return all;
  }
  const Numbers factors = divisors(program, end);
  Numbers products = {1};
  for (std::size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    Numbers longer = products;
    for (const std::int64_t product : products) {
      for (auto factor = factors.begin(); factor != factors.end() && product * *factor < end;
           ++factor) {
        longer.insert(product * *factor);
      }
    }
    products = std::move(longer);
  }
  return {products.lower_bound(begin), products.lower_bound(end)};
}

// Of these, the largest up to each power of two.
std::vector<std::int64_t> doubling(const std::vector<std::int64_t>& counts) {
  std::vector<std::int64_t> result;
  std::int64_t power = 1;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    while (power < counts[i]) {
      power *= 2;
    }
    if (i + 1 == counts.size() || counts[i + 1] > power) {
      result.push_back(counts[i]);
    }
  }
  return result;
}

class Fit {
 public:
  Fit(Workspace& workspace, SearchedProgram& program) : workspace_(workspace), program_(program) {}

  std::optional<Fitted> find() {
    const std::vector<std::int64_t>& asked = workspace_.options.search.ranks;
    const std::vector<std::int64_t> counts = asked.empty() ? doubling(all_worthwhile()) : asked;
    bool fits = false;
    std::int64_t before = 0;  // of ranks that do not
    for (std::size_t i = 0; i < counts.size() && !fits && workspace_.diags.ok(); ++i) {
      fits = try_on(counts[i]);
      before = fits ? before : counts[i];
    }
    if (fits && asked.empty()) {
      look_between(before + 1, ranks_);
    }
    if (!workspace_.diags.ok()) {
      return std::nullopt;
    }
    if (!fits) {
      const bool are_all = asked.empty() && counts.back() * 2 <= kMostRanks;
      workspace_.diags.error(DiagKind::kMemory, {},
                             "no layout was found that fits the memory of a rank, on up to " +
                                 count_text(counts.back(), "rank") +
                                 (are_all ? ", the most that split dims" : "") + nearest_);
      return std::nullopt;
    }
    program_.set_ranks(ranks_);
    std::ranges::sort(tried_, {}, &TriedRanks::ranks);
    return Fitted{.tried = std::move(tried_), .searching = std::move(found_)};
  }

 private:
  // True: something fits so many ranks, and is the answer so far.
  bool try_on(std::int64_t ranks) {
    program_.set_ranks(ranks);
    auto searching =
        std::make_unique<Searching>(workspace_, program_, workspace_.options.search.budget);
    memory_ = searching->goal().memory;
    if (memory_ <= 0) {
      workspace_.diags.error(DiagKind::kMissingArgument, {},
                             "`--fit` needs `--memory SIZE`: the hardware does not say what a rank "
                             "may hold");
      return false;
    }
    const double least = searching->least_memory();
    if (least > memory_) {
      const std::string bytes = bytes_text(static_cast<std::int64_t>(least)) + " or more";
      tried_.push_back({.ranks = ranks,
                        .bytes = static_cast<std::int64_t>(least),
                        .is_bound = true,
                        .says = {}});
      if (!takes_ && (nearest_.empty() || least < least_)) {
        least_ = least;
        nearest_ = "; on " + count_text(ranks, "rank") + " every layout needs " + bytes;
      }
      return false;
    }
    DiagSink none;
    if (!searching->find(none)) {
      tried_.push_back({.ranks = ranks, .bytes = {}, .says = none.diags().front().text});
      return false;
    }
    const Priced whole = searching->whole();
    const auto peak = static_cast<double>(whole.peak_bytes);
    tried_.push_back(
        {.ranks = ranks, .bytes = whole.peak_bytes, .says = rules_source(searching->answer())});
    if (peak > memory_) {
      if (!takes_ || peak < least_) {
        takes_ = true;
        least_ = peak;
        nearest_ = "; the best that was found takes " + bytes_text(whole.peak_bytes) + " on " +
                   count_text(ranks, "rank");
      }
      return false;
    }
    ranks_ = ranks;
    found_ = std::move(searching);
    return true;
  }

  // Up to the most that are tried, as meshes of so many axes as are searched.
  std::vector<std::int64_t> all_worthwhile() {
    program_.set_ranks(1);
    return worthwhile(program_, 1, kMostRanks + 1);
  }

  // The fewest of them that fit; of many, as if all fitted from some number on.
  void look_between(std::int64_t begin, std::int64_t end) {
    std::vector<std::int64_t> counts = worthwhile(program_, begin, end);
    while (!counts.empty()) {
      const std::size_t next = counts.size() > kMostBetween ? counts.size() / 2 : 0;
      const auto place = counts.begin() + static_cast<std::ptrdiff_t>(next);
      const bool fits = try_on(*place);
      if (fits && next == 0) {
        return;
      }
      fits ? counts.erase(place, counts.end()) : counts.erase(counts.begin(), place + 1);
    }
  }

  Workspace& workspace_;
  SearchedProgram& program_;
  double memory_ = 0;
  std::vector<TriedRanks> tried_;
  // What comes nearest to it: a layout, or what each layout needs; and the bytes of that.
  std::string nearest_;
  bool takes_ = false;
  double least_ = 0;
  std::int64_t ranks_ = 0;  // of the answer
  std::unique_ptr<Searching> found_;
};

}  // namespace

std::optional<Fitted> fit_ranks(Workspace& workspace, SearchedProgram& program) {
  return Fit(workspace, program).find();
}

}  // namespace mtf

// `--scale`: one search after the other, each of which begins with what the last one found.

#include <algorithm>
#include <numeric>
#include <utility>

#include "frontend/driver/progress.h"
#include "frontend/driver/search/questions.h"
#include "frontend/report/quantity.h"

namespace mtf {
namespace {

constexpr std::int64_t kMostScaled = 4096;

// How a dim grows: to `size` on `on` ranks, and in proportion on others.
struct Growth {
  std::int64_t size = 1;
  std::int64_t on = 1;

  [[nodiscard]] bool is_whole(std::int64_t ranks) const { return size % on * ranks % on == 0; }
  [[nodiscard]] std::int64_t at(std::int64_t ranks) const { return size * ranks / on; }
};

// Powers of two on which the dim has a whole size, where nobody says which.
std::vector<std::int64_t> counts_of(const SearchOptions& asked, const Growth& growth) {
  std::vector<std::int64_t> counts = asked.ranks;
  for (std::int64_t ranks = 1; asked.ranks.empty() && ranks <= kMostScaled; ranks *= 2) {
    if (growth.is_whole(ranks)) {
      counts.push_back(ranks);
    }
  }
  return counts;
}

std::string growth_text(const Growth& growth, const Mesh& declared) {
  const std::int64_t common = std::gcd(growth.size, growth.on);
  std::string text =
      "by " + count_text(growth.size / common) + " for " +
      (growth.on == common ? "each rank" : count_text(growth.on / common) + " ranks");
  return growth.on > 1 ? text + " (" + count_text(growth.size) + " on the " +
                             count_text(growth.on) + " of " + declared.name + ")"
                       : text;
}

// As the program has the dim on its mesh, or what is asked; nullopt after an error.
std::optional<Growth> growth_of(const SearchOptions& asked, const SearchedProgram& program,
                                DiagSink& diags) {
  const std::optional<std::int64_t> declared = program.declared_size(asked.scale, diags);
  if (!declared || asked.scale_each > 0) {
    return declared ? std::optional(Growth{.size = asked.scale_each}) : std::nullopt;
  }
  return Growth{.size = *declared,
                .on = std::max<std::int64_t>(1, program.declared_mesh().ranks())};
}

// Whether the dim has a size on each of them; if not, an error.
bool check_counts(const SearchOptions& asked, const Growth& growth, const Mesh& declared,
                  std::span<const std::int64_t> counts, DiagSink& diags) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 40U;
  for (const std::int64_t ranks : counts) {
    if (growth.size > kLargest / ranks) {
      diags.error(DiagKind::kOverflow, {},
                  "`" + asked.scale + "` grows beyond 2^40 on " + count_text(ranks, "rank") +
                      "; `--scale " + asked.scale + "=1` grows it by 1 for each");
    } else if (!growth.is_whole(ranks)) {
      diags.error(DiagKind::kIndivisible, {},
                  "`" + asked.scale + "` is " + count_text(growth.size) + " on the " +
                      count_text(growth.on, "rank") + " of " + declared.name +
                      ", which is no whole number on " + count_text(ranks) + "; `--scale " +
                      asked.scale + "=1` grows it by 1 for each rank");
    }
    if (!diags.ok()) {
      return false;
    }
  }
  return true;
}

// Other dims of which the sizes are not what they were.
std::vector<std::string> changed(const DimSizes& before, SearchedProgram& program,
                                 std::string_view dim) {
  std::vector<std::string> names;
  for (const auto& [name, size] : program.common_sizes()) {
    const auto old = before.find(name);
    if (name != dim && old != before.end() && old->second != size) {
      names.push_back(name);
    }
  }
  return names;
}

class Scaling {
 public:
  Scaling(Workspace& workspace, SearchedProgram& program, ScaleReport& report)
      : workspace_(workspace), program_(program), report_(report) {}

  // False after an error: there is no such program.
  bool add(std::int64_t ranks, std::int64_t size, double budget) {
    program_.set_size(report_.dim, size);
    program_.set_ranks(ranks);
    if (program_.programs(0).empty()) {
      workspace_.diags.error(DiagKind::kBadArgument, {},
                             "`--scale " + report_.dim + "`: there is no program where `" +
                                 report_.dim + "` is " + count_text(size) + ", on " +
                                 count_text(ranks, "rank"));
      return false;
    }
    if (report_.rows.empty()) {
      first_ = program_.common_sizes();
    }
    report_.follow = changed(first_, program_, report_.dim);
    report_.rows.push_back(row_of(ranks, size, budget));
    return true;
  }

 private:
  ScaleRow row_of(std::int64_t ranks, std::int64_t size, double budget) {
    ScaleRow row{.ranks = ranks, .size = size, .obstacle = {}};
    auto searching = std::make_unique<Searching>(workspace_, program_, budget);
    if (last_ != nullptr) {
      searching->take_hints(*last_);
    }
    report_.goal = searching->goal();
    report_.hardware = program_.hardware(program_.limits().fixed.mesh).name;
    DiagSink none;
    if (!searching->find(none)) {
      row.obstacle = none.diags().front().text;
      return row;
    }
    row.found = searching->found();
    row.proof = searching->proof();
    row.fits = merit_of(row.found.priced, searching->goal()).fits();
    last_ = std::move(searching);
    return row;
  }

  Workspace& workspace_;
  SearchedProgram& program_;
  ScaleReport& report_;
  DimSizes first_;  // of all dims
  std::unique_ptr<Searching> last_;
};

}  // namespace

std::optional<ScaleReport> scaled(Workspace& workspace, SearchedProgram& program) {
  const SearchOptions& asked = workspace.options.search;
  const std::optional<Growth> growth = growth_of(asked, program, workspace.diags);
  if (!growth) {
    return std::nullopt;
  }
  const std::vector<std::int64_t> counts = counts_of(asked, *growth);
  if (!check_counts(asked, *growth, program.declared_mesh(), counts, workspace.diags)) {
    return std::nullopt;
  }
  ScaleReport report{.entries = program.entries(),
                     .hardware = {},
                     .goal = {},
                     .dim = asked.scale,
                     .grows = growth_text(*growth, program.declared_mesh()),
                     .rows = {}};
  Scaling scaling(workspace, program, report);
  const double budget = asked.budget / static_cast<double>(counts.size());
  for (const std::int64_t ranks : counts) {
    progress_at("numbers of ranks", std::ssize(report.rows), std::ssize(counts));
    if (!scaling.add(ranks, growth->at(ranks), budget)) {
      return std::nullopt;
    }
  }
  return report;
}

}  // namespace mtf

// `:ranks`: where a session runs.

#include <algorithm>

#include "frontend/driver/launch/limits.h"
#include "frontend/driver/repl/commands/commands.h"
#include "frontend/driver/repl/repl.h"
#include "frontend/report/quantity.h"
#include "ir/support/text/parse_number.h"

namespace mtf {
namespace {

constexpr std::int64_t kMostSessionRanks = 256;

// Of one process each; 1: this one. nullopt: it is no number of them.
std::optional<std::int64_t> ranks_in(const std::string& text) {
  if (text == "off") {
    return 1;
  }
  const auto ranks = parse_number<std::int64_t>(text);
  return ranks && *ranks >= 1 && *ranks <= kMostSessionRanks ? ranks : std::nullopt;
}

std::string where_text(std::int64_t ranks) {
  return ranks == 1 ? "runs in this process" : "runs on " + std::to_string(ranks) + " MPI ranks";
}

}  // namespace

bool repl_ranks(Repl& repl, const std::string& rest) {
  if (rest.empty()) {
    repl.tell("the session " + where_text(repl.ranks()) + "\n", {{"ranks", repl.ranks()}});
    return true;
  }
  const std::optional<std::int64_t> ranks = ranks_in(rest);
  if (!ranks) {
    const std::int64_t room = most_ranks(limits_of_this_machine());
    return repl.refuse(
        DiagKind::kBadArgument,
        "`:ranks` takes a number up to " + std::to_string(std::min(kMostSessionRanks, room)) +
            (room < kMostSessionRanks ? ", the most that this machine has room for" : "") +
            ", each a process of its own, or `off`");
  }
  return repl.set_ranks(*ranks);
}

bool Repl::set_ranks(std::int64_t ranks) {
  const Mesh& mesh = planned_->device().layout().mesh;
  const std::int64_t wanted = mesh.ranks();
  if (ranks > 1 && wanted > 1 && wanted != ranks) {
    return refuse(DiagKind::kMeshSize, "`" + to_string(mesh) + "`, which is in use, has " +
                                           std::to_string(wanted) + " ranks; `:ranks " +
                                           std::to_string(wanted) + "`, or another `:mesh`");
  }
  std::int64_t moved = 0;
  if (ranks != this->ranks()) {
    std::string obstacle;
    std::unique_ptr<Workers> workers = ranks == 1 ? nullptr : Workers::start(ranks, obstacle);
    if (ranks > 1 && workers == nullptr) {
      return refuse(DiagKind::kMeshSize, count_text(ranks, "rank") +
                                             " cannot be started, and the session " +
                                             where_text(this->ranks()) + ": " + obstacle);
    }
    moved = running_ == nullptr ? 0 : running_->move_to(workers.get());
    workers_ = std::move(workers);
  }
  if (!quiet_) {
    tell("the session " + where_text(ranks) +
             (moved == 0 ? "" : "; " + bytes_text(moved) + " moved there") + "\n",
         {{"ranks", ranks}, {"bytes_moved", moved}});
  }
  return true;
}

void Repl::lose_ranks(const RanksLost& lost) {
  std::string names;
  for (const std::string& name :
       running_ == nullptr ? std::vector<std::string>() : running_->held()) {
    names += (names.empty() ? "" : ", ") + name;
  }
  begin_anew();
  workers_.reset();
  const std::string said =
      lost.why + "; the session is as it was before, and runs in this process" +
      (names.empty() ? "" : ". Lost, and computed again when it is needed: " + names);
  if (lost.by_hand && json_) {
    tell("", {{"interrupted", std::int64_t{kCtrlC}}, {"says", said}});
  } else if (lost.by_hand) {
    mistake(said + "\n");
  } else {
    refuse(DiagKind::kMeshSize, said);
  }
}

}  // namespace mtf

#include "frontend/driver/metrics/curve_reader.h"

#include <cmath>
#include <span>

#include "ir/support/file.h"

namespace mtf {
namespace {

bool is_rate(std::string_view name) {
  return name == "seconds" || name == "share_of_peak" || name.ends_with("_per_second");
}

}  // namespace

void CurveReader::add(const CurveOwner& owner, std::string_view name, std::int64_t step,
                      double value) {
  if (!std::isfinite(value)) {
    infinite_ = true;
    const auto known = places_.find({owner.run, owner.entry, std::string(name)});
    if (known != places_.end()) {
      curves_[known->second].not_finite = step;
    }
    return;
  }
  entries_[owner.run].insert(owner.entry);
  const auto [place, is_new] =
      places_.try_emplace({owner.run, owner.entry, std::string(name)}, curves_.size());
  if (is_new) {
    curves_.push_back({.name = std::string(name), .points = {}, .is_rate = is_rate(name)});
    owners_.push_back(owner);
  }
  curves_[place->second].points.emplace_back(step, value);
  curves_[place->second].not_finite.reset();
}

std::vector<Curve2d> CurveReader::take() {
  for (std::size_t i = 0; i < curves_.size(); ++i) {
    const auto& [run, entry] = owners_[i];
    const bool names_run = entries_.size() > 1 && !run.empty();
    const bool names_entry = entries_[run].size() > 1 && !entry.empty();
    curves_[i].name =
        (names_run ? run + "/" : "") + (names_entry ? entry + "/" : "") + curves_[i].name;
  }
  return std::move(curves_);
}

std::string read_whole(const std::string& path, std::string& text) {
  const PlainFile file(path);
  if (!file.problem().empty()) {
    return file.problem();
  }
  text.resize(static_cast<std::size_t>(file.size()));
  return file.read(0, std::as_writable_bytes(std::span(text))) ? "" : "ended while it was read";
}

}  // namespace mtf

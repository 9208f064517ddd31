// A program may call a function ten thousand times: only its first call costs anything here.

#include "frontend/driver/check_device.h"

#include <algorithm>

#include "lowering/lower.h"

namespace mtf {

bool CheckDevice::use(const Layout* chosen, std::span<const Layout> declared, DiagSink& /*diags*/) {
  if (every_layout_) {
    layouts_.assign(declared.begin(), declared.end());
  } else if (chosen != nullptr) {
    layouts_ = {*chosen};
  }
  return true;
}

std::optional<std::vector<TensorHandle>> CheckDevice::run(
    const Unit& unit, std::span<const TensorHandle> /*arguments*/, DiagSink& diags) {
  check(unit, diags);
  // A layout that does not fit leaves the types as they are, so the rest can still be checked.
  return results_.at(&unit);
}

void CheckDevice::check(const Unit& unit, DiagSink& diags) {
  const auto [entry, is_new] = results_.try_emplace(&unit);
  if (!is_new) {
    return;
  }
  units_.push_back(&unit);
  for (const ValueId output : unit.program.outputs) {
    entry->second.push_back(std::make_shared<DeviceTensor>(unit.program.at(output).type));
  }
  for (const Layout& layout : layouts_) {
    DiagSink found;
    (void)lower(unit.program, layout, ops_, found);
    for (const Diag& diag : found.diags()) {
      report(diag, layout, diags);
    }
  }
}

void CheckDevice::report(const Diag& diag, const Layout& layout, DiagSink& diags) {
  const bool is_new =
      reported_.emplace(layout.name, diag.kind, diag.span.begin, diag.span.file.index, diag.text)
          .second;
  if (!is_new) {
    return;
  }
  Diag noted = diag;
  const std::string name = "layout `" + layout.name + "`";
  const bool says_so = std::ranges::any_of(
      noted.notes, [&](const Note& note) { return note.text.find(name) != std::string::npos; });
  if (!says_so && !layout.name.empty()) {
    noted.notes.push_back({.span = layout.span, .text = "under " + name});
  }
  diags.add(std::move(noted));
}

}  // namespace mtf

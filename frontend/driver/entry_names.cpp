#include "frontend/driver/entry_names.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "frontend/elaborate/report.h"

namespace mtf {

std::vector<std::string> top_entries(const Session& session) {
  const std::vector<Entry> entries = session.entries();
  std::set<std::string> called;
  for (const Entry& entry : entries) {
    for (const std::string& callee : entry.calls) {
      if (callee != entry.name) {
        called.insert(callee);
      }
    }
  }
  std::vector<std::string> names;
  for (const Entry& entry : entries) {
    if (!called.contains(entry.name)) {
      names.push_back(entry.name);
    }
  }
  return names;
}

namespace {

constexpr std::size_t kExplained = 3;

Note note_of(const NoEntry& function) {
  return {.span = function.span, .text = function.would};
}

// Of a program without entries: what its functions lack.
void no_entry(Workspace& workspace, const Session& session) {
  std::vector<Note> notes;
  for (const NoEntry& function : session.no_entries()) {
    if (notes.size() < kExplained) {
      notes.push_back(note_of(function));
      notes.back().text = "`" + function.name + "` is none, as " + function.why + "; " +
                          std::move(notes.back().text);
    }
  }
  workspace.diags.error(DiagKind::kUnknownEntry, {},
                        "no function of the program is an entry; one whose parameters all have "
                        "tensor types would be",
                        std::move(notes));
}

// Those that have something to plan, unless none has: a function without parameters is an entry
// also if it reads options or texts alone.
std::vector<std::string> with_tensors(Session& session, std::vector<std::string> names) {
  std::vector<std::string> kept;
  std::ranges::copy_if(names, std::back_inserter(kept), [&](const std::string& name) {
    const Unit* unit = session.build(name, /*is_wanted=*/false);
    return unit == nullptr || !unit->program.values.empty();
  });
  return kept.empty() ? names : kept;
}

// "; `both` is a layout: `--layout both`", where an entry was to stand.
std::string taken_for_entry(const Options& options, const Session& session,
                            const std::vector<std::string>& entries) {
  const bool is_layout =
      std::ranges::find(session.layouts(), options.name, &Layout::name) != session.layouts().end();
  if (is_layout && options.command != Command::kDiff) {
    return "; `" + options.name + "` is a layout: `--layout " + options.name + "`";
  }
  const bool is_turned = std::ranges::find(entries, options.value) != entries.end();
  return is_turned ? "; a value comes first: `" + options.name + " " + options.value + "`" : "";
}

}  // namespace

bool tell_why_no_entry(const Session& session, std::string_view name, SourceSpan span,
                       DiagSink& diags) {
  const std::optional<NoEntry> found = session.why_no_entry(name);
  if (!found) {
    return false;
  }
  diags.error(DiagKind::kUnknownEntry, span, "`" + found->name + "` is no entry, as " + found->why,
              {note_of(*found)});
  return true;
}

std::vector<std::string> chosen_entries(Workspace& workspace, Session& session) {
  const std::vector<std::string> names = names_of(session.entries());
  const std::string& wanted = workspace.options.name;
  if (!wanted.empty() && session.has_entry(wanted)) {
    return {wanted};
  }
  if (names.empty()) {
    if (wanted.empty() || !tell_why_no_entry(session, wanted, {}, workspace.diags)) {
      no_entry(workspace, session);
    }
    return {};
  }
  if (wanted.empty()) {
    return with_tensors(session, top_entries(session));
  }
  if (!tell_why_no_entry(session, wanted, {}, workspace.diags)) {
    workspace.diags.error(
        DiagKind::kUnknownEntry, {},
        "no entry is called `" + wanted + "`" +
            did_you_mean(wanted, names, "; there is " + host::quoted_list(names)) +
            taken_for_entry(workspace.options, session, names));
  }
  return {};
}

}  // namespace mtf

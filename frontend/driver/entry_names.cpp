#include "frontend/driver/entry_names.h"

#include <algorithm>
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

std::vector<std::string> chosen_entries(Workspace& workspace, const Session& session) {
  const std::vector<std::string> names = names_of(session.entries());
  const std::string& wanted = workspace.options.name;
  if (names.empty()) {
    workspace.diags.error(DiagKind::kUnknownEntry, {},
                          "no function of the program is an entry; one whose parameters all have "
                          "tensor types would be");
    return {};
  }
  if (wanted.empty()) {
    return top_entries(session);
  }
  if (std::ranges::find(names, wanted) == names.end()) {
    workspace.diags.error(
        DiagKind::kUnknownEntry, {},
        "no entry is called `" + wanted + "`" +
            did_you_mean(wanted, names, "; there is " + host::quoted_list(names)));
    return {};
  }
  return {wanted};
}

}  // namespace mtf

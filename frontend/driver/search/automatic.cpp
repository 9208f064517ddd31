#include "frontend/driver/search/automatic.h"

#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <utility>

#include "frontend/driver/progress.h"
#include "frontend/driver/search/kept_layouts.h"
#include "frontend/driver/search/planner_identity.h"
#include "frontend/driver/search/searching.h"
#include "frontend/report/search/layout_source.h"
#include "ir/support/number.h"

namespace mtf {
namespace {

std::string curve_text(const Curve& curve) {
  std::string text;
  for (const auto& [size, value] : curve) {
    text += shortest(size) + ":" + shortest(value) + ",";
  }
  return text;
}

std::string hardware_text(const Hardware& hardware) {
  std::string text = hardware.name;
  for (const double number :
       {hardware.flops, hardware.tile, hardware.capacity, hardware.overhead, hardware.overlap,
        hardware.link.latency, hardware.link.bandwidth, hardware.near.latency,
        hardware.near.bandwidth, static_cast<double>(hardware.near_ranks)}) {
    text += " " + shortest(number);
  }
  text += " " + curve_text(hardware.products) + " " + curve_text(hardware.memory);
  for (const auto& [op, seconds] : hardware.elements) {
    text += " " + op + ":" + shortest(seconds);
  }
  for (const MeasuredCollective& row : hardware.collectives) {
    text += " " + row.kind + std::to_string(row.ranks) + ":" + curve_text(row.seconds);
  }
  return text;
}

// Everything that the answer follows from.
std::string question_of(SearchedProgram& program, const Layout& searched, const Options& options) {
  std::string text = std::string(planner_identity()) + (options.fast ? " fast" : "") + "\n" +
                     layout_source(searched) + "\n" + to_string(searched.mesh) + "\n" +
                     hardware_text(program.hardware(searched.mesh)) + "\n";
  for (const Program& entry : program.programs(0)) {
    text += to_string(entry);
  }
  for (const RuledTensor& tensor : program.limits().beside) {
    text += to_string(tensor.shape) + (tensor.is_variable ? " of a variable\n" : "\n");
  }
  return text + program.expectations();
}

using Tell = std::function<void(const std::string&)>;

void tell_terminal(const std::string& line) {
  clear_progress();
  std::fputs(("mtf: " + line).c_str(), stderr);
}

// Without what was asked of the command at hand.
Options own_options(Options options) {
  options.name.clear();
  options.layout.clear();
  options.rules.clear();
  options.search = {};
  options.json = true;  // it says nothing itself
  return options;
}

// One layout of one program.
class Automatic {
 public:
  // `workspace`: of its own. `found`: by question, what is known beside the user's cache.
  Automatic(Workspace& workspace, FileId file, std::map<std::string, std::string>& found, Tell tell)
      : workspace_(workspace), file_(file), found_(found), tell_(std::move(tell)) {}

  std::optional<KeptLayout> find(const Layout& searched, DiagSink& diags) {
    const auto program = SearchedProgram::read(workspace_, file_, searched, diags);
    if (program == nullptr) {
      for (const Diag& diag : errors_of(workspace_.diags)) {
        if (diag.kind != DiagKind::kUnknownEntry) {
          diags.add(diag);
        }
      }
      if (diags.ok() && !workspace_.in_session) {
        diags.error(DiagKind::kUnknownEntry, searched.span,
                    "layout `" + searched.name +
                        "` is `auto`, and the program has no function whose parameters all have "
                        "tensor types, for which it could be searched");
      }
      return std::nullopt;
    }
    const std::string question = question_of(*program, searched, workspace_.options);
    const auto known = found_.find(question);
    const std::optional<std::string> text =
        known != found_.end() ? std::optional(known->second) : load_kept(question);
    if (std::optional<KeptLayout> kept = text ? read_kept(searched, *text) : std::nullopt) {
      return kept;
    }
    if (workspace_.options.locked) {
      diags.error(DiagKind::kUnknownLayout, searched.span,
                  "layout `" + searched.name +
                      "` is `auto`, and no answer for this program, mesh and hardware is kept; "
                      "run it once without `--locked`, or write down what `mtf search --layout " +
                      searched.name + "` finds");
      return std::nullopt;
    }
    std::optional<KeptLayout> anew = searched_anew(*program, diags);
    if (anew) {
      const std::string answer = kept_text(*anew);
      const std::string problem = store_kept(question, answer);
      found_.insert_or_assign(question, answer);
      tell_("found " + layout_source(anew->layout) + "  (" + anew->says + ")\n");
      if (!problem.empty()) {
        diags.warning(DiagKind::kFile, searched.span,
                      "what was found for layout `" + searched.name +
                          "` is not kept, and searched anew next time: " + problem);
      }
    }
    return anew;
  }

 private:
  std::optional<KeptLayout> searched_anew(SearchedProgram& program, DiagSink& diags) {
    Searching searching(workspace_, program, workspace_.options.search.budget);
    const std::optional<LayoutCandidate> found = searching.find(diags);
    if (!found) {
      return std::nullopt;
    }
    return KeptLayout{.layout = searching.space().layout_of(*found), .says = searching.summary()};
  }

  Workspace& workspace_;
  FileId file_;
  std::map<std::string, std::string>& found_;
  Tell tell_;
};

// What the first rank finds, on all of them.
std::optional<Layout> found_by_all(Workspace& workspace, FileId file, const Layout& searched,
                                   DiagSink& diags) {
  Communicator* world = workspace.world;
  std::string text;
  if (world == nullptr || world->has_first_rank()) {
    Workspace own(own_options(workspace.options));
    const FileId copy = own.sources.add(workspace.sources.file(file));
    std::map<std::string, std::string> nothing;
    const std::optional<KeptLayout> found =
        Automatic(own, copy, nothing, tell_terminal).find(searched, diags);
    text = found ? kept_text(*found) : "";
  }
  if (world != nullptr) {
    text = world->share(std::array{text}).front();
  }
  std::optional<KeptLayout> kept = text.empty() ? std::nullopt : read_kept(searched, text);
  if (!kept && diags.ok()) {
    diags.error(DiagKind::kUnknownLayout, searched.span,
                "rank 0 finds no layout `" + searched.name + "`");
  }
  return kept ? std::optional(std::move(kept->layout)) : std::nullopt;
}

}  // namespace

FindLayout automatic(Workspace& workspace, FileId file) {
  if (workspace.find_layout) {
    return workspace.find_layout;
  }
  return [&workspace, file](const Layout& searched, DiagSink& diags) -> std::optional<Layout> {
    const std::string name = layout_source(searched) + to_string(searched.mesh);
    const auto known = workspace.found_layouts.find(name);
    if (known != workspace.found_layouts.end()) {
      return known->second;
    }
    std::optional<Layout> found = found_by_all(workspace, file, searched, diags);
    if (found) {
      workspace.found_layouts.emplace(name, *found);
    }
    return found;
  };
}

FindLayout automatic_in_session(const Options& options, SearchedSession session) {
  const auto found = std::make_shared<std::map<std::string, std::string>>();
  return [options, session = std::move(session), found](const Layout& searched,
                                                        DiagSink& diags) -> std::optional<Layout> {
    Workspace workspace(own_options(options));
    session.open(workspace);
    const std::optional<FileId> file = read_program(workspace);
    std::optional<KeptLayout> kept =
        file ? Automatic(workspace, *file, *found, session.tell).find(searched, diags)
             : std::nullopt;
    return kept ? std::optional(std::move(kept->layout)) : std::nullopt;
  };
}

}  // namespace mtf

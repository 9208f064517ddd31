#include "frontend/elaborate/layouts/layout_options.h"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ir/support/text/parse_number.h"

namespace mtf::host {
namespace {

std::optional<bool> gather_again(Reporter& report, const ast::Name& value) {
  if (value.text != "keep" && value.text != "again") {
    report.error(
        DiagKind::kBadArgument, value.span,
        "`gather` is `keep`, for the backward pass, or `again`, which gathers a second time");
    return std::nullopt;
  }
  return value.text == "again";
}

std::int64_t stream_pieces(Reporter& report, const ast::Name& value) {
  constexpr std::int64_t kMostPieces = 4096;
  const std::int64_t pieces = parse_number<std::int64_t>(value.text).value_or(0);
  if (pieces < 1 || pieces > kMostPieces) {
    report.error(DiagKind::kBadArgument, value.span,
                 "`stream` is a number of pieces, from 1 to " + std::to_string(kMostPieces) +
                     ", in which a gathered operand passes through a product");
    return 1;
  }
  return pieces;
}

bool recompute_blocks(Reporter& report, const ast::Name& value) {
  if (value.text != "blocks" && value.text != "none") {
    report.error(
        DiagKind::kBadArgument, value.span,
        "`recompute` is `blocks`, as the program's `recompute { … }` say, or `none`, which "
        "keeps what they compute for the backward pass");
  }
  return value.text != "none";
}

// Rules of other tools have a `=`, too.
void unknown_option(Reporter& report, const ast::LayoutOption& option, const Mesh& mesh) {
  const std::string& name = option.name.text;
  const bool is_rule = mesh.find(option.value.text).has_value();
  const Suggestion suggestion =
      suggest(name, std::vector<std::string>{"gather", "stream", "recompute"});
  const std::string way_out =
      is_rule                   ? "; a rule is written `" + name + " -> " + option.value.text + "`"
      : suggestion.text.empty() ? "; there are `gather`, `stream` and `recompute`"
                                : suggestion.text;
  report.error(DiagKind::kUnknownName, option.name.span,
               "a layout has no option `" + name + "`" + way_out, {},
               is_rule ? "" : suggestion.fix);
}

}  // namespace

// What passes in pieces is gone when it is used, so `stream` means `gather = again` where nothing
// else is said.
void set_options(Reporter& report, const ast::Layout& declared, Layout& layout) {
  std::optional<bool> again;
  std::set<std::string_view> given;
  for (const ast::LayoutOption& option : declared.options) {
    if (!given.insert(option.name.text).second) {
      report.error(DiagKind::kDuplicateName, option.name.span,
                   "`" + option.name.text + "` is given twice in layout `" + layout.name + "`");
    } else if (option.name.text == "gather") {
      again = gather_again(report, option.value);
    } else if (option.name.text == "stream") {
      layout.stream = stream_pieces(report, option.value);
    } else if (option.name.text == "recompute") {
      layout.recompute = recompute_blocks(report, option.value);
    } else {
      unknown_option(report, option, layout.mesh);
    }
  }
  layout.gather_again = again.value_or(layout.stream > 1);
}

}  // namespace mtf::host

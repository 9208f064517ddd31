#include "ir/layout/pin_conflict.h"

namespace mtf {

Diag pin_conflict(const Rule& pin, const Rule& rule, const Layout& layout, SourceSpan value) {
  return {.kind = DiagKind::kLayoutConflict,
          .severity = Severity::kError,
          .span = pin.span.file.valid() ? pin.span : value,
          .text = "`@ [" + to_string(pin, layout.mesh) + "]` goes against the rule `" +
                  to_string(rule, layout.mesh) + "` of layout `" + layout.name +
                  "`; name the dim otherwise here, or leave one of them out",
          .notes = {{.span = rule.span, .text = "the rule"}},
          .fix = {}};
}

}  // namespace mtf

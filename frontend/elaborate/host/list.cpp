#include "frontend/elaborate/host/list.h"

#include <string>
#include <utility>

namespace mtf::host {
namespace {

constexpr std::size_t kMaxDepth = 64;

// Counts elements, those of inner lists as often as they are in it; stops beyond the bounds.
class ListMeasure {
 public:
  void take(const Values& items, std::size_t depth) {
    is_deep_ = is_deep_ || depth > kMaxDepth;
    count_ += items.size();
    for (const Value& item : items) {
      if (is_deep_ || is_long()) {
        return;
      }
      if (const auto* list = item.get<List>()) {
        take(*list->items, depth + 1);
      }
    }
  }
  [[nodiscard]] bool is_long() const { return count_ > kMaxItems; }
  [[nodiscard]] bool is_deep() const { return is_deep_; }

 private:
  std::size_t count_ = 0;
  bool is_deep_ = false;
};

}  // namespace

Value bounded_list(Reporter& report, Values items, SourceSpan span) {
  ListMeasure measure;
  measure.take(items, 1);
  if (measure.is_long() || measure.is_deep()) {
    report.error(DiagKind::kOverflow, span,
                 measure.is_deep()
                     ? "a list of lists nested more than " + std::to_string(kMaxDepth) + " deep"
                     : "a list of more than " + std::to_string(kMaxItems) + " elements");
    return unknown();
  }
  return make_list(std::move(items));
}

}  // namespace mtf::host

#include "lowering/search/space/ruled_tensors.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

#include "lowering/layout/rule_sources.h"

namespace mtf {

std::vector<RuledTensor> ruled_tensors(const Program& program, const Layout& layout) {
  std::vector<RuledTensor> tensors;
  std::set<std::pair<const Dim*, bool>> seen;  // most shapes of a program share their dims
  const RuleSources sources(program, layout);
  for (std::size_t i = 0; i < program.values.size(); ++i) {
    const ValueId id{static_cast<std::int32_t>(i)};
    const Value& value = program.at(id);
    const RuleSource source = sources.of(id);
    const bool is_effect = value.op != nullptr && value.op->effect;
    const bool by_rules = source.pin == nullptr && source.layout == &layout;
    RuledTensor tensor{.shape = value.type.shape, .is_variable = source.variable != nullptr};
    if (by_rules && !value.internal && !is_effect &&
        seen.emplace(value.type.shape.dims().data(), tensor.is_variable).second &&
        std::ranges::find(tensors, tensor) == tensors.end()) {
      tensors.push_back(std::move(tensor));
    }
  }
  return tensors;
}

}  // namespace mtf

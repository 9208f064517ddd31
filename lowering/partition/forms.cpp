#include "lowering/partition/forms.h"

#include <algorithm>
#include <utility>

#include "lowering/partition/split/split.h"
#include "lowering/reshard/halo.h"

namespace mtf {

Forms::Forms(SpmdProgram& out, Resharder& resharder, KnownPlans& known, bool gather_again)
    : out_(out),
      resharder_(resharder),
      known_(known),
      gather_again_(gather_again),
      forms_(out.source.values.size()),
      roots_(out.source.values.size()) {
  for (std::size_t i = 0; i < roots_.size(); ++i) {
    roots_[i] = {static_cast<std::int32_t>(i)};
  }
  holders_ = roots_;
  is_kept_.resize(roots_.size(), false);
  for (const ValueId output : out.source.outputs) {
    is_kept_[at(output)] = true;
  }
  for (const Update& update : out.source.updates) {
    is_kept_[at(update.value)] = true;
  }
  for (const Input& input : out.source.inputs) {
    if (!input.is_variable()) {
      arguments_.emplace(input.value.index, &input);
    }
  }
}

void Forms::enter(ValueId id) {
  backward_ = out_.source.at(id).backward;
}

void Forms::rename(ValueId id) {
  const ValueId of = out_.source.at(id).operands.front();
  roots_[at(id)] = root(of);
  holders_[at(id)] = holder(of);
}

void Forms::pin(ValueId id, SpmdId form) {
  holders_[at(id)] = id;
  roots_[at(id)] = root(out_.source.at(id).operands.front());
  forms_[at(id)].push_back(form);
}

SpmdId Forms::add(ValueId id, const ValueLayout& layout) {
  const Number number = known_.layout(layout);
  return add(id, number, known_.local(out_.source.at(root(id)).type, number, out_.mesh));
}

SpmdId Forms::add(ValueId id, const KnownSplit& made) {
  return add(id, made.result, made.local);
}

SpmdId Forms::add(ValueId id, Number layout, const TensorType& local) {
  const ValueId of = root(id);
  const Value& value = out_.source.at(of);
  const SharedLayout& shared = known_.layout(layout);
  out_.values.push_back({.type = value.type,
                         .layout = shared,
                         .local = local,
                         .origin = of,
                         .name = *shared == target(of) ? name_of(of) : "",
                         .home = Home::kNone,
                         .offset = 0});
  const SpmdId form{static_cast<std::int32_t>(out_.values.size()) - 1};
  forms_[at(holder(id))].push_back(form);
  made_backward_.push_back(backward_);
  layouts_.push_back(layout);
  return form;
}

SpmdId Forms::add_blocks(ValueId id, const TensorType& type, const ValueLayout& layout) {
  const Number number = known_.layout(layout);
  layouts_.push_back(number);
  out_.values.push_back({.type = type,
                         .layout = known_.layout(number),
                         .local = known_.local(type, number, out_.mesh),
                         .origin = id,
                         .name = "",
                         .home = Home::kNone,
                         .offset = 0});
  made_backward_.push_back(backward_);
  return {static_cast<std::int32_t>(out_.values.size()) - 1};
}

void Forms::add_made(ValueId id, SpmdId form) {
  if (holder(id) != root(id)) {
    forms_[at(holder(id))].push_back(form);
  }
}

void Forms::forget_since(std::size_t first) {
  for (std::vector<SpmdId>& forms : forms_) {
    if (forms.size() > 1) {
      forms.erase(std::remove_if(forms.begin() + 1, forms.end(),
                                 [first](SpmdId form) { return at(form) >= first; }),
                  forms.end());
    }
  }
}

bool Forms::is_there(ValueId id, SpmdId form) const {
  return !gather_again_ || form == forms_[at(root(id))].front() ||
         made_backward_[static_cast<std::size_t>(form.index)] == backward_ ||
         out_.at(form).layout == target(root(id));
}

std::string Forms::name_of(ValueId id) const {
  const auto argument = arguments_.find(id.index);
  return argument == arguments_.end() ? out_.source.at(id).name : argument->second->name;
}

SpmdId Forms::find(ValueId id, const ValueLayout& layout) const {
  const auto found = std::ranges::find_if(
      of(id), [&](SpmdId form) { return out_.at(form).layout == layout && is_there(id, form); });
  return found == of(id).end() ? SpmdId{} : *found;
}

SpmdId Forms::find(ValueId id, Number layout) const {
  const auto found = std::ranges::find_if(
      of(id), [&](SpmdId form) { return layouts_[mtf::at(form)] == layout && is_there(id, form); });
  return found == of(id).end() ? SpmdId{} : *found;
}

bool Forms::is_copy(ValueId operand, SpmdId form) const {
  const ValueLayout& layout = out_.at(form).layout;
  return layout.partial.empty() && layout.reach.empty() && is_there(operand, form);
}

std::vector<std::vector<ValueLayout>> Forms::copies_of(const Value& value) const {
  std::vector<std::vector<ValueLayout>> found;
  for (const ValueId operand : value.operands) {
    found.emplace_back();
    for (const SpmdId form : of(operand)) {
      if (is_copy(operand, form)) {
        found.back().push_back(out_.at(form).layout);
      }
    }
  }
  return found;
}

Number Forms::target_number(ValueId id) {
  const auto [number, is_new] = targets_.try_emplace(&out_.target(id), Number{0});
  if (is_new) {
    number->second = known_.target(out_.target(id));
  }
  return number->second;
}

void Forms::add_problem(ValueId id, std::vector<std::uint64_t>& problem) {
  const Value& value = out_.source.at(id);
  problem.push_back(target_number(id));
  problem.push_back(is_kept(id) ? 1 : 0);
  const std::vector<std::size_t> same = first_same(value.operands);
  problem.insert(problem.end(), same.begin(), same.end());
  for (const ValueId operand : value.operands) {
    const OpDef* op = out_.source.at(operand).op;
    problem.push_back(target_number(operand));
    problem.push_back(op != nullptr && op->alias ? 1 : 0);
    const std::size_t count = problem.size();
    problem.push_back(0);
    for (const SpmdId form : of(operand)) {
      if (is_copy(operand, form)) {
        problem.push_back(layouts_[mtf::at(form)]);
        ++problem[count];
      }
    }
  }
}

SpmdId Forms::nearest(ValueId id, const ValueLayout& to) const {
  SpmdId best;
  std::int64_t least = 0;
  for (const SpmdId form : of(id)) {
    if (!is_there(id, form) || !out_.at(form).layout->reach.empty()) {
      continue;
    }
    const std::int64_t cost =
        resharder_.received(out_.at(form).type.shape, out_.at(form).layout, to);
    if (!best.valid() || cost < least) {
      best = form;
      least = cost;
    }
  }
  return best;
}

Forms::Source Forms::nearest_source(ValueId operand, const SplitCall& call,
                                    const ValueLayout& to) const {
  Source best;
  const std::vector<MovedDim> reads = reads_of(call.space);
  for (const SpmdId form : of(operand)) {
    const SpmdValue& from = out_.at(form);
    if (!from.layout->partial.empty() || !from.layout->where.empty() ||
        !from.layout->reach.empty() || !is_there(operand, form)) {
      continue;
    }
    const std::int64_t received = most_halo_received({.mesh = out_.mesh,
                                                      .reads = reads,
                                                      .operand = from.type.shape,
                                                      .from = from.layout,
                                                      .result = call.call.result.shape,
                                                      .to = to});
    if (received < best.received) {
      best = {.form = form, .received = received};
    }
  }
  return best;
}

}  // namespace mtf

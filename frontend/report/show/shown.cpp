// Finds what made each form of a value.

#include "frontend/report/show/shown.h"

#include <algorithm>

#include "frontend/report/plan/step_text.h"
#include "frontend/report/why/why_find.h"
#include "lowering/reshard/halo.h"

namespace mtf {
namespace {

Picture picture_of(const SpmdProgram& program, const ValueNames& names, SpmdId id) {
  const SpmdValue& value = program.at(id);
  return {.name = names.of(id), .type = value.type, .layout = value.layout, .mesh = program.mesh};
}

// Where a loop of a product is: it decides whether its dims go down or across.
struct LoopPlace {
  bool left = false;
  bool right = false;
  bool summed = false;
};

std::vector<LoopPlace> loop_places(const LocalCall& call) {
  std::vector<LoopPlace> places(call.split->space->loops.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    places[i].summed = call.split->space->loops[i].role == DimRole::kReduced;
  }
  for (const std::size_t operand : {0U, 1U}) {
    for (const std::vector<std::size_t>& loops : call.split->space->operands[operand]) {
      for (const std::size_t loop : loops) {
        (operand == 0 ? places[loop].left : places[loop].right) = true;
      }
    }
  }
  return places;
}

// Dims of one tensor in the order of the loops, so that both operands have the summed ones in one.
template <typename Choose>
std::vector<std::size_t> dims_where(const DimMap& dims, const std::vector<LoopPlace>& places,
                                    const Choose& choose) {
  std::vector<std::size_t> chosen;
  for (std::size_t loop = 0; loop < places.size(); ++loop) {
    for (std::size_t d = 0; d < dims.size(); ++d) {
      if (!dims[d].empty() && dims[d].front() == loop && choose(places[loop])) {
        chosen.push_back(d);
      }
    }
  }
  return chosen;
}

bool is_summed(const LoopPlace& place) {
  return place.summed;
}
bool is_of_left(const LoopPlace& place) {
  return !place.summed && place.left && !place.right;
}
bool is_of_right(const LoopPlace& place) {
  return !place.summed && place.right && !place.left;
}
bool is_of_both(const LoopPlace& place) {
  return !place.summed && place.left && place.right;
}

std::optional<ProductPicture> product_of(const SpmdProgram& program, const ValueNames& names,
                                         const LocalCall& call) {
  const std::vector<LoopPlace> places =
      call.operands.size() == 2 ? loop_places(call) : std::vector<LoopPlace>();
  if (std::ranges::none_of(places, is_summed)) {
    return std::nullopt;
  }
  const auto side = [&](SpmdId id, const DimMap& dims, auto rows, auto columns) {
    return ProductSide{.picture = picture_of(program, names, id),
                       .placing = {.rows = dims_where(dims, places, rows),
                                   .columns = dims_where(dims, places, columns),
                                   .others = dims_where(dims, places, is_of_both)}};
  };
  const std::vector<DimMap>& operands = call.split->space->operands;
  return ProductPicture{
      .text = call_text(call, [&](SpmdId id, int /*least*/) { return names.of(id); }),
      .left = side(call.operands[0], operands[0], is_of_left, is_summed),
      .right = side(call.operands[1], operands[1], is_summed, is_of_right),
      .result = side(call.result, call.split->space->result, is_of_left, is_of_right)};
}

MovePicture move_of(const SpmdProgram& program, const ValueNames& names, const Step& step) {
  const bool adds = step.kind == StepKind::kAllReduce || step.kind == StepKind::kReduceScatter ||
                    step.kind == StepKind::kReduce;
  return {.text = move_text(program, step, names),
          .kind = step.kind,
          .axes = step.axes,
          .adds = adds,
          .from = picture_of(program, names, step.from),
          .to = picture_of(program, names, step.to),
          .reads = step.kind == StepKind::kHaloExchange ? reads_of(program, step)
                                                        : std::vector<MovedDim>()};
}

// What made a value, if it is a product or a move.
void find_maker(const SpmdProgram& program, const ValueNames& names, SpmdId id, Shown& shown) {
  for (const Step& step : program.steps) {
    if (step.kind != StepKind::kKernel && step.to == id) {
      shown.move = move_of(program, names, step);
    }
    for (const LocalCall& call : step.calls) {
      if (call.result == id) {
        shown.product = product_of(program, names, call);
      }
    }
  }
}

template <typename IsForm>
std::vector<Shown> forms_where(const SpmdProgram& program, const ValueNames& names,
                               const IsForm& is_form) {
  std::vector<Shown> forms;
  for (std::size_t i = 0; i < program.values.size(); ++i) {
    const SpmdId id{static_cast<std::int32_t>(i)};
    if (is_form(id) && !is_sum_of_blocks(program, id)) {
      Shown& shown = forms.emplace_back();
      shown.picture = picture_of(program, names, id);
      find_maker(program, names, id, shown);
    }
  }
  return forms;
}

}  // namespace

std::vector<Shown> shown_forms(const SpmdProgram& program, const SourceMap& sources,
                               const std::string& wanted) {
  const ValueNames names(program);
  const Asked asked = find_asked(program, sources, names, wanted);
  return forms_where(program, names, [&](SpmdId id) {
    return std::ranges::find(asked.values, program.at(id).origin) != asked.values.end() ||
           names.of(id) == wanted;
  });
}

std::vector<Shown> shown_output(const SpmdProgram& program, std::size_t output,
                                const std::string& name) {
  const ValueNames names(program);
  const SpmdId id = program.outputs[output];
  std::vector<Shown> forms = forms_where(program, names, [&](SpmdId other) {
    return other == id || program.at(other).origin == program.at(id).origin;
  });
  for (Shown& shown : forms) {
    if (shown.picture.name != names.of(id)) {
      continue;
    }
    shown.picture.name = name;
    if (shown.product) {
      shown.product->result.picture.name = name;
    }
    if (shown.move) {
      shown.move->to.name = name;
    }
  }
  return forms;
}

}  // namespace mtf

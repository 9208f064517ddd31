#include "stdlib/ops/scan/scans.h"

#include "runtime/kernels/scan/scan.h"
#include "stdlib/ops/rules.h"

namespace mtf {

IterationSpace scan_space(const OpCall& call, Combine combine) {
  IterationSpace space = kept_space(call);
  for (LoopDim& loop : space.loops) {
    if (loop.name == dim_arg(call.args, "over").name) {
      loop.role = DimRole::kScanned;
    }
  }
  space.combine = combine;
  space.digest = Digest{.dtype = joined_dtype(combine, call.result.dtype),
                        .width = digest_width(combine),
                        .from_end = bool_arg(call.args, "reverse", false)};
  return space;
}

ValueId neighbours(GradBuilder& b, ValueId x, const OpArgs& scan, std::int64_t by) {
  OpArgs args;
  args.set("over", one_dim(dim_arg(scan, "over")));
  args.set("by", bool_arg(scan, "reverse", false) ? by : -by);
  return b.emit("shift", {x}, std::move(args));
}

ValueId carried_back(GradBuilder& b, ValueId a, ValueId x, const OpArgs& scan) {
  OpArgs back;
  back.set("over", one_dim(dim_arg(scan, "over")));
  back.set("reverse", !bool_arg(scan, "reverse", false));
  return b.emit("recurrence", {neighbours(b, a, scan), x}, std::move(back));
}

OpParam scanned_dim_param() {
  return {.name = "over", .kind = ParamKind::kDim, .help = "the dim"};
}

OpParam reverse_param() {
  return {.name = "reverse",
          .kind = ParamKind::kBool,
          .required = false,
          .help = "from the end (false)"};
}

}  // namespace mtf
